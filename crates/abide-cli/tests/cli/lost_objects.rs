//! Repositories with missing objects: what is missing is named, the rest is reported, and the exit
//! status says that this is not the whole answer.

use std::fs;
use std::path::Path;

use crate::history::{ID, NAME, Snapshot, USER, git, repository, user};
use crate::run::{Ran, abide, put, put_program};

const LAB: &str = "proto/acme/lab/v1/lab.proto";

/// Five commits: a field comes, goes, and comes again, beside a package that changes at the end.
fn five(folder: &Path) -> Vec<String> {
    let both = [ID, NAME].concat();
    let lab = |fields: &str| {
        format!("syntax = \"proto3\";\npackage acme.lab.v1;\nmessage Test {{\n{fields}}}\n")
    };
    let commit = |subject: &str, fields: &str, tests: &str| {
        Snapshot::on_main(subject, &[(USER, &user(fields)), (LAB, &lab(tests))])
    };
    repository(
        folder,
        &[
            commit("begin", ID, ID),
            commit("a name", &both, ID),
            commit("a third", &(both.clone() + "  string third = 3;\n"), ID),
            commit("a fourth", &(both.clone() + "  string fourth = 4;\n"), ID),
            commit("a test", &(both + "  string fourth = 4;\n"), &[ID, NAME].concat()),
        ],
    );
    put(folder, &[("abide.toml", "roots = [\"proto\"]\n")]);
    // Loose objects can be taken away one by one.
    let packs = folder.join(".git/objects/pack");
    for pack in fs::read_dir(&packs).unwrap() {
        let path = pack.unwrap().path();
        if path.extension().is_some_and(|it| it == "pack") {
            let aside = folder.join(".git/aside.pack");
            fs::rename(&path, &aside).unwrap();
            fs::remove_file(path.with_extension("idx")).unwrap();
            let status = std::process::Command::new("git")
                .args(["unpack-objects", "-q"])
                .current_dir(folder)
                .stdin(fs::File::open(&aside).unwrap())
                .status()
                .unwrap();
            assert!(status.success());
        }
    }
    let commits = git(folder, &["rev-list", "--reverse", "HEAD"]);
    commits.lines().map(str::to_owned).collect()
}

fn lose(folder: &Path, object: &str) -> String {
    let id = git(folder, &["rev-parse", object]);
    fs::remove_file(folder.join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    id
}

/// The subjects of the commits in a history, each with the packages that it concerns.
fn told(ran: &Ran) -> Vec<String> {
    let mut subject = String::new();
    let mut told = Vec::new();
    for row in ran.json() {
        match row["kind"].as_str() {
            Some("commit") => subject = row["subject"].to_string(),
            Some("package") => told.push(format!("{subject}: {}", row["package"])),
            _ => {}
        }
    }
    told
}

fn history(folder: &Path, args: &[&str]) -> Ran {
    abide(folder, &[&["history", "--format", "json"], args].concat())
}

#[test]
fn a_history_goes_on_after_a_missing_blob() {
    let folder = tempfile::tempdir().unwrap();
    let commits = five(folder.path());
    let whole = told(&history(folder.path(), &[]));
    assert_eq!(whole.len(), 6, "{whole:?}");
    let id = lose(folder.path(), &format!("{}:{USER}", commits[2]));
    let ran = history(folder.path(), &[]);
    assert_eq!(ran.status, 2);
    let expected = format!(
        "error: commit {}: cannot read `{USER}`, so it counts as it was before: the blob `{id}` \
         is missing or damaged",
        &commits[2][..10]
    );
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    let third: Vec<String> = whole.iter().filter(|it| !it.contains("a third")).cloned().collect();
    assert_eq!(told(&ran), third);
}

#[test]
fn a_history_goes_on_after_a_missing_folder() {
    for object in ["", "proto", "proto/acme/user/v1"] {
        let folder = tempfile::tempdir().unwrap();
        let commits = five(folder.path());
        let whole = told(&history(folder.path(), &[]));
        let id = lose(folder.path(), &format!("{}:{object}", commits[2]));
        let ran = history(folder.path(), &[]);
        assert_eq!(ran.status, 2);
        let (commit, missing) = (&commits[2][..10], format!("the tree `{id}` is missing"));
        assert!(ran.stderr.contains(&format!("error: commit {commit}: ")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&missing), "{}", ran.stderr);
        let third: Vec<String> =
            whole.iter().filter(|it| !it.contains("a third")).cloned().collect();
        assert_eq!(told(&ran), third, "{object}");
    }
}

#[test]
fn a_history_starts_after_a_missing_commit() {
    let folder = tempfile::tempdir().unwrap();
    let commits = five(folder.path());
    let id = lose(folder.path(), &commits[1]);
    for args in [&[][..], &["--since", &commits[0]]] {
        let ran = history(folder.path(), args);
        assert_eq!(ran.status, 2);
        let expected = format!(
            "error: the history starts after {}, because its parent cannot be read: the commit \
             `{id}` is missing or damaged",
            &commits[2][..10]
        );
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        let subjects = told(&ran);
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        assert!(subjects[0].contains("a fourth") && subjects[1].contains("a test"));
    }
    // What is after the missing commit is whole.
    let ran = history(folder.path(), &["--since", &commits[2]]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    // No commit is left to walk from.
    let head = lose(folder.path(), "HEAD");
    let ran = history(folder.path(), &[]);
    assert_eq!((ran.status, ran.text()), (2, String::new()));
    let lost = format!("the commit `{head}` is missing or damaged");
    assert!(ran.stderr.contains(&lost), "{}", ran.stderr);
    // A configured baseline that is lost is no baseline that is still to come.
    put(folder.path(), &[(USER, &user(ID))]);
    for revision in ["HEAD", "HEAD~1", "HEAD..."] {
        let against = format!("git:{revision}");
        let ran = abide(folder.path(), &["check", "--against", &against]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(&lost), "{revision}: {}", ran.stderr);
    }
}

#[test]
fn a_baseline_names_what_it_lost() {
    let args = |revision: &str| {
        let against = format!("git:{revision}");
        ["breaking", "git:HEAD", "--against", &against, "--format", "json"].map(str::to_owned)
    };
    let run = |folder: &Path, revision: &str| {
        let args = args(revision);
        abide(folder, &args.each_ref().map(String::as_str))
    };
    let folder = tempfile::tempdir().unwrap();
    let commits = five(folder.path());
    let blob = lose(folder.path(), &format!("{}:{USER}", commits[2]));
    let ran = run(folder.path(), &commits[2]);
    assert_eq!(ran.status, 2);
    let expected = format!(
        "error: in the baseline, cannot read `{USER}`: the blob `{blob}` is missing or damaged: \
         run `git fsck`"
    );
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert!(ran.text().contains("\"summary\""), "the rest is compared");

    let folder = tempfile::tempdir().unwrap();
    let commits = five(folder.path());
    let tree = lose(folder.path(), &format!("{}:proto/acme/user", commits[2]));
    let ran = run(folder.path(), &commits[2]);
    assert_eq!(ran.status, 2);
    let expected = format!("`proto/acme/user`: the tree `{tree}` is missing or damaged");
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert!(ran.text().contains("\"summary\""), "the rest is compared");
    // What was counted since an incomplete release is not recorded.
    let against = format!("git:{}", commits[2]);
    let ran = abide(folder.path(), &["bump", "git:HEAD", "--against", &against]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains(&format!("the tree `{tree}` is missing")), "{}", ran.stderr);

    let folder = tempfile::tempdir().unwrap();
    let commits = five(folder.path());
    let root = lose(folder.path(), &format!("{}^{{tree}}", commits[2]));
    let ran = run(folder.path(), &commits[2]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains(&format!("the tree `{root}` is missing")), "{}", ran.stderr);
}

/// A hook that runs before a push is accepted finds its commits where nobody else does.
#[cfg(unix)]
#[test]
fn a_push_can_be_judged_before_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clone) = (folder.path().join("server"), folder.path().join("clone"));
    fs::create_dir(&clone).unwrap();
    repository(&clone, &[Snapshot::on_main("begin", &[(USER, &user(ID))])]);
    let there = server.to_str().unwrap();
    git(&clone, &["clone", "--quiet", "--bare", ".", there]);
    let abide = env!("CARGO_BIN_EXE_abide");
    let script = format!(
        "#!/bin/sh\nread old new name\n'{abide}' check git:$new --against git:$old\n\
         git archive --output=new.tar $new\n'{abide}' check new.tar --against git:$old\n"
    );
    put_program(&server, "hooks/pre-receive", &script);
    put(&clone, &[(USER, &user(&ID.replace("= 1", "= 7")))]);
    git(&clone, &["add", "--all"]);
    git(&clone, &["commit", "--quiet", "-m", "another number"]);
    let pushed = std::process::Command::new("git")
        .args(["push", there, "HEAD"])
        .current_dir(&clone)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&pushed.stderr);
    assert!(!pushed.status.success(), "{said}");
    assert!(said.contains("run `git archive --output=new.tar "), "{said}");
    assert!(said.contains("field-number-changed"), "{said}");
}
