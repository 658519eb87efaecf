//! Promises are not withdrawn in steps: what one change marks or dates back gives no freedom to the
//! next one.

use std::path::Path;

use tempfile::TempDir;

use super::lifecycle::{USER, check, file, found, tree};
use crate::breaking::{commit, git};
use crate::run::put;
use crate::stories::edit;

const WIP: &str = "work_in_progress = true";

fn user(fields: &str) -> String {
    file("acme.user.v1", &format!("message User {{\n{fields}}}\n"))
}

fn committed(folder: &Path) {
    git(folder, &["commit", "--quiet", "--all", "--message", "next"]);
}

/// A stable package, released as `v1`.
fn released(config: &str, text: &str) -> TempDir {
    let tree = tree(config, &[(USER, text)]);
    commit(tree.path());
    git(tree.path(), &["tag", "v1"]);
    tree
}

/// The severity of each finding of a rule.
fn severities(folder: &Path, args: &[&str], rule: &str) -> Vec<String> {
    let lines = check(folder, args).json();
    let of_rule = lines.iter().filter(|it| it["rule"] == rule);
    of_rule.map(|it| it["severity"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_is_released_does_not_become_work_in_progress() {
    let plain = user("  string name = 1;\n  string mail = 2;\n");
    let message = format!("  option (abide.annotations.v1.message_policy).{WIP};\n");
    let marks = [
        user(&format!("{message}  string name = 1;\n  string mail = 2;\n")),
        user(&format!(
            "  string name = 1;\n  string mail = 2 [(abide.annotations.v1.field_policy).{WIP}];\n"
        )),
        file(
            "acme.user.v1",
            &format!(
                "option (abide.annotations.v1.file_policy).{WIP};\n\nmessage User {{\n  string \
                 name = 1;\n  string mail = 2;\n}}\n"
            ),
        ),
    ];
    for mark in marks {
        let tree = released("", &plain);
        let folder = tree.path();
        put(folder, &[(USER, &mark)]);
        for against in ["git:HEAD", "git:v1"] {
            let found = severities(folder, &["--against", against], "promise-withdrawn");
            assert_eq!(found, ["error"], "{mark}");
        }
        // After it was merged all the same, the last release still promises.
        committed(folder);
        edit(folder, USER, "string mail", "int32 mail");
        let ran = check(folder, &["--against", "git:HEAD", "--bump-against", "git:v1"]);
        assert_eq!(ran.status, 1, "{mark}{}", ran.text());
        assert_eq!(found(&ran, "field-type-changed").len(), 1, "{}", ran.text());
        put(folder, &[(USER, &file("acme.user.v1", "message Other {}\n"))]);
        let ran = check(folder, &["--against", "git:HEAD", "--bump-against", "git:v1"]);
        assert_eq!(found(&ran, "message-removed").len(), 1, "{}", ran.text());
        assert_eq!(ran.status, 1, "{mark}");
    }
}

#[test]
fn what_moves_to_work_in_progress_becomes_it() {
    let plain = user("  string name = 1;\n");
    let tree = released("", &plain);
    let folder = tree.path();
    let drafts = "acme/user/v1/drafts.proto";
    let draft = |rest: &str| {
        let mark = format!("option (abide.annotations.v1.file_policy).{WIP};\n\n");
        file("acme.user.v1", &(mark + "message Draft {}\n" + rest))
    };
    put(folder, &[(drafts, &draft(""))]);
    git(folder, &["add", "--all"]);
    committed(folder);
    put(folder, &[(USER, &file("acme.user.v1", "message Other {}\n"))]);
    put(folder, &[(drafts, &draft("\nmessage User {\n  string name = 1;\n}\n"))]);
    let ran = check(folder, &["--against", "git:HEAD"]);
    let [[message, ..]] = &found(&ran, "promise-withdrawn")[..] else { panic!("{}", ran.text()) };
    assert!(message.contains("message `User` became work in progress"), "{message}");
}

#[test]
fn work_in_progress_since_the_first_day_may_change() {
    let mark = format!("[(abide.annotations.v1.field_policy).{WIP}]");
    let tree = released("", &user(&format!("  string name = 1;\n  string mail = 2 {mark};\n")));
    let folder = tree.path();
    edit(folder, USER, "string mail", "int32 mail");
    for against in ["git:HEAD", "git:v1"] {
        let ran = check(folder, &["--against", against, "--bump-against", "git:v1"]);
        assert_eq!(ran.status, 0, "{}", ran.text());
    }
    // Nor is a new element, or one of an alpha, bound.
    edit(folder, USER, "string name = 1;", &format!("string name = 1;\n  string nick = 3 {mark};"));
    assert_eq!(check(folder, &["--against", "git:HEAD"]).status, 0);
    committed(folder);
    edit(folder, USER, "string nick", "bytes nick");
    let ran = check(folder, &["--against", "git:HEAD", "--bump-against", "git:v1"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
}

#[test]
fn a_frozen_package_stays_frozen() {
    let text = |status: &str| {
        let option = "option (abide.annotations.v1.file_policy).package_version_status = ";
        file(
            "acme.user.v1",
            &format!("{option}{status};\n\nmessage User {{\n  string name = 1;\n}}\n"),
        )
    };
    let tree = released("", &text("PACKAGE_VERSION_STATUS_FROZEN"));
    let folder = tree.path();
    put(folder, &[(USER, &text("PACKAGE_VERSION_STATUS_ACTIVE"))]);
    let ran = check(folder, &["--against", "git:HEAD"]);
    let [[message, ..]] = &found(&ran, "promise-withdrawn")[..] else { panic!("{}", ran.text()) };
    assert!(message.contains("no longer frozen"), "{message}");
    put(folder, &[(USER, &user("  string name = 1;\n"))]);
    assert_eq!(severities(folder, &["--against", "git:HEAD"], "promise-withdrawn"), ["error"]);
}

const WINDOW: &str = "[deprecation]\nremoval = \"deprecated\"\nwindow-months = 12\n";

fn deprecated(since: &str) -> String {
    user(&format!(
        "  string name = 1;\n\n  // Use `name`.\n  string mail = 2 [\n    deprecated = true,\n    \
         (abide.annotations.v1.field_policy).deprecated_at = \"{since}\"\n  ];\n"
    ))
}

#[test]
fn a_deprecation_is_not_older_than_the_tree_that_lacks_it() {
    let plain = user("  string name = 1;\n  string mail = 2;\n");
    for (config, severity) in [(WINDOW, "error"), ("", "warning")] {
        let tree = released(config, &plain);
        let folder = tree.path();
        let against = ["--against", "git:HEAD", "--as-of", "2099-01-01"];
        for day in ["2020-01-01", "0001-01-01"] {
            put(folder, &[(USER, &deprecated(day))]);
            let found = severities(folder, &against, "deprecation-backdated");
            assert_eq!(found, [severity], "{config} {day}");
        }
        // A day in the future is none in the past.
        put(folder, &[(USER, &deprecated("2099-01-01"))]);
        assert!(severities(folder, &against, "deprecation-backdated").is_empty());
        // Nobody knows the day of a folder.
        put(folder, &[(USER, &deprecated("2020-01-01")), ("old/acme/user/v1/user.proto", &plain)]);
        let against = ["--against", "old"];
        assert!(severities(folder, &against, "deprecation-backdated").is_empty());
    }
}

#[test]
fn a_removal_counts_from_what_the_last_release_shows() {
    let plain = user("  string name = 1;\n  string mail = 2;\n");
    let gone = user("  reserved 2;\n  reserved \"mail\";\n  string name = 1;\n");
    let tree = released(WINDOW, &plain);
    let folder = tree.path();
    put(folder, &[(USER, &deprecated("2020-01-01"))]);
    committed(folder);
    put(folder, &[(USER, &gone)]);
    let ran = check(folder, &["--against", "git:HEAD", "--bump-against", "git:v1"]);
    let [[_, why, _]] = &found(&ran, "field-removed")[..] else { panic!("{}", ran.text()) };
    assert!(why.contains("it must be deprecated in a release first"), "{why}");
    assert_eq!(ran.status, 1);
    // A release that names a later day: that one counts.
    put(folder, &[(USER, &deprecated("2026-10-01"))]);
    committed(folder);
    git(folder, &["tag", "v1.1"]);
    put(folder, &[(USER, &deprecated("2020-01-01"))]);
    let back = severities(folder, &["--against", "git:HEAD"], "deprecation-terms-changed");
    assert_eq!(back, ["error"]);
    committed(folder);
    put(folder, &[(USER, &gone)]);
    let args = ["--against", "git:HEAD", "--bump-against", "git:v1.1", "--as-of"];
    let ran = check(folder, &[&args[..], &["2027-09-30"]].concat());
    assert_eq!(found(&ran, "field-removed").len(), 1, "{}", ran.text());
    let ran = check(folder, &[&args[..], &["2027-10-01"]].concat());
    assert_eq!(found(&ran, "field-removed").len(), 0, "{}", ran.text());
}

#[test]
fn a_day_that_cannot_be_is_no_day() {
    let tree = released(WINDOW, &deprecated("0001-01-01"));
    let folder = tree.path();
    assert_eq!(severities(folder, &[], "deprecation-version-malformed"), ["warning"]);
    put(folder, &[(USER, &user("  reserved 2;\n  reserved \"mail\";\n  string name = 1;\n"))]);
    let ran = check(folder, &["--against", "git:HEAD"]);
    assert_eq!(found(&ran, "field-removed").len(), 1, "{}", ran.text());
    assert_eq!(ran.status, 1);
}
