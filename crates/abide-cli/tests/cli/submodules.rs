//! Trees in submodules: each commit is read with the commits of submodules that it records.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{Ran, abide, put};

const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n  \
                    string mail = 2;\n}\n";
const ORDER: &str = "syntax = \"proto3\";\npackage acme.order.v1;\nimport \"acme/user/v1/user.proto\";\n\
                     message Order {\n  acme.user.v1.User user = 1;\n}\n";
const USER_PATH: &str = "protos/acme/user/v1/user.proto";

fn commit(folder: &Path, subject: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", subject]);
}

/// A repository with a user, and one that has it as the submodule `protos`, in which the user then
/// loses a field. Both commits are recorded.
fn with_break() -> (TempDir, TempDir) {
    let (module, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    git(module.path(), &["init", "--quiet"]);
    put(module.path(), &[("acme/user/v1/user.proto", USER)]);
    commit(module.path(), "user");
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    add_submodule(top, module.path(), "protos");
    put(
        top,
        &[
            ("svc/acme/order/v1/order.proto", ORDER),
            ("abide.toml", "roots = [\"svc\", \"protos\"]\n"),
        ],
    );
    commit(top, "first");
    put(top, &[(USER_PATH, &USER.replace("  string mail = 2;\n", ""))]);
    commit(&top.join("protos"), "lost");
    commit(top, "raised");
    (folder, module)
}

fn add_submodule(folder: &Path, from: &Path, path: &str) {
    let from = from.to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, path];
    git(folder, &add);
}

/// The rows of a history: the subject of the commit, the package, what was decided, and the rules.
fn rows(ran: &Ran) -> Vec<String> {
    let mut rows = Vec::new();
    let mut subject = String::new();
    for line in ran.text().lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [_, _, last] if !line.starts_with(' ') => subject = last.to_owned(),
            [package, verdict, ..] if line.starts_with("  acme") => {
                rows.push(format!("{subject} {package} {verdict}"));
            }
            [rule, ..] if line.starts_with("      ") => rows.push(rule.to_owned()),
            _ => {}
        }
    }
    rows
}

const RAISED: [&str; 5] = [
    "raised acme.order.v1 compatible",
    "raised acme.user.v1 refused",
    "field-removed:",
    "first acme.order.v1 compatible",
    "first acme.user.v1 compatible",
];

#[test]
fn a_history_reads_submodules_as_each_commit_records_them() {
    let (folder, _module) = with_break();
    let top = folder.path();
    let ran = abide(top, &["history"]);
    assert_eq!((ran.status, rows(&ran)), (0, RAISED.map(str::to_owned).to_vec()), "{}", ran.stderr);
    // It is what two of the commits say.
    let ran = abide(top, &["check", "git:HEAD", "--against", "git:HEAD~1", "--format", "json"]);
    assert_eq!(ran.rules(), ["field-removed"]);

    // The part that is the submodule, and a tree that only imports from it.
    let user: Vec<_> = [&RAISED[1..3], &RAISED[4..]].concat();
    assert_eq!(rows(&abide(top, &["history", "--path", "protos"])), user);
    put(top, &[("abide.toml", "roots = [\"svc\"]\nimport-paths = [\"protos\"]\n")]);
    assert_eq!(rows(&abide(top, &["history"])), [RAISED[0], RAISED[3]]);
}

#[test]
fn a_submodule_with_another_path_is_read_where_it_was() {
    let (folder, _module) = with_break();
    let top = folder.path();
    git(top, &["mv", "protos", "models"]);
    put(top, &[("abide.toml", "roots = [\"svc\", \"models\"]\n")]);
    commit(top, "renamed");
    let ran = abide(top, &["history"]);
    let found = rows(&ran);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(RAISED.iter().all(|row| found.iter().any(|it| it == row)), "{found:?}");
    assert!(!found.iter().any(|it| it.starts_with("renamed") && it.ends_with("refused")));
    let ran = abide(top, &["check", "git:HEAD", "--against", "git:HEAD~2", "--format", "json"]);
    assert_eq!(ran.rules(), ["field-removed"], "{}", ran.stderr);
    // A linked worktree has no checkout of it.
    let worktree = TempDir::new().unwrap();
    let path = worktree.path().join("tree");
    git(top, &["worktree", "add", "--quiet", path.to_str().unwrap(), "HEAD"]);
    let ran = abide(&path, &["history"]);
    assert_eq!((ran.status, rows(&ran)), (0, found), "{}", ran.stderr);
}

#[test]
fn a_submodule_of_a_submodule_is_read_as_recorded() {
    let (folder, _module) = with_break();
    let outer = TempDir::new().unwrap();
    let top = outer.path();
    git(top, &["init", "--quiet"]);
    add_submodule(top, folder.path(), "tree");
    git(&top.join("tree"), &["checkout", "--quiet", "HEAD~1"]);
    // The inner one is not on its server yet: it is fetched from the other checkout.
    let from = folder.path().join("protos");
    let url = format!("submodule.protos.url={}", from.display());
    let update = ["-c", "protocol.file.allow=always", "-c", &url, "submodule", "--quiet"];
    git(&top.join("tree"), &[&update[..], &["update", "--init"]].concat());
    put(top, &[("abide.toml", "roots = [\"tree/svc\", \"tree/protos\"]\n")]);
    commit(top, "first");
    git(&top.join("tree"), &["checkout", "--quiet", "-"]);
    git(&top.join("tree"), &[&update[..], &["update"]].concat());
    commit(top, "raised");
    let ran = abide(top, &["history"]);
    assert_eq!((ran.status, rows(&ran)), (0, RAISED.map(str::to_owned).to_vec()), "{}", ran.stderr);
}

#[test]
fn a_commit_of_a_submodule_that_is_not_here_is_named() {
    let (folder, _module) = with_break();
    let top = folder.path();
    fs::remove_dir_all(top.join(".git/modules/protos")).unwrap();
    fs::remove_dir_all(top.join("protos")).unwrap();
    let ran = abide(top, &["history"]);
    assert_eq!(ran.status, 2);
    let said = "cannot read `protos`, so it counts as it was before: the submodule's commit";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not here: run `git submodule update"), "{}", ran.stderr);
}

#[test]
fn a_whole_tree_may_be_in_a_submodule() {
    let (folder, _module) = with_break();
    let top = folder.path();
    fs::remove_file(top.join("abide.toml")).unwrap();
    for part in ["protos", "protos/acme"] {
        // A folder on disk is in the repository of the submodule, which has revisions of its own.
        let (both, inside) = (format!("git:HEAD:{part}"), format!("git:HEAD~1:{part}"));
        for (source, against) in [(part, "git:HEAD~1"), (&both, &inside)] {
            let args = ["breaking", source, "--against", against, "--format", "json"];
            let ran = abide(top, &args);
            assert_eq!(ran.rules(), ["field-removed"], "{source}: {}", ran.stderr);
        }
    }
    let ran = abide(top, &["check", "git:HEAD:protos/none"]);
    assert!(ran.stderr.contains("has no folder"), "{}", ran.stderr);
}
