//! Copies of one package in several roots: each has its own dependents.

use tempfile::TempDir;

use crate::history::git;
use crate::run::{abide, put};

const COMMON: &str = "syntax = \"proto3\";\npackage acme.common.v1;\nmessage Common {\n  string a = 1;\n  \
                      string b = 2;\n}\nenum Kind {\n  KIND_UNSPECIFIED = 0;\n  KIND_ONE = 1;\n}\n";

fn user(name: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage acme.{name}.v1;\nimport \"acme/common/v1/common.proto\";\n\
         message User {{\n  acme.common.v1.Common common = 1;\n  acme.common.v1.Kind kind = 2;\n}}\n"
    )
}

/// A repository with two services that have a copy each of the common package.
fn services() -> TempDir {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    put(top, &[("abide.toml", "roots = [\"one\", \"two\"]\nagainst = \"git:HEAD\"\n")]);
    for name in ["one", "two"] {
        put(
            top,
            &[
                (&format!("{name}/acme/common/v1/common.proto"), COMMON),
                (&format!("{name}/acme/{name}/v1/{name}.proto"), &user(name)),
            ],
        );
    }
    git(top, &["add", "."]);
    git(top, &["commit", "--quiet", "-m", "first"]);
    folder
}

#[test]
fn a_break_reaches_those_who_use_the_copy_that_changed() {
    for (root, other) in [("one", "two"), ("two", "one")] {
        for (was, is) in [
            ("  string b = 2;\n", ""),
            ("message Common {\n  string a = 1;\n  string b = 2;\n}\n", ""),
            ("message Common", "message Shared"),
        ] {
            let folder = services();
            let path = format!("{root}/acme/common/v1/common.proto");
            put(folder.path(), &[(&path, &COMMON.replace(was, is))]);
            let ran = abide(folder.path(), &["check"]);
            let reached: Vec<_> = ran.text().lines().map(str::to_owned).collect();
            let reached: Vec<_> = reached.iter().filter(|it| it.contains("= reaches:")).collect();
            assert!(!reached.is_empty(), "{root} {was:?}: {}", ran.text());
            for line in reached {
                assert!(line.contains(&format!("`acme.{root}.v1`")), "{root} {was:?}: {line}");
                assert!(!line.contains(&format!("`acme.{other}.v1`")), "{root} {was:?}: {line}");
            }
        }
    }
}

#[test]
fn copies_that_came_apart_are_noted() {
    let folder = services();
    let top = folder.path();
    let said = "two copies of one file have come apart: `two/acme/common/v1/common.proto` differs from \
                `one/acme/common/v1/common.proto`";
    for command in ["lint", "check"] {
        let ran = abide(top, &[command]);
        assert!(!ran.stderr.contains("come apart"), "{}", ran.stderr);
    }
    // Comments mean nothing.
    put(top, &[("one/acme/common/v1/common.proto", &format!("// Common.\n{COMMON}"))]);
    assert!(!abide(top, &["lint"]).stderr.contains("come apart"));
    put(top, &[("two/acme/common/v1/common.proto", &COMMON.replace("string b", "string c"))]);
    for command in ["lint", "check"] {
        let ran = abide(top, &[command]);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    // What is hashed together is said to be.
    let ran = abide(top, &["hash", "--package", "acme.common.v1"]);
    for title in ["package acme.common.v1", "message acme.common.v1.Common"] {
        let line = format!("{title} (in one and two together)\n");
        assert!(ran.text().contains(&line), "{}", ran.text());
    }
    assert!(abide(top, &["hash", "--package", "acme.one.v1"]).text().contains("acme.one.v1\n"));
}
