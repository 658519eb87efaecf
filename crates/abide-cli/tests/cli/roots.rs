//! `roots` of `abide.toml` and `--root`.

use tempfile::TempDir;

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
