//! Files that do not parse: nothing is concluded from them, and nothing is written into them.

use std::path::Path;

use tempfile::TempDir;

use crate::history::{ID, NAME, Snapshot, USER, git, repository, user};
use crate::run::{Ran, abide, put};

const OTHER: &str = "proto/acme/other/v1/other.proto";

fn other(fields: &str) -> String {
    format!("syntax = \"proto3\";\npackage acme.other.v1;\nmessage Other {{\n{fields}}}\n")
}

/// What editors, merges, tools and hurry leave in a file that had two fields.
fn broken() -> Vec<(&'static str, String)> {
    let whole = user(&[ID, NAME].concat());
    let wide: String = whole.chars().flat_map(|it| [it, '\0']).collect();
    let conflict = format!("<<<<<<< HEAD\n{NAME}=======\n  string title = 2;\n>>>>>>> topic\n");
    vec![
        ("a half-typed line", user(&format!("{ID}  string half\n{NAME}"))),
        ("a message that is left open", format!("{whole}message New {{\nservice S {{}}\n")),
        ("a comment that is left open", whole.replace(NAME, &format!("/* {NAME}"))),
        ("half a package", whole.replace("package acme.user.v1;", "package acme.us")),
        ("a bracket that is left open", user(&format!("{ID}  string name = 2 [deprecated\n"))),
        ("conflict markers", user(&format!("{ID}{conflict}"))),
        ("zeros of UTF-16", wide),
        ("a NUL byte", whole.replace("name", "na\0me")),
        (
            "a pointer of Git LFS",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n".to_owned(),
        ),
    ]
}

/// A tree in git with two packages, of which the working tree has changed one.
fn tree(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let both = [ID, NAME].concat();
    let begin = Snapshot::on_main("begin", &[(USER, &user(&both)), (OTHER, &other(&both))]);
    repository(folder.path(), &[begin]);
    git(folder.path(), &["reset", "--quiet", "--hard"]);
    put(
        folder.path(),
        &[("abide.toml", "roots = [\"proto\"]\nagainst = \"git:HEAD\"\n"), (USER, text)],
    );
    folder
}

/// The rules that reported, each with the path.
fn found(ran: &Ran) -> Vec<(String, String)> {
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().map(str::to_owned);
    let of = |it: &serde_json::Value| Some((text(it, "rule")?, text(it, "path")?));
    ran.json().iter().filter_map(of).collect()
}

fn summary(ran: &Ran) -> serde_json::Value {
    ran.json().pop().expect("a report ends with its summary")
}

#[test]
fn only_its_syntax_errors_are_reported() {
    for (what, text) in broken() {
        let folder = tree(&text);
        for command in
            [&["check"][..], &["lint"], &["breaking"], &["check", "--changed"], &["check", "--fix"]]
        {
            let ran = abide(folder.path(), &[command, &["--format", "json"]].concat());
            assert_eq!(ran.status, 1, "{what}, {command:?}: {}", ran.stderr);
            let found = found(&ran);
            assert!(!found.is_empty(), "{what}, {command:?}");
            for (rule, path) in found {
                let place = (rule.as_str(), path.as_str());
                assert_eq!(place, ("syntax-error", USER), "{what}, {command:?}");
            }
            let judged = summary(&ran);
            let not_judged = judged["not_judged"].as_array().expect("it is listed");
            if command != ["lint"] {
                // The old file says whose it is, whatever is left of the new one.
                assert!(not_judged.contains(&"acme.user.v1".into()), "{what}: {judged}");
            }
            assert!(
                ran.stderr.contains("not judged: `proto/acme/user/v1/user.proto`"),
                "{}",
                ran.stderr
            );
        }
        assert_eq!(std::fs::read_to_string(folder.path().join(USER)).unwrap(), text, "{what}");
    }
}

#[test]
fn conflicts_encodings_and_pointers_are_named() {
    let named = [
        ("conflict markers", "this looks like a merge conflict"),
        ("zeros of UTF-16", "the file is encoded in UTF-16, and not in UTF-8"),
        ("a NUL byte", "a NUL byte is not allowed"),
        ("a pointer of Git LFS", "the file is a pointer of Git LFS"),
    ];
    let broken = broken();
    for (what, message) in named {
        let (_, text) = broken.iter().find(|it| it.0 == what).expect("it is one of them");
        let ran = abide(tree(text).path(), &["lint"]);
        assert!(ran.text().contains(message), "{what}: {}", ran.text());
    }
}

#[test]
fn the_rest_of_the_tree_is_judged() {
    let (_, text) = &broken()[0];
    let folder = tree(text);
    put(folder.path(), &[(OTHER, &other(ID))]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    let rules: Vec<String> = found(&ran).into_iter().map(|it| it.0).collect();
    assert_eq!(rules, ["field-removed", "syntax-error"], "{}", ran.text());
}

#[test]
fn nothing_is_written_or_recorded() {
    for (what, text) in broken() {
        let folder = tree(&text);
        let commands: &[&[&str]] = &[
            &["check", "--accept"],
            &["bump", "--write"],
            &["upgrade", "--write"],
            &["release", "--write"],
            &["deprecations", "--write"],
            &["format", "--write"],
            &["build", "-o", "out.binpb"],
        ];
        for command in commands {
            let ran = abide(folder.path(), command);
            assert_eq!(ran.status, 1, "{what}, {command:?}: {}", ran.stderr);
        }
        let status = git(folder.path(), &["status", "--porcelain", "--untracked-files=all"]);
        let changed: Vec<&str> = status.lines().map(|it| it[2..].trim()).collect();
        assert_eq!(changed, [USER, "abide.toml"], "{what}: {status}");
        assert_eq!(std::fs::read_to_string(folder.path().join(USER)).unwrap(), text, "{what}");
        // What it means is not known, so it has no hash.
        let ran = abide(folder.path(), &["hash"]);
        assert_eq!(ran.status, 1);
        assert!(!ran.text().contains("acme/user"), "{what}: {}", ran.text());
        assert!(ran.text().contains("package acme.other.v1"), "{what}: {}", ran.text());
    }
}

/// A repository in which a file did not parse for a while.
fn mended(folder: &Path, now: &str, text: &str) -> String {
    let both = user(&[ID, NAME].concat());
    let commits = [
        Snapshot::on_main("begin", &[(USER, &both)]),
        Snapshot::on_main("break", &[(USER, text)]),
        Snapshot::on_main("mend", &[(USER, now)]),
    ];
    repository(folder, &commits);
    put(folder, &[("abide.toml", "roots = [\"proto\"]\n")]);
    git(folder, &["rev-parse", "--short=10", "HEAD~2"])
}

#[test]
fn an_old_file_is_read_as_it_was_when_it_last_parsed() {
    let both = user(&[ID, NAME].concat());
    for (what, text) in broken() {
        for (now, rules) in [(&both, &[][..]), (&user(ID), &["field-removed"])] {
            let folder = tempfile::tempdir().unwrap();
            let parsed = mended(folder.path(), now, &text);
            let args = ["breaking", "git:HEAD", "--against", "git:HEAD~1", "--format", "json"];
            let ran = abide(folder.path(), &args);
            assert_eq!(ran.rules(), rules, "{what}: {}", ran.stderr);
            assert_eq!(ran.status, i32::from(!rules.is_empty()), "{what}: {}", ran.stderr);
            let note = format!("is read as it was in commit `{parsed}`: it does not parse: line ");
            assert!(ran.stderr.contains(&note), "{what}: {}", ran.stderr);
        }
    }
}

#[test]
fn an_old_file_without_a_history_is_unreadable() {
    for (what, text) in broken() {
        let folder = tempfile::tempdir().unwrap();
        let both = [ID, NAME].concat();
        put(
            folder.path(),
            &[
                (&format!("old/{USER}"), &*text),
                (&format!("new/{USER}"), &user(&both)),
                (&format!("old/{OTHER}"), &other(&both)),
                (&format!("new/{OTHER}"), &other(ID)),
            ],
        );
        let args = ["breaking", "new/proto", "--against", "old/proto", "--format", "json"];
        let ran = abide(folder.path(), &args);
        assert_eq!(ran.status, 2, "{what}: {}", ran.stderr);
        // What can be compared is.
        assert_eq!(
            found(&ran),
            [("field-removed".to_owned(), "acme/other/v1/other.proto".to_owned())]
        );
        let expected = "in the baseline, cannot read `acme/user/v1/user.proto`: it does not parse";
        assert!(ran.stderr.contains(expected), "{what}: {}", ran.stderr);
    }
}

#[test]
fn a_history_goes_on_as_after_a_damaged_object() {
    let rows = |ran: &Ran| -> Vec<String> {
        let rows = ran.json().into_iter().filter(|row| row["kind"] == "package");
        rows.map(|it| format!("{} {} {}", it["package"], it["verdict"], it["to"])).collect()
    };
    for (what, text) in broken() {
        let folder = tempfile::tempdir().unwrap();
        let both = user(&[ID, NAME].concat());
        mended(folder.path(), &both, &text);
        let ran = abide(folder.path(), &["history", "--format", "json"]);
        assert_eq!(
            rows(&ran),
            [r#""acme.user.v1" "compatible" "1.0.0""#],
            "{what}: {}",
            ran.text()
        );
        assert_eq!(ran.status, 2, "{what}: {}", ran.stderr);
        let expected = "cannot read `proto/acme/user/v1/user.proto`, so it counts as it was before: \
                        it does not parse: line ";
        assert!(ran.stderr.contains(expected), "{what}: {}", ran.stderr);
    }
}
