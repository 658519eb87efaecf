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

const MONEY: &str =
    "syntax = \"proto3\";\npackage acme.money.v1;\nmessage Money {\n  int64 amount = 1;\n}\n";

/// A repository of which a folder below its root is a submodule, at a commit before the type of a
/// field changes; the checkout of the submodule has the change.
fn below_a_root() -> (TempDir, TempDir) {
    let (module, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    git(module.path(), &["init", "--quiet"]);
    put(module.path(), &[("v1/money.proto", MONEY)]);
    commit(module.path(), "money");
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    put(top, &[("abide.toml", "roots = [\"proto\"]\n"), ("proto/acme/user/v1/user.proto", USER)]);
    add_submodule(top, module.path(), "proto/acme/money");
    commit(top, "first");
    let inner = top.join("proto/acme/money");
    put(&inner, &[("v1/money.proto", &MONEY.replace("int64", "string"))]);
    commit(&inner, "broken");
    (folder, module)
}

#[test]
fn a_submodule_below_a_root_is_compared_as_recorded() {
    let (folder, _module) = below_a_root();
    let top = folder.path();
    let check = |args: &[&str]| abide(top, &[&["check", "--format", "json"], args].concat());
    for changed in [&[][..], &["--changed"]] {
        let ran = check(&[&["--against", "git:HEAD"], changed].concat());
        assert_eq!(ran.rules(), ["field-type-changed"], "{changed:?}: {}", ran.stderr);
    }
    commit(top, "raised");
    let ran = check(&["git:HEAD", "--against", "git:HEAD~1"]);
    assert_eq!(ran.rules(), ["field-type-changed"], "{}", ran.stderr);
    assert!(check(&["--against", "git:HEAD"]).rules().is_empty());
    let found = rows(&abide(top, &["history"]));
    let wanted = ["raised acme.money.v1 refused", "field-type-changed:"];
    assert_eq!(found[..2], wanted, "{found:?}");

    // A folder that became a submodule, and one that was one.
    git(top, &["rm", "--quiet", "--cached", "proto/acme/money", ".gitmodules"]);
    let inner = top.join("proto/acme/money");
    fs::rename(inner.join(".git"), top.join("kept")).unwrap();
    put(&inner, &[("v1/money.proto", MONEY)]);
    git(top, &["add", "proto"]);
    git(top, &["commit", "--quiet", "-m", "folder"]);
    let ran = check(&["git:HEAD", "--against", "git:HEAD~1"]);
    assert_eq!(ran.rules(), ["field-type-changed"], "{}", ran.stderr);
    let ran = check(&["git:HEAD~1", "--against", "git:HEAD"]);
    assert_eq!(ran.rules(), ["field-type-changed"], "{}", ran.stderr);
    assert_eq!(rows(&abide(top, &["history"]))[..2], ["folder acme.money.v1 refused", wanted[1]]);
}

#[test]
fn an_import_from_a_submodule_is_found_in_a_revision() {
    let (folder, _module) = below_a_root();
    let top = folder.path();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/money/v1/money.proto\";\n\
                message User {\n  acme.money.v1.Money total = 1;\n}\n";
    put(
        top,
        &[
            ("abide.toml", "roots = [\"own\"]\nimport-paths = [\"proto\"]\n"),
            ("own/acme/user/v1/user.proto", user),
        ],
    );
    git(&top.join("proto/acme/money"), &["checkout", "--quiet", "HEAD~1"]);
    git(top, &["rm", "--quiet", "--cached", "proto/acme/user/v1/user.proto"]);
    fs::remove_dir_all(top.join("proto/acme/user")).unwrap();
    commit(top, "second");
    let ran = abide(top, &["lint", "git:HEAD"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
}

#[test]
fn a_submodule_below_a_root_whose_commit_is_not_here_ends_the_run() {
    let (folder, _module) = below_a_root();
    let top = folder.path();
    fs::remove_dir_all(top.join(".git/modules")).unwrap();
    fs::remove_file(top.join("proto/acme/money/.git")).unwrap();
    for args in [&["check", "--against", "git:HEAD"][..], &["check", "git:HEAD"]] {
        let ran = abide(top, args);
        assert_eq!(ran.status, 2, "{args:?}: {}{}", ran.text(), ran.stderr);
        let said = "is not here: run `git submodule update --init --recursive`";
        assert!(ran.stderr.contains("`proto/acme/money`"), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}
