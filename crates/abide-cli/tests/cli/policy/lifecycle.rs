//! Deprecations and removals, and how many majors there may be.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, repository};
use crate::stories::{ok, read};

pub(super) const USER: &str = "acme/user/v1/user.proto";

/// A tree with these files, whose `abide.toml` has this text.
pub(super) fn tree(config: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!("import-paths = [{api:?}]\n{config}");
    put(folder.path(), &[("abide.toml", &config)]);
    put(folder.path(), files);
    folder
}

/// A file of a package with this content, which can use the annotations.
pub(super) fn file(package: &str, rest: &str) -> String {
    let mut text = format!("syntax = \"proto3\";\n\npackage {package};\n\n");
    for (word, path) in [("_policy)", "lifecycle"), ("file_policy)", "status")] {
        let is_file = path == "status";
        if rest.contains("file_policy") == is_file && rest.contains(word) {
            text += &format!("import \"abide/annotations/v1/{path}.proto\";\n\n");
        }
    }
    text + rest
}

/// A message `User` with these fields.
fn user(fields: &str) -> String {
    file("acme.user.v1", &format!("message User {{\n{fields}}}\n"))
}

fn deprecated(name: &str, number: i32, policy: &str) -> String {
    format!(
        "  // Use `name`.\n  string {name} = {number} [deprecated = true, \
         (abide.annotations.v1.field_policy) = {{{policy}}}];\n"
    )
}

pub(super) fn check(folder: &Path, args: &[&str]) -> Ran {
    abide(folder, &[&["check", "--format", "json"], args].concat())
}

/// The findings of a rule as lines of message, why and help.
pub(super) fn found(ran: &Ran, rule: &str) -> Vec<[String; 3]> {
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let rules = ran.json().into_iter().filter(|it| it["rule"] == rule);
    rules.map(|it| ["message", "why", "help"].map(|key| text(&it, key))).collect()
}

#[test]
fn a_replacement_that_does_not_exist_is_reported() {
    let name = "  string name = 1;\n";
    let misspelt = deprecated("nick", 2, "replaced_by: \"nmae\"");
    let tree = tree("", &[(USER, &user(&format!("{name}{misspelt}")))]);
    let ran = check(tree.path(), &[]);
    assert_eq!(ran.status, 1);
    let [[message, _, help]] = &found(&ran, "replacement-unusable")[..] else {
        panic!("{}", ran.text())
    };
    assert_eq!(message, "the replacement `nmae` of field `acme.user.v1.User.nick` does not exist");
    assert_eq!(help, "did you mean `name`?");
    // The names that the annotation may hold, and one that only looks whole.
    for (written, help) in [
        ("name", ""),
        ("acme.user.v1.User.name", ""),
        (".acme.user.v1.User.name", ""),
        ("acme.user.v1.User", ""),
        ("User.name", "write the full name: `acme.user.v1.User.name`"),
        ("acme.user.v1.User.nam", "did you mean `acme.user.v1.User.name`?"),
        ("acme.user.v1.Usr", "did you mean `acme.user.v1.User`?"),
        ("nick", "name the element to use instead"),
    ] {
        let field = deprecated("nick", 2, &format!("replaced_by: \"{written}\""));
        put(tree.path(), &[(USER, &user(&format!("{name}{field}")))]);
        let ran = check(tree.path(), &[]);
        let helps: Vec<String> =
            found(&ran, "replacement-unusable").into_iter().map(|[.., help]| help).collect();
        assert_eq!(helps.concat(), help, "{written}: {}", ran.text());
        assert_eq!(ran.status, i32::from(!help.is_empty()), "{written}");
    }
}

#[test]
fn a_deprecation_without_equivalent_needs_no_replacement() {
    let field = "  // The nickname.\n  string nick = 2 [deprecated = true];\n";
    for (policy, findings) in [
        ("", 1),
        ("[deprecation]\ndropped = [\"acme.user.v1.User.nick\"]\n", 0),
        ("[deprecation]\nwithout-equivalent = [\"acme.user.**\"]\n", 0),
        ("[deprecation]\ndropped = [\"acme.user.v1.User.name\"]\n", 1),
    ] {
        let tree = tree(policy, &[(USER, &user(field))]);
        let ran = check(tree.path(), &[]);
        let told = found(&ran, "deprecation-without-replacement");
        assert_eq!(told.len(), findings, "{policy}: {}", ran.text());
    }
}

#[test]
fn a_deprecation_version_is_read_with_its_minor_and_patch() {
    let calendar = "[calendar]\nclient-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]\n\
                    version-dates = { \"1.4\" = 2026-02-10, \"1.5.1\" = 2026-05-02 }\n";
    for (since, day) in [
        ("1.4.2", Some("2026-02-10")),
        ("1.4", Some("2026-02-10")),
        ("1.5.1", Some("2026-05-02")),
        ("1.5.0", None),
        ("2026-03-01", Some("2026-03-01")),
    ] {
        let field = deprecated("nick", 2, &format!("deprecated_at: \"{since}\""));
        let tree = tree(calendar, &[(USER, &user(&format!("  string name = 1;\n{field}")))]);
        let args = ["bump", "--format", "json", "--as-of", "2026-05-10"];
        let ran = ok(tree.path(), &args);
        let calendar = ran.json().into_iter().find(|it| it["kind"] == "calendar").unwrap();
        assert_eq!(calendar["deprecations"][0]["since"].as_str(), day, "{since}");
        assert_eq!(found(&check(tree.path(), &[]), "deprecation-version-malformed").len(), 0);
    }
    for since in ["1.4.x", "v1.4", "1", "1.4.2.1", "1.04", "0.4", "1.4.2+b", "2026-02-30"] {
        let field = deprecated("nick", 2, &format!("deprecated_at: \"{since}\""));
        let tree = tree(calendar, &[(USER, &user(&format!("  string name = 1;\n{field}")))]);
        let told = found(&check(tree.path(), &[]), "deprecation-version-malformed");
        assert_eq!(told.len(), 1, "{since}");
    }
    let wrong = tree("[calendar]\nversion-dates = { \"1.x\" = 2026-02-10 }\n", &[]);
    let ran = check(wrong.path(), &[]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`1.x` is not a version"), "{}", ran.stderr);
}

const FROZEN: &str = "option (abide.annotations.v1.file_policy).package_version_status = \
                      PACKAGE_VERSION_STATUS_FROZEN;\n";

/// Major versions of an API, each with the head of its file.
fn majors(versions: &[(&str, &str)]) -> Vec<(String, String)> {
    let file = |(version, head): &(&str, &str)| {
        let text = file(&format!("acme.user.{version}"), &format!("{head}message User {{}}\n"));
        (format!("acme/user/{version}/user.proto"), text)
    };
    versions.iter().map(file).collect()
}

#[test]
fn a_frozen_major_past_its_support_counts_towards_the_limit() {
    let config = "[packages]\nmax-majors = 3\n[calendar]\nprevious-major-months = 12\n\
                  stable-since = { \"acme.user.v2\" = 2024-06-30, \"acme.user.v3\" = 2025-06-30 }\n";
    let files = majors(&[("v1", FROZEN), ("v2", FROZEN), ("v3", ""), ("v4alpha", "")]);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let tree = tree(config, &files);
    // Each that is frozen is still supported: the calendar makes them as many as they are.
    let ran = check(tree.path(), &["--as-of", "2025-06-30"]);
    assert_eq!(found(&ran, "too-many-majors"), Vec::<[String; 3]>::new());
    let ran = check(tree.path(), &["--as-of", "2025-07-01"]);
    let [[message, why, help]] = &found(&ran, "too-many-majors")[..] else {
        panic!("{}", ran.text())
    };
    assert_eq!(
        message,
        "`acme.user.v1` is the oldest of 4 major versions, but the policy allows 3"
    );
    assert_eq!(
        why,
        "it is frozen, and was supported until 2025-06-30: `acme.user.v2` has been stable since \
         2024-06-30"
    );
    assert_eq!(help, "delete `acme.user.v1` once none of your clients needs it");
    // The help is right: the removal is no error, and then nothing is too many.
    git(tree.path(), &["init", "-q"]);
    commit(tree.path());
    fs::remove_dir_all(tree.path().join("acme/user/v1")).unwrap();
    let ran = ok(tree.path(), &["check", "--as-of", "2025-07-01", "--against", "git:HEAD"]);
    assert!(ran.text().contains("nothing to report"), "{}", ran.text());
    // Before that day it is a break.
    let ran = check(tree.path(), &["--as-of", "2025-06-30", "--against", "git:HEAD"]);
    assert_eq!(found(&ran, "package-removed").len(), 1, "{}", ran.text());
}

#[test]
fn two_alphas_of_different_majors_are_reported() {
    let both = majors(&[("v1", ""), ("v2alpha", ""), ("v3alpha", "")]);
    let one = majors(&[("v1", ""), ("v2alpha", ""), ("v2beta", "")]);
    let frozen = majors(&[("v1", ""), ("v2alpha", FROZEN), ("v3alpha", "")]);
    let released = majors(&[("v2", ""), ("v2alpha", ""), ("v3alpha", "")]);
    for (preset, files, help) in [
        ("standard", &both, "release `acme.user.v2alpha` first, or delete one of the two"),
        ("standard", &released, "delete `acme.user.v2alpha`: v2 is stable"),
        ("standard", &one, ""),
        ("standard", &frozen, ""),
        // Google's APIs may have several alphas.
        ("google", &both, ""),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
        let tree = tree(&format!("preset = \"{preset}\"\n"), &files);
        let told = found(&check(tree.path(), &[]), "two-candidates");
        let helps: Vec<&str> = told.iter().map(|[.., help]| &**help).collect();
        assert_eq!(helps.concat(), help);
    }
}

const CLOCKS: &str = "[calendar]\nclient-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]\n\
                      api-releases = [\"06-30\"]\nprevious-major-months = 12\n";

/// A tree with a field that is deprecated since 2026-02-10 and disallowed by default.
fn with_old_field(policy: &str) -> TempDir {
    let field = deprecated("nick", 2, "deprecated_at: \"2026-02-10\" disallowed_by_default: true");
    tree(&format!("{CLOCKS}{policy}"), &[(USER, &user(&format!("  string name = 1;\n{field}")))])
}

/// What `abide bump` says about the field on a day.
fn said(folder: &Path, day: &str) -> (String, serde_json::Value) {
    let human = ok(folder, &["bump", "--as-of", day]).text();
    let line = human.lines().find(|it| it.contains("User.nick")).unwrap_or_default().trim();
    let json = ok(folder, &["bump", "--as-of", day, "--format", "json"]).json();
    let calendar = json.into_iter().find(|it| it["kind"] == "calendar").unwrap();
    (line.to_owned(), calendar["deprecations"][0].clone())
}

#[test]
fn overdue_removals_stay_in_the_calendar_until_no_release_serves_them() {
    let tree = with_old_field("[deprecation]\nremoval = \"reserved\"\n");
    let (line, json) = said(tree.path(), "2026-07-01");
    assert!(line.contains("removed from 2026-09-30"), "{line}");
    assert_eq!(json["next_phase"], "removed");
    let (line, json) = said(tree.path(), "2027-01-01");
    let late = "acme.user.v1.User.nick: due for removal since 2026-09-30, deprecated since \
                2026-02-10, served until 2027-06-30";
    assert_eq!(line, late);
    assert_eq!((&json["phase"], &json["next_phase"]), (&"removed".into(), &().into()));
    // Without a next major, nothing ends it.
    assert!(said(tree.path(), "2027-07-01").0.ends_with("served until 2029-06-30"));
    // The next major ends it.
    put(tree.path(), &[("acme/user/v2/user.proto", &file("acme.user.v2", "message User {}\n"))]);
    let config = read(tree.path(), "abide.toml").replace(
        "previous-major",
        "stable-since = { \"acme.user.v2\" = 2027-06-30 }\nprevious-major",
    );
    put(tree.path(), &[("abide.toml", &config)]);
    assert!(said(tree.path(), "2028-06-30").0.ends_with("served until 2028-06-30"));
    assert_eq!(said(tree.path(), "2028-07-01").0, "");
}

#[test]
fn a_forbidden_removal_is_not_advised() {
    let tree = with_old_field("[deprecation]\nremoval = \"never\"\n");
    for day in ["2026-07-01", "2027-01-01"] {
        let (line, json) = said(tree.path(), day);
        assert!(line.contains("disallowed by default, removed in the next major, "), "{line}");
        assert_eq!(json["removal"], "next-major");
        assert_eq!(json["next_on"], serde_json::Value::Null);
        let ran = check(tree.path(), &["--as-of", day]);
        assert_eq!(ran.rules(), Vec::<String>::new(), "{day}");
    }
    // A window that is longer than the phases delays the removal, and the advice with it.
    let tree = with_old_field("[deprecation]\nremoval = \"deprecated\"\nwindow-months = 12\n");
    assert!(said(tree.path(), "2026-11-01").0.contains("removed from 2027-03-31"));
    git(tree.path(), &["init", "-q"]);
    commit(tree.path());
    let gone = user("  reserved 2;\n  reserved \"nick\";\n  string name = 1;\n");
    for (day, due, status) in [("2027-03-30", 0, 0), ("2027-03-31", 1, 0), ("2026-12-31", 0, 1)] {
        git(tree.path(), &["checkout", "-q", "."]);
        let told = found(&check(tree.path(), &["--as-of", day]), "deprecated-past-removal");
        assert_eq!(told.len(), due, "{day}");
        put(tree.path(), &[(USER, &gone)]);
        let ran = check(tree.path(), &["--as-of", day, "--against", "git:HEAD"]);
        assert_eq!(ran.status, status, "{day}: {}", ran.text());
    }
}

#[test]
fn a_freeze_postpones_the_disallowed_phase() {
    let field = deprecated("nick", 2, "deprecated_at: \"2026-02-10\"");
    let text = user(&format!("  string name = 1;\n{field}"));
    let marked = text.replace("2026-02-10\"", "2026-02-10\" disallowed_by_default: true");
    let freeze = "{ from = 2026-06-01, until = 2026-12-31 }";
    for (policy, disallowed) in [
        (String::new(), Some("2026-06-30")),
        (format!("[deprecation]\nfreeze = {freeze}\n"), Some("2027-03-31")),
        (format!("[deprecation]\nfreeze = [{freeze}]\n"), Some("2027-03-31")),
        ("[[deprecation.freeze]]\nfrom = \"2026-06-01\"\n".to_owned(), None),
        ("[deprecation]\nfreeze = true\n".to_owned(), None),
        ("[deprecation]\nfreeze = false\n".to_owned(), Some("2026-06-30")),
    ] {
        let tree = tree(&format!("{CLOCKS}{policy}"), &[(USER, &text)]);
        let folder = tree.path();
        let (_, json) = said(folder, "2026-04-01");
        assert_eq!(json["phase"], "warned");
        assert_eq!(json["next_on"].as_str(), disallowed, "{policy}");
        // Nobody is asked to disallow it before, and everybody from then on.
        let asked = |day| found(&check(folder, &["--as-of", day]), "deprecated-not-disallowed");
        let first = disallowed.is_some_and(|it| it <= "2026-07-01");
        assert_eq!(asked("2026-07-01").len(), usize::from(first), "{policy}");
        assert_eq!(asked("2027-04-01").len(), usize::from(disallowed.is_some()), "{policy}");
        let human = ok(folder, &["bump", "--as-of", "2026-07-01"]).text();
        let said = human.lines().any(|it| it.trim_start().starts_with("frozen"));
        assert_eq!(said, !first, "{human}");
        // Who disallows it during the freeze is told.
        put(folder, &[(USER, &marked)]);
        let soon = found(&check(folder, &["--as-of", "2026-07-01"]), "disallowed-too-soon");
        let is_known = !first && !policy.contains("true");
        assert_eq!(soon.len(), usize::from(is_known), "{policy}: {soon:?}");
        assert!(soon.iter().all(|[_, why, _]| why.contains("freeze")), "{soon:?}");
    }
    let wrong = tree("[deprecation]\nfreeze = { from = 2026-06-01, until = 2026-01-01 }\n", &[]);
    let ran = check(wrong.path(), &[]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("ends on 2026-01-01, before it begins"), "{}", ran.stderr);
}

/// What is said about the removal of a field.
fn removed(policy: &str, old: &str, new: &str, day: &str) -> (i32, Vec<[String; 3]>) {
    let tree = tree(policy, &[(USER, old)]);
    git(tree.path(), &["init", "-q"]);
    commit(tree.path());
    put(tree.path(), &[(USER, new)]);
    let ran = check(tree.path(), &["--as-of", day, "--against", "git:HEAD"]);
    (ran.status, found(&ran, "field-removed"))
}

#[test]
fn an_early_removal_says_when_it_is_allowed() {
    let plain = user("  string name = 1;\n  string nick = 2;\n");
    let field = deprecated("nick", 2, "deprecated_at: \"2026-02-10\"");
    let old = user(&format!("  string name = 1;\n{field}"));
    let unknown = old.replace("2026-02-10", "1.4");
    let gone = user("  string name = 1;\n");
    let reserved = user("  reserved 2;\n  reserved \"nick\";\n  string name = 1;\n");
    let deprecated = "[deprecation]\nremoval = \"deprecated\"\n";
    let windowed = format!("{deprecated}window-months = 6\n");
    for (policy, old, new, why, help) in [
        (
            "",
            &plain,
            &reserved,
            "\"never\": only the next major version may remove it",
            "take it out of `reserved`, put it back and deprecate it, with a comment on what to use \
             instead; `abide upgrade` leaves it out of the next major version",
        ),
        (
            CLOCKS,
            &old,
            &reserved,
            "\"never\": only the next major version, which may appear from 2026-05-31 to \
          2026-06-30, may remove it; it has been deprecated since 2026-02-10",
            "take it out of `reserved`, put it back; `abide upgrade` leaves it out of the next major \
             version",
        ),
        (
            "",
            &old,
            &gone,
            "\"never\": only the next major version may remove it; it has been \
          deprecated since 2026-02-10",
            "put it back; `abide upgrade` leaves it out of the next major version; if it has to go \
          now, add `reserved 2; reserved \"nick\";` to message `User` and waive this",
        ),
        (
            "[deprecation]\nremoval = \"reserved\"\n",
            &plain,
            &gone,
            "\"reserved\": it may go once its number and its name are reserved",
            "add `reserved 2; reserved \"nick\";` to message `User`",
        ),
        (
            deprecated,
            &plain,
            &reserved,
            "\"deprecated\": it must be deprecated in a release first",
            "take it out of `reserved`, put it back and deprecate it, with a comment on what to use \
             instead",
        ),
        (
            &windowed,
            &plain,
            &reserved,
            "\"deprecated\": it must be deprecated in a release first for 6 months (`window-months`)",
            "take it out of `reserved`, put it back and deprecate it, with a comment on what to use \
             instead",
        ),
        (
            &windowed,
            &old,
            &reserved,
            "\"deprecated\": it may go from 2026-08-10 on, because `window-months` asks for 6 \
             months; it has been deprecated since 2026-02-10",
            "take it out of `reserved`, put it back until then",
        ),
        (
            &windowed,
            &unknown,
            &reserved,
            "\"deprecated\" and `window-months` counts from the day \
          of its `deprecated_at`, which is not known",
            "take it out of `reserved`, put it back, and set `deprecated_at` to the day on which it \
             was deprecated, or to a version in `version-dates`",
        ),
    ] {
        let (status, told) = removed(policy, old, new, "2026-03-01");
        let [[_, said_why, said_help]] = &told[..] else { panic!("{policy}: {told:?}") };
        assert_eq!(said_why, &format!("`[deprecation] removal` is {why}"));
        // Where the annotation comes from is beside the advice.
        assert_eq!(said_help.split(" (`import ").next(), Some(help));
        assert_eq!(status, 1);
    }
    // Without a window, the schedule of the clients counts, and freezes with it.
    let scheduled = format!("{CLOCKS}{deprecated}");
    let frozen = format!("{scheduled}freeze = {{ from = 2026-06-01, until = 2026-09-30 }}\n");
    let forever = format!("{scheduled}freeze = true\n");
    for (policy, why) in [
        (
            &scheduled,
            "it may go from 2026-06-30 on, because clients refuse it only from then on \
                      (`client-releases`); it has been deprecated since 2026-02-10",
        ),
        (
            &frozen,
            "it may go from 2026-12-31 on, because clients refuse it only from then on \
                   (`client-releases` and `freeze`); it has been deprecated since 2026-02-10",
        ),
        (&forever, "it may not go until `freeze` ends; it has been deprecated since 2026-02-10"),
    ] {
        let (status, told) = removed(policy, &old, &reserved, "2026-03-01");
        let [[_, said, _]] = &told[..] else { panic!("{policy}: {told:?}") };
        assert_eq!(said, &format!("`[deprecation] removal` is \"deprecated\": {why}"));
        assert_eq!(status, 1);
    }
    assert_eq!(removed(&scheduled, &old, &reserved, "2026-06-30").0, 0);
    assert_eq!(removed(&frozen, &old, &reserved, "2026-12-30").0, 1);
    // On the day that was named, it is allowed.
    assert_eq!(removed(&windowed, &old, &reserved, "2026-08-10").0, 0);
    assert_eq!(removed(deprecated, &old, &reserved, "2026-03-01").0, 0);
}

#[test]
fn an_element_that_was_never_deprecated_is_not_removed() {
    let config = "preset = \"envoy\"\n[rules]\npackage-status-missing = \"off\"\n";
    let path = "envoy/acme/user/v3/user.proto";
    let text = |fields: &str| {
        format!(
            "syntax = \"proto3\";\n\npackage envoy.acme.user.v3;\n\nmessage User {{\n{fields}}}\n"
        )
    };
    let reserved = text("  reserved 2;\n  reserved \"nick\";\n  string name = 1;\n");
    for (mark, status) in [("", 1), (" [deprecated = true]", 0)] {
        let old = text(&format!("  string name = 1;\n  // Use name.\n  string nick = 2{mark};\n"));
        let tree = tree(config, &[(path, &old)]);
        git(tree.path(), &["init", "-q"]);
        commit(tree.path());
        put(tree.path(), &[(path, &reserved)]);
        let ran = abide(tree.path(), &["check", "--against", "git:HEAD"]);
        assert_eq!(ran.status, status, "{mark}: {}", ran.text());
        let told = "it must be deprecated in a release first";
        assert_eq!(ran.text().contains(told), status == 1, "{}", ran.text());
    }
}
