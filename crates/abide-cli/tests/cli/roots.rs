//! `roots` of `abide.toml` and `--root`.

use tempfile::TempDir;

use crate::history::git;
use crate::run::{abide, put};

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string mail = 1;\n}\n";

fn tree(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("proto/acme/user/v1/user.proto", USER), ("abide.toml", config)]);
    folder
}

#[test]
fn a_root_that_does_not_exist_is_shown_in_abide_toml() {
    for (config, place, said) in [
        ("roots = [\"prto\"]\n", "1:10", "did you mean `proto`?"),
        ("# Ours.\nroots = [\"proto\", \"api\"]\n", "2:19", "create the folder, or remove it"),
        ("roots = [\"../proto\"]\n", "1:10", "is not inside the folder of abide.toml"),
        ("roots = [\"abide.toml\"]\n", "1:10", "the root `abide.toml` does not exist"),
    ] {
        let folder = tree(config);
        for command in ["check", "lint", "hash"] {
            let ran = abide(folder.path(), &[command]);
            assert_eq!(ran.status, 2, "{config}");
            let at = format!("abide.toml:{place}");
            assert!(ran.stderr.contains(&at) && ran.stderr.contains(said), "{}", ran.stderr);
        }
    }
}

#[test]
fn roots_of_the_command_line_replace_those_of_abide_toml() {
    let layout = "[rules]\npackage-path-mismatch = \"error\"\n";
    for config in [format!("roots = [\"gone\"]\n{layout}"), layout.to_owned()] {
        let folder = tree(&config);
        let ran = abide(folder.path(), &["check", "-q", "--root", "proto"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
        // They count from the current folder.
        let below = folder.path().join("proto");
        let ran = abide(&below, &["check", "-q", "--root", "."]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    }
    let folder = tree(layout);
    assert_eq!(abide(folder.path(), &["check", "-q"]).status, 1, "it begins in `proto`");
    for (root, said) in [("gone", "`gone`"), ("..", "is not inside the folder")] {
        let ran = abide(folder.path(), &["check", "-q", "--root", root]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn roots_hold_without_a_configuration_and_in_the_old_tree() {
    let folder = TempDir::new().unwrap();
    let used = "syntax = \"proto3\";\npackage acme.a.v1;\nimport \"acme/user/v1/user.proto\";\n\
                message A {\n  acme.user.v1.User user = 1;\n}\n";
    put(folder.path(), &[("one/acme/user/v1/user.proto", USER), ("two/acme/a/v1/a.proto", used)]);
    put(
        folder.path(),
        &[
            ("old/one/acme/user/v1/user.proto", USER),
            ("old/two/acme/a/v1/a.proto", &used.replace("user = 1", "user = 2")),
        ],
    );
    let args = ["check", "-q", "--root", "one", "--root", "two"];
    let ran = abide(folder.path(), &args);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    let ran =
        abide(folder.path(), &[&args[..], &["--against", "old", "--format", "json"]].concat());
    assert_eq!(ran.rules(), ["field-number-changed"], "{}{}", ran.text(), ran.stderr);
}

/// A repository whose only commit has the user below `was`, and whose working tree has it with
/// another type below `api`.
fn moved(was: &str, configured: Option<&str>) -> TempDir {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    put(folder.path(), &[(&format!("{was}acme/user/v1/user.proto"), USER)]);
    if let Some(config) = configured {
        put(folder.path(), &[("abide.toml", config)]);
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message", "first"]);
    let top = if was.is_empty() { "acme" } else { "proto" };
    std::fs::remove_dir_all(folder.path().join(top)).unwrap();
    put(
        folder.path(),
        &[
            ("api/acme/user/v1/user.proto", &USER.replace("string mail", "bytes mail")),
            ("abide.toml", "roots = [\"api\"]\n"),
        ],
    );
    folder
}

#[test]
fn a_root_that_had_another_name_is_compared_with_what_it_was() {
    for (was, configured) in [
        ("proto/", "roots = [\"proto\"]\n"),
        ("proto/src/", "roots = [\"./proto/src/\"]\n"),
        // The tree was the whole folder.
        ("", "[rules]\na-rule-of-long-ago = \"off\"\n"),
    ] {
        let folder = moved(was, Some(configured));
        for part in [None, Some("api"), Some("api/acme"), Some("api/acme/user/v1/user.proto")] {
            let args = ["check", "--against", "git:HEAD", "--format", "json"];
            let ran = abide(folder.path(), &[&args[..1], part.as_slice(), &args[1..]].concat());
            assert_eq!(
                ran.rules(),
                ["field-type-changed"],
                "{was} {part:?}: {}{}",
                ran.text(),
                ran.stderr
            );
        }
        let ran = abide(
            folder.path(),
            &["check", "--changed", "--against", "git:HEAD", "--format", "json"],
        );
        assert_eq!(ran.rules(), ["field-type-changed"], "{was}: {}{}", ran.text(), ran.stderr);
    }
    // Nothing says that this is the same root.
    for configured in [None, Some("roots = [\"proto\", \"more\"]\n")] {
        let folder = moved("proto/", configured);
        let ran = abide(folder.path(), &["check", "--against", "git:HEAD"]);
        assert_eq!(ran.status, 0, "{}", ran.text());
        let advice = "so everything counts as new; if they were in another folder, name it: \
                      `git:HEAD:DIR`";
        assert!(ran.stderr.contains(advice), "{}", ran.stderr);
        let args = ["check", "--against", "git:HEAD:proto", "--format", "json"];
        assert_eq!(abide(folder.path(), &args).rules(), ["field-type-changed"]);
    }
}
