//! Check plugins of buf, run by Abide: ours as a plugin of itself, and programs that misbehave.

use std::path::Path;

use tempfile::TempDir;

use crate::run::{abide, put, put_program};

/// A file with two defects that our own plugin reports.
const USER: &str =
    "syntax = \"proto3\";\npackage acme.user;\nmessage User {\n  string name = 1;\n}\n";

/// A tree with a plugin: the program `plugin` in its folder.
fn world(program: &str, more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let config =
        format!("[rules]\npackage-version-missing = \"off\"\n[[plugin]]\n{program}\n{more}");
    put(folder.path(), &[("abide.toml", &config), ("acme/user/user.proto", USER)]);
    folder
}

/// The settings of our own program as a plugin.
fn ours() -> String {
    format!("path = {:?}\nname = \"self\"", env!("CARGO_BIN_EXE_buf-plugin-abide"))
}

fn lint(folder: &Path) -> crate::run::Ran {
    abide(folder, &["lint", "--allow-plugins", "--format", "json"])
}

#[test]
fn a_plugin_reports_at_its_places_and_under_its_rules() {
    let folder = world(&ours(), "rules = [\"ABIDE_PACKAGE_VERSION_MISSING\"]\n");
    let ran = lint(folder.path());
    let lines = ran.json();
    let [finding, _] = lines.as_slice() else { panic!("{} {}", ran.text(), ran.stderr) };
    assert_eq!(finding["rule"], "self/ABIDE_PACKAGE_VERSION_MISSING");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["path"], "acme/user/user.proto");
    assert_eq!(finding["start"]["line"], 2);
    assert_eq!(ran.status, 1);
}

#[test]
fn settings_and_waivers_name_the_rules_of_a_plugin() {
    let rules = "rules = [\"ABIDE_PACKAGE_VERSION_MISSING\"]\n";
    let folder = world(&ours(), &format!("{rules}severity = \"warning\"\n"));
    assert_eq!(
        (lint(folder.path()).status, lint(folder.path()).json()[0]["severity"].clone()),
        (0, "warning".into())
    );
    let off = format!(
        "[rules]\n\"self/ABIDE_PACKAGE_VERSION_MISSING\" = \"off\"\n[[plugin]]\n{}\n{rules}",
        ours()
    );
    put(
        folder.path(),
        &[(
            "abide.toml",
            &format!(
                "{off}[[override]]\npackages = [\"acme.**\"]\nrules = {{ package-version-missing = \"off\" }}\n"
            ),
        )],
    );
    assert_eq!(lint(folder.path()).rules(), Vec::<String>::new());
    let folder = world(&ours(), rules);
    let waived = USER.replace(
        "package",
        "// abide:allow(self/ABIDE_PACKAGE_VERSION_MISSING): it is old\npackage",
    );
    put(folder.path(), &[("acme/user/user.proto", &waived)]);
    let ran = lint(folder.path());
    assert!(ran.rules().is_empty(), "{}", ran.text());
    let except = format!("except = [\"ABIDE_PACKAGE_VERSION_MISSING\"]\n{rules}");
    let folder = world(&ours(), &except);
    assert!(lint(folder.path()).rules().is_empty());
}

#[test]
fn no_plugin_runs_unless_somebody_allows_it() {
    let folder = TempDir::new().unwrap();
    let config = "[[plugin]]\npath = \"./plugin\"\n";
    put(
        folder.path(),
        &[
            ("abide.toml", config),
            ("acme/user/v1/user.proto", "syntax = \"proto3\";\npackage acme.user.v1;\n"),
        ],
    );
    put_program(folder.path(), "plugin", "#!/bin/sh\ntouch started\necho 1\n");
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 2, "{}", ran.text());
    assert!(ran.stderr.contains("--allow-plugins"), "{}", ran.stderr);
    assert!(!folder.path().join("started").exists(), "it was started");
}

#[test]
fn a_plugin_that_misbehaves_is_one_error_and_loses_nothing_of_the_rest() {
    for (script, said) in [
        ("#!/bin/sh\necho oops >&2\nexit 3\n", "oops"),
        ("#!/bin/sh\nkill -9 $$\n", "signal"),
        ("#!/bin/sh\necho 7\n", "`--protocol` says `7`"),
        ("#!/bin/sh\ncase $1 in --protocol) echo 1;; *) echo garbage;; esac\n", "PluginRPC"),
        ("#!/bin/sh\ncase $1 in --protocol) echo 1;; *) yes | head -c 80000000;; esac\n", "MiB"),
        ("not a program", "cannot be started"),
    ] {
        let folder = world("path = \"./plugin\"", "");
        put_program(folder.path(), "plugin", script);
        let text = USER.replace("string name", "strin name");
        put(folder.path(), &[("acme/user/user.proto", &text)]);
        let ran = lint(folder.path());
        assert_eq!(ran.status, 2, "{script}: {}", ran.text());
        assert!(ran.stderr.contains(said), "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains("plugin `plugin`"), "{script}: {}", ran.stderr);
        assert_eq!(ran.rules(), ["name-not-found"], "{script}");
    }
}

#[test]
fn a_rule_that_a_plugin_does_not_have_is_an_error_that_names_those_it_has() {
    let folder = world(&ours(), "rules = [\"ABIDE_PACKAGE_VERSION_MISING\"]\n");
    let ran = lint(folder.path());
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("it has no rule or category `ABIDE_PACKAGE_VERSION_MISING`"),
        "{}",
        ran.stderr
    );
}
