//! Several old trees at once: which ones are compared, and each element reported once with those
//! that it breaks.

use std::path::Path;

use serde_json::Value;

use crate::history::{Snapshot, git, repository};
use crate::run::{abide, put};

/// A file whose message has these fields.
fn file(fields: &str) -> String {
    format!("syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {{\n{fields}}}\n")
}

const PATH: &str = "acme/user/v1/user.proto";
const NAME: &str = "  string name = 1;\n";

/// A repository with a commit for each of these bodies, each tagged.
fn tagged(releases: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let commit = |(tag, fields): &(&str, &str)| Snapshot::on_main(tag, &[(PATH, &*file(fields))]);
    let commits: Vec<Snapshot> = releases.iter().map(commit).collect();
    repository(folder.path(), &commits);
    for (at, (tag, _)) in releases.iter().enumerate() {
        let revision = format!("HEAD~{}", releases.len() - 1 - at);
        git(folder.path(), &["tag", tag, &revision]);
    }
    git(folder.path(), &["reset", "--quiet", "--hard"]);
    folder
}

/// The findings of `abide breaking` as JSON: rule, element and baselines.
fn breaks(folder: &Path, more: &[&str]) -> Vec<(String, String, Vec<String>)> {
    let args = [&["breaking", "-q", "--format", "json"], more].concat();
    let ran = abide(folder, &args);
    assert!(ran.status < 2, "{}", ran.stderr);
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let found = ran.json().into_iter().filter(|it| it["kind"] == "finding");
    found
        .map(|it| {
            let baselines = it["baselines"].as_array().cloned().unwrap_or_default();
            (text(&it["rule"]), text(&it["element"]), baselines.iter().map(text).collect())
        })
        .collect()
}

/// A field that goes, and comes back with another type and the number that nobody reserved.
fn two_steps() -> tempfile::TempDir {
    let folder = tagged(&[
        ("v1.2.0", "  string name = 1;\n  string mail = 2;\n"),
        ("v1.9.0", "  string name = 1;\n  string mail = 2;\n"),
        ("v1.10.0", NAME),
        ("w2.0.0", NAME),
    ]);
    put(folder.path(), &[(PATH, &file("  string name = 1;\n  int32 mail = 2;\n"))]);
    folder
}

#[test]
fn a_break_in_two_steps_is_found_by_all_tags_and_by_no_single_one() {
    let folder = two_steps();
    let folder = folder.path();
    assert_eq!(breaks(folder, &["--against", "git:newest(v1.*)"]), []);
    let found = breaks(folder, &["--against", "git:every(v1.*)"]);
    let old = ["git:v1.2.0".to_owned(), "git:v1.9.0".to_owned()];
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].1, &found[0].2[..]), ("acme.user.v1.User.mail", &old[..]));
    // The order on the command line says nothing about age.
    for order in [["git:v1.10.0", "git:v1.2.0"], ["git:v1.2.0", "git:v1.10.0"]] {
        let args = ["--against", order[0], "--against", order[1]];
        let found = breaks(folder, &args);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].2, ["git:v1.2.0"]);
    }
}

#[test]
fn a_twin_with_a_reserved_number_is_silent() {
    let folder = two_steps();
    put(folder.path(), &[(PATH, &file("  string name = 1;\n  string mail = 2;\n"))]);
    assert_eq!(breaks(folder.path(), &["--against", "git:every(v1.*)"]), []);
}

#[test]
fn every_format_names_the_old_trees_of_a_break() {
    let folder = two_steps();
    let run = |format: &str| {
        let against = ["--against", "git:every(v1.*)", "--format", format];
        abide(folder.path(), &[&["breaking"], &against[..]].concat()).text()
    };
    for format in ["human", "junit", "github", "gitlab", "markdown", "comment", "sarif"] {
        assert!(run(format).contains("since v1.2.0: v1.2.0, v1.9.0"), "{format}: {}", run(format));
    }
    let page = run("html");
    assert!(page.contains("<dt>since v1.2.0</dt><dd>v1.2.0, v1.9.0</dd>"), "{page}");
    let sarif: Value = serde_json::from_str(&run("sarif")).unwrap();
    let names = &sarif["runs"][0]["results"][0]["properties"]["baselines"];
    assert_eq!(*names, serde_json::json!(["git:v1.2.0", "git:v1.9.0"]));
    // The snippet shows the text of the old tree that has the field.
    assert!(run("human").contains("string mail = 2;"), "{}", run("human"));
}

#[test]
fn one_old_tree_gives_the_same_report_however_it_is_named() {
    let folder = two_steps();
    let run = |spec: &str, format: &str| {
        let args = ["check", "--against", spec, "--format", format, "--as-of", "2026-01-15"];
        let ran = abide(folder.path(), &args);
        (ran.status, ran.text())
    };
    for format in ["human", "json", "sarif", "markdown"] {
        assert_eq!(run("git:v1.2.0", format), run("git:every(v1.2*)", format), "{format}");
    }
    let twice = ["breaking", "--against", "git:v1.2.0", "--against", "git:every(v1.2*)"];
    let twice = abide(folder.path(), &[&twice[..], &["--format", "json"]].concat());
    let once = ["breaking", "--against", "git:v1.2.0", "--format", "json"];
    assert_eq!(twice.text(), abide(folder.path(), &once).text());
}

#[test]
fn without_a_match_the_error_names_the_tags() {
    let folder = two_steps();
    for spec in ["git:every(x*)", "git:newest(x*)"] {
        let ran = abide(folder.path(), &["breaking", "--against", "git:v1.2.0", "--against", spec]);
        assert_eq!(ran.status, 2, "{}", ran.text());
        for tag in ["v1.2.0", "v1.9.0", "v1.10.0", "w2.0.0"] {
            assert!(ran.stderr.contains(&format!("`{tag}`")), "{}", ran.stderr);
        }
    }
    let ran = abide(folder.path(), &["lint", "git:every(v*)"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`--against`"), "{}", ran.stderr);
}

#[test]
fn history_judges_each_release_against_all_before_it() {
    let folder = tagged(&[
        ("v1.0.0", "  string name = 1;\n  string mail = 2;\n"),
        ("v1.1.0", "  string name = 1;\n  string mail = 2;\n"),
        ("v1.10.0", "  string name = 1;\n"),
        ("v1.11.0", "  string name = 1;\n  int32 mail = 2;\n"),
    ]);
    let folder = folder.path();
    let run = |format: &str| abide(folder, &["history", "--every", "v*", "--format", format]);
    let ran = run("json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let rows = ran.json();
    let releases = rows.iter().filter(|it| it["kind"] == "release");
    let errors: Vec<(&str, u64)> = releases
        .map(|it| (it["release"].as_str().unwrap(), it["errors"].as_u64().unwrap()))
        .collect();
    assert_eq!(errors, [("v1.0.0", 0), ("v1.1.0", 0), ("v1.10.0", 1), ("v1.11.0", 1)]);
    let last = rows.iter().rfind(|it| it["kind"] == "release-break").unwrap();
    assert_eq!(last["element"], "acme.user.v1.User.mail");
    // The release just before it has no such field.
    assert_eq!(last["baselines"], serde_json::json!(["v1.0.0", "v1.1.0"]));
    let text = run("human").text();
    assert!(text.starts_with("v1.11.0 2023-11-1"), "{text}");
    assert!(text.contains("(breaks v1.0.0, v1.1.0)"), "{text}");
    assert!(text.ends_with("4 releases: 2 errors, 0 warnings\n"), "{text}");
    for (args, says) in [
        (&["history", "--every", "x*"][..], "`v1.11.0`"),
        (&["history", "--every", "v*", "--format", "html"], "--format human"),
        (&["history", "--every", "v*", "--fields"], "cannot be used with"),
    ] {
        let ran = abide(folder, args);
        assert_eq!(ran.status, 2, "{}", ran.text());
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

#[test]
fn abide_toml_lists_old_trees_and_the_newest_counts_for_the_bump() {
    let folder = two_steps();
    let folder = folder.path();
    let config = "against = [\"git:newest(w*)\", \"git:every(v1.*)\"]\n";
    put(folder, &[("abide.toml", config)]);
    let ran = abide(folder, &["breaking", "--format", "json"]);
    let lines = ran.json();
    let summary = lines.last().unwrap();
    // A break of older releases is an error; since the newest there is only an addition.
    assert_eq!((ran.status, &summary["required_bump"]), (1, &"minor".into()), "{summary}");
    put(folder, &[("abide.toml", &format!("bump-against = \"git:v1.9.0\"\n{config}"))]);
    let ran = abide(folder, &["breaking", "--format", "json"]);
    assert_eq!(ran.json().last().unwrap()["required_bump"], "major");
}

#[test]
fn waivers_and_accepted_findings_hold_for_all_old_trees() {
    let folder = two_steps();
    let folder = folder.path();
    put(folder, &[("abide.toml", "against = \"git:every(v1.*)\"\n")]);
    assert_eq!(abide(folder, &["check", "-q"]).status, 1);
    let accepted = abide(folder, &["check", "--accept"]);
    assert_eq!(accepted.status, 0, "{}{}", accepted.text(), accepted.stderr);
    let after = abide(folder, &["check", "--format", "json"]);
    assert_eq!((after.status, after.rules()), (0, Vec::new()), "{}", after.text());
    std::fs::remove_file(folder.join("abide.accepted")).unwrap();
    let rule = breaks(folder, &[])[0].0.clone();
    let waived = format!(
        "  string name = 1;\n  // abide:allow({rule}): nobody has the old one\n  int32 mail = 2;\n"
    );
    put(folder, &[(PATH, &file(&waived))]);
    let after = abide(folder, &["check", "--format", "json"]);
    assert_eq!((after.status, after.rules()), (0, Vec::new()), "{}", after.text());
}

#[test]
fn compatibility_says_who_is_upgraded_first() {
    let releases = [("v1", "  string name = 1;\n  string mail = 2;\n"), ("v2", NAME)];
    let folder = tagged(&releases);
    let folder = folder.path();
    put(folder, &[(PATH, &file("  string name = 1;\n  int32 mail = 2;\n"))]);
    let status = |mode: &str| {
        let against = ["--against", "git:every(v*)", "--compatibility", mode];
        abide(folder, &[&["breaking", "-q"], &against[..]].concat()).status
    };
    for (mode, expected) in [
        ("none", 0),
        ("backward", 0),
        ("backward-transitive", 1),
        ("forward-transitive", 1),
        ("full-transitive", 1),
    ] {
        assert_eq!(status(mode), expected, "{mode}");
    }
    put(folder, &[("abide.toml", "[breaking]\ncompatibility = \"backward\"\n")]);
    assert_eq!(breaks(folder, &["--against", "git:every(v*)"]), []);
    put(folder, &[("abide.toml", "[breaking]\ncompatibility = \"backwards\"\n")]);
    let ran = abide(folder, &["breaking", "--against", "git:v1"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("did you mean `backward`"), "{}", ran.stderr);
}
