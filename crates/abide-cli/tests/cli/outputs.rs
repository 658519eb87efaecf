//! What is written by name replaces no source.

use std::fs;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// A tree with everything that a typo could hit.
fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!(
        "import-paths = [{api:?}]\n[[instances]]\nfiles = [\"conf/*.yaml\"]\ntype = \"acme.user.v1.User\"\n"
    );
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            ("own.toml", "preset = \"standard\"\n"),
            (
                "acme/user/v1/user.proto",
                "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n}\n",
            ),
            ("conf/ada.yaml", "name: Ada\n"),
            ("mapping.json", "{}\n"),
        ],
    );
    for args in [&["build", "-o", "set.binpb"][..], &["bump", "--write"], &["check", "--accept"]] {
        assert_eq!(abide(folder.path(), args).status, 0, "{args:?}");
    }
    assert_eq!(abide(folder.path(), &["build", "-o", "set.json"]).status, 0);
    folder
}

#[test]
fn no_output_replaces_a_source() {
    let folder = tree();
    let cases: &[(&[&str], &str)] = &[
        (&["build", "-o"], "acme/user/v1/user.proto"),
        (&["build", "--output"], "acme/user/v1/user.proto"),
        (&["build", "-o"], "abide.toml"),
        (&["build", "set.json", "-o"], "set.json"),
        (&["build", "set.binpb", "-o"], "./set.binpb"),
        (&["check", "--output"], "abide.lock"),
        (&["check", "--output"], "abide.accepted"),
        (&["check", "--output"], "set.binpb"),
        (&["check", "--output"], "conf/ada.yaml"),
        (&["check", "--against", "set.json", "--output"], "set.json"),
        (&["check", "--config", "own.toml", "--output"], "own.toml"),
        (&["lint", "set.json", "--output"], "set.json"),
        (&["breaking", "--against", "set.json", "--output"], "set.json"),
        (&["graph", "--output"], "acme/user/v1/user.proto"),
        (&["hash", "--output"], "acme/user/v1/user.proto"),
        (&["rules", "--output"], "abide.toml"),
        (&["upgrade", "--check", "--mapping"], "acme/user/v1/user.proto"),
        (&["upgrade", "set.json", "--mapping"], "set.json"),
        (&["config", "check", "--output"], "conf/ada.yaml"),
        (&["config", "check", "conf", "--type", "acme.user.v1.User", "--output"], "conf/ada.yaml"),
        (&["config", "diff", "conf/ada.yaml", "conf/ada.yaml", "--output"], "conf/ada.yaml"),
        (&["config", "upgrade", "conf/ada.yaml", "--out"], "acme/user/v1/user.proto"),
        (
            &[
                "config",
                "upgrade",
                "conf/ada.yaml",
                "--mapping",
                "mapping.json",
                "--check",
                "--output",
            ],
            "mapping.json",
        ),
        (&["completions", "bash", "--output"], "abide.toml"),
    ];
    for (args, output) in cases {
        let before = fs::read(folder.path().join(output)).unwrap();
        let args = [args, &[*output][..]].concat();
        let ran = abide(folder.path(), &args);
        assert_eq!(ran.status, 2, "`abide {}`: {}", args.join(" "), ran.stderr);
        let says_why =
            ["names a source", "would overwrite"].iter().any(|it| ran.stderr.contains(it));
        assert!(says_why, "`abide {}`: {}", args.join(" "), ran.stderr);
        assert_eq!(fs::read(folder.path().join(output)).unwrap(), before, "{args:?}");
    }
}

#[test]
fn an_output_is_written_again() {
    let folder = tree();
    for args in [
        &["build", "-o", "out.binpb"][..],
        &["build", "--output", "out.json"],
        &["check", "--format", "json", "--output", "report.json"],
        &["deprecations", "--format", "markdown", "--output", "DEPRECATED.md"],
        &["graph", "--output", "graph.svg"],
        &["upgrade", "--check", "--mapping", "new.binpb"],
    ] {
        for _ in 0..2 {
            let ran = abide(folder.path(), args);
            assert_eq!(ran.status, 0, "`abide {}`: {}", args.join(" "), ran.stderr);
        }
    }
}
