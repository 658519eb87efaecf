//! What packagers ship beside the binary: completions and manual pages. `cargo xtask packages`
//! tries them in more shells, and with the programs that read manuals.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// What bash offers for the last of these words.
fn completed(script: &Path, words: &[&str]) -> BTreeSet<String> {
    let lines = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                 _abide abide \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                 printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["--norc", "-c", lines, "bash"])
        .arg(script)
        .args(words)
        .output()
        .expect("bash starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{words:?}: {said}");
    let offers = String::from_utf8(output.stdout).unwrap();
    offers.lines().filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// The commands that the help lists.
fn commands(folder: &Path) -> Vec<String> {
    let help = abide(folder, &["--help"]).text();
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    // A description that goes on in the next line is indented further.
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    names.map(|(name, _)| name.to_owned()).filter(|it| !it.is_empty() && it != "help").collect()
}

#[test]
fn bash_completes_commands_options_values_and_rules() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("abide.bash");
    let name = script.to_string_lossy().into_owned();
    let ran = abide(folder.path(), &["completions", "bash", "--output", &name]);
    assert_eq!((ran.status, ran.text().as_str(), ran.stderr.as_str()), (0, "", ""));
    let set = |words: &[&str]| completed(&script, words);

    let offered = set(&["abide", ""]);
    for command in commands(folder.path()) {
        assert!(offered.contains(&command), "{command}: {offered:?}");
    }
    assert_eq!(set(&["abide", "brea"]), ["breaking".to_owned()].into());
    assert_eq!(set(&["abide", "check", "--bump"]), ["--bump-against".to_owned()].into());
    assert_eq!(set(&["abide", "check", "--format", "sar"]), ["sarif".to_owned()].into());
    assert_eq!(set(&["abide", "calendar", "sim"]), ["simulate".to_owned()].into());
    let rules = ["enum-value-removed".to_owned(), "enum-value-renamed".to_owned()];
    assert!(set(&["abide", "explain", "enum-value-re"]).is_superset(&rules.into()));
    assert_eq!(set(&["abide", "completions", "po"]), ["powershell".to_owned()].into());
    // Names of files, where a file is meant.
    put(folder.path(), &[("api.proto", "")]);
    let offered = completed(
        &script,
        &["abide", "check", "--config", &folder.path().join("api").to_string_lossy()],
    );
    assert_eq!(offered, [folder.path().join("api.proto").to_string_lossy().into_owned()].into());
}

#[test]
fn every_shell_has_completions_for_every_command() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let ran = abide(folder.path(), &["completions", shell]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{shell}");
        let script = ran.text();
        for command in commands(folder.path()) {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert_eq!(abide(folder.path(), &["completions", shell]).stdout, ran.stdout);
    }
    let ran = abide(folder.path(), &["completions", "csh"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("powershell"), "{}", ran.stderr);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = TempDir::new().unwrap();
    let ran = abide(folder.path(), &["man", "--out", "share/man1"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let mut expected: BTreeSet<String> =
        commands(folder.path()).iter().map(|name| format!("abide-{name}.1")).collect();
    let nested = [
        "abide.1",
        "abide-calendar-simulate.1",
        "abide-config-check.1",
        "abide-config-deprecations.1",
        "abide-config-diff.1",
        "abide-deps-check.1",
        "abide-deps-list.1",
        "abide-deps-update.1",
        "abide-deps-vendor.1",
        "abide-rules-test.1",
        "abide-runtime-show.1",
        "abide-plugin-buf.1",
        "abide-plugin-protoc.1",
        "abide-config-downgrade.1",
        "abide-config-upgrade.1",
    ];
    expected.extend(nested.map(str::to_owned));
    let entries = std::fs::read_dir(folder.path().join("share/man1")).unwrap();
    let written = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(expected, written);
    let told = ran.text().lines().map(|line| line.replace("wrote share/man1/", "")).collect();
    assert_eq!(expected, told);

    for name in &expected {
        let page = std::fs::read_to_string(folder.path().join("share/man1").join(name)).unwrap();
        let words = name.trim_end_matches(".1").replace('-', " ");
        let words: Vec<&str> = words.split(' ').skip(1).collect();
        let alone = abide(folder.path(), &[&["man"], &words[..]].concat());
        assert_eq!((alone.status, alone.text()), (0, page.clone()), "{name}");
        let title = format!(
            "\n.TH {} 1 \"\" \"abide {}\" Abide\n",
            name.trim_end_matches(".1"),
            env!("CARGO_PKG_VERSION")
        );
        assert!(page.replace(" \n", "\n").contains(&title), "{name}: {page}");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{name}: {section}");
        }
        let options = if words == ["calendar", "simulate"] { "\\-\\-notice" } else { "\\-\\-help" };
        assert!(page.contains(options), "{name}: {page}");
    }
    // An example is a line of its own, and a section ends the help.
    let check = abide(folder.path(), &["man", "check"]).text();
    let lines = [
        ".SH EXAMPLES\n.nf\n\\fBabide check ",
        "\n.SH SOURCES\n.nf\nDIR  ",
        "\n.SH \"EXIT STATUS\"\n0 if nothing is at error level, 1 if",
    ];
    for lines in lines {
        assert!(check.contains(lines), "{lines}: {check}");
    }
}

#[test]
fn a_page_of_no_command_is_refused() {
    let folder = TempDir::new().unwrap();
    for words in [&["man", "chekc"][..], &["man", "calendar", "chekc"]] {
        let ran = abide(folder.path(), words);
        assert_eq!((ran.status, ran.text().as_str()), (2, ""));
        assert!(ran.stderr.contains("there is no command `"), "{}", ran.stderr);
    }
    for words in [&["man", "check", "--out", "."][..], &["man", "--out", ".", "--output", "a.1"]] {
        assert_eq!(abide(folder.path(), words).status, 2, "{words:?}");
    }
    put(folder.path(), &[("file", "")]);
    let ran = abide(folder.path(), &["man", "--out", "file"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("cannot write `file"), "{}", ran.stderr);
}

#[test]
fn what_names_a_release_names_this_one() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, lines) in [
        ("pyproject.toml", &["version = \"{}\"", "dependencies = [\"abide-cli=={}\"]"][..]),
        ("README.md", &["  rev: v{}", "- run: pip install abide-cli=={}"]),
        ("crates/abide-cli/book/ci.md", &["  rev: v{}", "    - run: pip install abide-cli=={}"]),
        ("crates/abide-cli/CHANGELOG.md", &["## {} (unreleased)"]),
    ] {
        let text = std::fs::read_to_string(repository().join(file)).unwrap();
        for line in lines {
            let line = line.replace("{}", version);
            assert!(text.lines().any(|it| it == line), "{file} has no line `{line}`");
        }
    }
}
