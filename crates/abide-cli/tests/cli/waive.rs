//! `abide waive` writes the waiver of one finding where it covers that finding alone.

use std::fs;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put};

const USER: &str = "acme/user/v1/user.proto";
const OLD: &str = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\n// A user.\nmessage User {\n  \
                   // The id.\n  int64 id = 1;\n  string mail = 2;\n  string nick = 3;\n}\n";
const AGAINST: [&str; 2] = ["--against", "git:HEAD"];

/// A repository whose user has changed since the last commit.
fn changed() -> TempDir {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", "# Ours.\n"), (USER, OLD)]);
    commit(tree.path());
    let new = OLD.replace("int64 id", "string id").replace("  string mail = 2;\n", "");
    put(tree.path(), &[(USER, &new.replace("  string nick = 3;\n", "  bytes nick = 3;\n"))]);
    tree
}

fn waive(tree: &TempDir, args: &[&str]) -> Ran {
    abide(tree.path(), &[&["waive"], args, &AGAINST].concat())
}

fn read(tree: &TempDir, path: &str) -> String {
    fs::read_to_string(tree.path().join(path)).unwrap()
}

/// The findings of `check` at error level, by rule and element.
fn errors(tree: &TempDir) -> Vec<(String, String)> {
    let ran = abide(tree.path(), &[&["check", "-q", "--format", "json"][..], &AGAINST].concat());
    let word = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
    let lines = ran.json().into_iter().filter(|it| it["severity"] == "error");
    lines.map(|it| (word(&it, "rule"), word(&it, "element"))).collect()
}

#[test]
fn one_finding_is_waived_where_it_is() {
    let tree = changed();
    let before = errors(&tree);
    let waived = ["field-type-changed", "User.id", "--reason", "agreed with all users"];
    let text = read(&tree, USER);
    let unwaived = waive(&tree, &[&waived[..], &["--check"]].concat());
    assert_eq!(unwaived.status, 1, "{}", unwaived.stderr);
    assert_eq!(unwaived.text(), format!("{USER}:8: field-type-changed is not waived\n"));
    let patch = waive(&tree, &[&waived[..], &["--diff"]].concat());
    assert_eq!((patch.status, read(&tree, USER)), (0, text.clone()), "{}", patch.stderr);
    let ran = waive(&tree, &[&waived[..], &["--write"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let written = read(&tree, USER);
    let comment = "  // The id.\n  // abide:allow(field-type-changed, from = \"int64\", to = \
                   \"string\"): agreed with all users\n  string id = 1;\n";
    assert!(written.contains(comment), "{written}");
    let lost: Vec<_> = before.iter().filter(|it| it.1.ends_with(".id")).collect();
    let left = errors(&tree);
    assert_eq!(before.len(), left.len() + lost.len(), "{before:?} {left:?}");
    // The patch makes the same, and the command does nothing twice.
    put(tree.path(), &[(USER, &text), ("change.patch", &patch.text())]);
    git(tree.path(), &["apply", "change.patch"]);
    assert_eq!(read(&tree, USER), written);
    for action in ["--write", "--check", "--diff"] {
        let again = waive(&tree, &[&waived[..], &[action]].concat());
        assert_eq!((again.status, read(&tree, USER)), (0, written.clone()), "{}", again.stderr);
        assert!(again.stderr.contains("waived or accepted already"), "{}", again.stderr);
    }
    // Once the change is merged, there is nothing to waive.
    git(tree.path(), &["commit", "--quiet", "--all", "-m", "two"]);
    let ran = abide(tree.path(), &[&["check", "--format", "json"][..], &AGAINST].concat());
    assert_eq!(ran.rules(), ["waiver-unused"], "{}", ran.text());
}

#[test]
fn a_removal_is_waived_at_what_is_left() {
    let tree = changed();
    let args = ["field-removed", "--reason", "nobody set it", "--until", "2027-06-30", "--write"];
    let ran = waive(&tree, &[&args[..], &["--as-of", "2026-06-30"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = read(&tree, USER);
    let start = "// A user.\n// abide:allow(field-removed, fingerprint = \"";
    assert!(text.contains(start), "{text}");
    assert!(
        text.contains("\", until = \"2027-06-30\"): nobody set it\nmessage User {\n"),
        "{text}"
    );
    assert!(errors(&tree).iter().all(|it| it.0 != "field-removed"));
}

#[test]
fn what_has_no_comment_is_waived_in_the_configuration() {
    let tree = changed();
    fs::remove_file(tree.path().join(USER)).unwrap();
    put(tree.path(), &[("acme/b/v1/b.proto", "syntax = \"proto3\";\npackage acme.b.v1;\n")]);
    let removed = errors(&tree);
    assert!(removed.iter().any(|it| it.0 == "package-removed"), "{removed:?}");
    let args = ["package-removed", "--reason", "its \"support\" ended", "--write"];
    let ran = waive(&tree, &args);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let toml = read(&tree, "abide.toml");
    let start = "# Ours.\n\n[[waiver]]\nrule = \"package-removed\"\nfingerprint = \"";
    assert!(toml.starts_with(start), "{toml}");
    assert!(toml.ends_with("reason = \"its \\\"support\\\" ended\"\n"), "{toml}");
    assert!(errors(&tree).iter().all(|it| it.0 != "package-removed"));
}

#[test]
fn what_cannot_be_waived_is_told_and_left_alone() {
    let tree = changed();
    let text = read(&tree, USER);
    let good = ["--reason", "x"];
    for (args, told) in [
        (&["field-type-chnged"][..], "did you mean `field-type-changed`?"),
        (&["field-type-changed"], "2 findings may be meant: name one by its fingerprint"),
        (
            &["field-type-changed", "User.mail"],
            "`field-type-changed` reports nothing at `User.mail`",
        ),
        (&["field-removed", "user.proto:1"], "reports nothing at `user.proto:1`"),
        (&["0123456789abcdef"], "no finding has the fingerprint `0123456789abcdef`"),
        (&["enum-removed"], "`enum-removed` reports nothing"),
    ] {
        let ran = waive(&tree, &[args, &good, &["--write"]].concat());
        assert_eq!((ran.status, read(&tree, USER)), (2, text.clone()), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{args:?}: {}", ran.stderr);
    }
    for reason in [" ", "a\nb"] {
        let ran = waive(&tree, &["field-removed", "--reason", reason, "--write"]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("needs a reason of one line"), "{}", ran.stderr);
    }
    // By place and by fingerprint it is one.
    let ran = abide(tree.path(), &[&["check", "--format", "json"][..], &AGAINST].concat());
    let nick = ran.json().into_iter().find(|it| it["element"] == "acme.user.v1.User.nick").unwrap();
    let fingerprint = nick["fingerprint"].as_str().unwrap();
    for args in [&[fingerprint][..], &["field-type-changed", "user.proto:9"]] {
        let ran = waive(&tree, &[args, &good, &["--check"]].concat());
        assert_eq!(
            (ran.status, ran.text()),
            (1, format!("{USER}:9: field-type-changed is not waived\n"))
        );
    }
    // Without an old tree nothing is removed.
    let ran = abide(tree.path(), &["waive", "field-removed", "--reason", "x", "--write"]);
    assert!(ran.stderr.contains("`--against SOURCE` names one"), "{}", ran.stderr);
    // Errors of the compiler cannot be waived.
    put(tree.path(), &[(USER, &text.replace("bytes nick", "Nobody nick"))]);
    let ran = waive(&tree, &["name-not-found", "--reason", "x", "--write"]);
    assert!(ran.stderr.contains("`name-not-found` cannot be waived"), "{}", ran.stderr);
}
