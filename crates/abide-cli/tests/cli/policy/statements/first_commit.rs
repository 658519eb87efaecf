//! A repository before its first commit, and before its first release: what is missing is named,
//! and doing what is advised helps.

use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put};

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { string name = 1; }\n";

/// A tree that is not committed yet.
fn tree(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/user/v1/user.proto", USER), ("abide.toml", config)]);
    git(folder.path(), &["init", "--quiet", "--initial-branch", "main"]);
    folder
}

/// The tool could not work, and says so in one line with these words.
fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.status, ran.text().as_str()), (2, ""), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "no `{word}` in {}", ran.stderr);
    }
}

fn ok(folder: &Path, args: &[&str]) -> Ran {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.text(), ran.stderr);
    ran
}

const WITHOUT: &str = "until it exists, run `abide check` or `abide bump` without it";

#[test]
fn before_the_first_commit_there_is_nothing_to_compare_with() {
    let folder = tree("");
    let folder = folder.path();
    for revision in ["main", "main...", "HEAD", "HEAD~1", "v1.0", "origin/main..."] {
        let source = format!("git:{revision}");
        for command in ["check", "breaking", "bump"] {
            let ran = abide(folder, &[command, "--against", &source]);
            refused(&ran, &["the repository has no commit yet: make the first one", WITHOUT]);
        }
    }
    refused(&abide(folder, &["history"]), &["the repository has no commit yet"]);
    ok(folder, &["check"]);
    ok(folder, &["bump", "--write"]);
    commit(folder);
    ok(folder, &["check", "--against", "git:HEAD"]);
    ok(folder, &["check", "--against", "git:main..."]);
}

#[test]
fn the_first_commit_has_nothing_before_it() {
    let folder = tree("");
    let folder = folder.path();
    commit(folder);
    for revision in ["HEAD~1", "HEAD^", "main~3", "HEAD~1..."] {
        let ran = abide(folder, &["check", "--against", &format!("git:{revision}")]);
        refused(&ran, &["does not reach that far back: `", "is the first commit", WITHOUT]);
    }
    put(folder, &[("acme/user/v1/more.proto", "syntax = \"proto3\";\npackage acme.user.v1;\n")]);
    commit(folder);
    ok(folder, &["check", "--against", "git:HEAD~1"]);
    let ran = abide(folder, &["check", "--against", "git:HEAD~2"]);
    refused(&ran, &["does not reach that far back; until"]);
    let ran = abide(folder, &["check", "--against", "git:trunk"]);
    refused(&ran, &["unknown revision `trunk`", "the current branch is `main`", WITHOUT]);
}

#[test]
fn before_the_first_release_its_tag_is_missing() {
    let folder = tree("");
    let folder = folder.path();
    commit(folder);
    for action in ["--write", "--check", "--diff"] {
        let ran = abide(folder, &["bump", action, "--against", "git:v1.0"]);
        refused(&ran, &["unknown revision `v1.0`: there is no such tag", WITHOUT]);
    }
    assert!(!folder.join("abide.lock").exists());
    // As advised: the first version is recorded, and then released.
    let ran = ok(folder, &["bump", "--write"]);
    assert!(ran.text().contains("acme.user.v1 1.0.0 (first version)"), "{}", ran.text());
    ok(folder, &["bump", "--check"]);
    commit(folder);
    git(folder, &["tag", "v1.0"]);
    ok(folder, &["bump", "--check", "--against", "git:v1.0"]);
}

#[test]
fn a_configured_release_may_not_exist_yet() {
    let config = "against = \"git:main\"\nbump-against = \"git:v1.0\"\n";
    let folder = tree(config);
    let folder = folder.path();
    // Before the first commit nothing can break, and a hook must let it pass.
    for command in [&["check"][..], &["check", "--accept"], &["bump"], &["bump", "--write"]] {
        let ran = ok(folder, command);
        let note = "note: there is no commit yet, so nothing is compared with git:";
        assert!(ran.stderr.contains(note), "{command:?}: {}", ran.stderr);
    }
    refused(&abide(folder, &["breaking"]), &["no commit yet", "remove `against` from abide.toml"]);
    std::fs::remove_file(folder.join("abide.lock")).unwrap();
    commit(folder);
    git(folder, &["remote", "add", "origin", "nowhere"]);
    for command in [&["check"][..], &["bump"], &["bump", "--write"], &["bump", "--check"]] {
        let fetch = "if `origin` has this tag, run `git fetch origin tag v1.0`";
        let way_out = "until it exists, remove `bump-against` from abide.toml";
        refused(&abide(folder, command), &[fetch, way_out]);
    }
    put(folder, &[("abide.toml", "against = \"git:main\"\n")]);
    ok(folder, &["bump", "--write"]);
    ok(folder, &["check"]);
    commit(folder);
    git(folder, &["tag", "v1.0"]);
    put(folder, &[("abide.toml", config)]);
    ok(folder, &["check"]);
    ok(folder, &["bump", "--check"]);
}

#[test]
fn what_will_never_exist_is_not_waited_for() {
    let folder = tree("");
    let folder = folder.path();
    commit(folder);
    for revision in ["", "HEAD..main", "abc1234"] {
        let ran = abide(folder, &["check", "--against", &format!("git:{revision}")]);
        refused(&ran, &["unknown revision"]);
        assert!(!ran.stderr.contains("until"), "{}", ran.stderr);
    }
}
