//! Every defect of an `abide.toml` is reported, at its place.
#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

use std::path::Path;

use abide_lint::{Config, ConfigTexts, FindingScope, Preset, RULES, Severity};
use abide_syntax::LineIndex;

mod markers;

use markers::{Expected, compare, markers};

#[test]
fn fixtures_report_what_they_mark() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/config");
    let mut complaints = String::new();
    let mut marked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        let lines = LineIndex::new(text.as_bytes());
        let errors = Config::parse(&text, None).err().unwrap_or_default();
        let found = errors.into_iter().map(|error| {
            let start = lines.position(text.as_bytes(), error.span.start);
            let end = lines.position(text.as_bytes(), error.span.end);
            let help = error.help.map(|help| format!(" ({help})")).unwrap_or_default();
            Expected {
                path: name.clone(),
                line: start.line,
                column: start.column,
                // An empty span is marked by one caret.
                end: (start.line == end.line).then_some(end.column.max(start.column + 1)),
                severity: "error".to_owned(),
                message: error.message + &help,
            }
        });
        let expected = markers(&name, &text, "#");
        marked += expected.len();
        complaints += &compare(expected, found.collect());
    }
    assert!(complaints.is_empty() && marked > 0, "{marked} markers\n{complaints}");
}

#[test]
fn presets_are_configurations_without_defects() {
    for preset in Preset::ALL {
        Config::parse(preset.text(), Some(*preset)).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(Preset::find(preset.name()), Some(*preset));
    }
}

#[test]
fn later_and_narrower_severities_win() {
    let text = r#"
        [rules]
        layout = "note"
        major-gap = "off"

        [[override]]
        packages = ["acme.*"]
        stability = "alpha"
        rules = { layout = "warning", major-gap = "error" }

        [[override]]
        packages = "acme.old.*"
        rules = { package-spread = "off" }
    "#;
    let policy = Config::parse(text, None).expect("it is well-formed").policy;
    let of = |rule: &str, package: &str| {
        let rule = RULES.iter().find(|it| it.id == rule).expect("the rule exists");
        let scope = FindingScope { package, path: None, aliases: rule.aliases };
        policy.severity(rule.defaults(), scope, None)
    };
    let spread = |package| of("package-spread", package).0;
    assert_eq!(spread("acme.user.v1"), Some(Severity::Note));
    assert_eq!(spread("acme.user.v1alpha"), Some(Severity::Warning));
    assert_eq!(spread("acme.old.user.v1alpha"), None);
    let (severity, reason) = of("major-gap", "acme.user.v1alpha");
    assert_eq!(severity, Some(Severity::Error));
    let reason = reason.expect("an override decided");
    assert_eq!(reason, "the `[[override]]` for alpha in `acme.*` in `abide.toml`");
    assert_eq!(
        of("major-gap", "acme.user.v1"),
        (None, Some("`[rules] major-gap` in `abide.toml`".to_owned()))
    );
    assert_eq!(of("import-not-found", "acme.user.v1"), (Some(Severity::Error), None));
}

#[test]
fn the_reference_of_keys_is_an_abide_toml() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/presets/README.md");
    let page = std::fs::read_to_string(page).expect("the file is readable");
    let toml = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut texts = ConfigTexts::new("abide.toml", toml.expect("it has a block"));
    texts.allow_missing_bases();
    let config = Config::read_files(&texts, None);
    let policy = config.unwrap_or_else(|it| panic!("{it:?}")).policy;
    assert_eq!(policy.calendar.alpha_max_months, Some(12));
}

/// The level of a finding about a message in a file, if buf reports it too.
fn level_of(text: &str, rule: &str, alias: &'static str, path: &str) -> Option<Severity> {
    let policy = Config::parse(text, None).unwrap_or_else(|it| panic!("{it:?}")).policy;
    let rule = RULES.iter().find(|it| it.id == rule).expect("the rule exists");
    let scope = FindingScope { package: "acme.user.v1", path: Some(path), aliases: &[alias] };
    policy.severity(rule.defaults(), scope, None).0
}

#[test]
fn a_rule_of_another_tool_is_switched_by_its_name_and_by_its_category() {
    let of = |text: &str| level_of(text, "type-name-case", "buf:MESSAGE_PASCAL_CASE", "a/b.proto");
    let (warning, error) = (Some(Severity::Warning), Some(Severity::Error));
    assert_eq!(of("[rules]\n"), None);
    assert_eq!(of("[rules]\n\"buf:BASIC\" = \"error\"\n"), error);
    assert_eq!(of("[rules]\n\"buf:MINIMAL\" = \"error\"\n"), None);
    // The more a key says, the more it counts, in any order.
    assert_eq!(of("[rules]\n\"buf:BASIC\" = \"off\"\n\"buf:STANDARD\" = \"error\"\n"), None);
    let one = "[rules]\n\"buf:MESSAGE_PASCAL_CASE\" = \"warning\"\n\"buf:STANDARD\" = \"off\"\n";
    assert_eq!(of(one), warning);
    assert_eq!(
        of("[rules]\n\"buf:STANDARD\" = \"error\"\ntype-name-case = \"warning\"\n"),
        warning
    );
    assert_eq!(of("[rules]\n\"buf:STANDARD\" = \"error\"\nstyle = \"off\"\n"), error);
}

#[test]
fn an_override_holds_for_files_and_folders() {
    let part = |files: &str| {
        format!(
            "[rules]\n\"buf:STANDARD\" = \"error\"\n[[override]]\nfiles = {files}\n\
             rules = {{ \"buf:STANDARD\" = \"off\" }}\n"
        )
    };
    let of = |files: &str| {
        let alias = "buf:MESSAGE_PASCAL_CASE";
        level_of(&part(files), "type-name-case", alias, "proto/acme/user.proto").is_none()
    };
    for files in ["\"proto/acme/user.proto\"", "[\"x\", \"./proto/acme/\"]", "\".\""] {
        assert!(of(files), "{files}");
    }
    for files in ["\"proto/acme/use\"", "\"acme\"", "\"proto/acme/user.proto/x\""] {
        assert!(!of(files), "{files}");
    }
}

#[test]
fn a_rule_of_another_tool_that_nobody_knows_is_refused() {
    for level in ["off", "note", "error"] {
        let text = format!("[rules]\n\"buf:FIELD_SAME_NAME\" = \"{level}\"\n");
        assert!(Config::parse(&text, None).is_ok(), "{level}");
    }
    for (key, help) in [
        ("buf:FIELD_SAME_NAM", "buf:FIELD_SAME_NAME"),
        ("buf:MESSAGE_PASCAL_CAS", "buf:MESSAGE_PASCAL_CASE"),
        ("buf:STANDART", "buf:STANDARD"),
    ] {
        let text = format!("[rules]\n\"{key}\" = \"error\"\n");
        let errors = Config::parse(&text, None).expect_err("it is wrong");
        let told = errors[0].help.as_deref().unwrap_or_default();
        assert!(errors.len() == 1 && told.contains(help), "{errors:?}");
    }
}

/// The keys of each table are declared beside the code that reads them.
#[test]
fn the_reference_of_keys_has_every_key() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let page = std::fs::read_to_string(source.join("presets/README.md"));
    let page = page.expect("the file is readable");
    let names = |line: &str| -> Vec<String> {
        let line = line.split('#').next().unwrap_or_default();
        let key = if line.starts_with('[') { line } else { line.split('=').next().unwrap_or(line) };
        let word = |it: char| it.is_alphanumeric() || it == '-';
        key.split(|it: char| !word(it)).map(str::to_owned).collect()
    };
    let shown: Vec<String> = page.lines().flat_map(names).collect();
    let mut declared = 0;
    let folder = std::fs::read_dir(source.join("config")).expect("the folder is readable");
    let modules = folder.map(|entry| entry.expect("the folder is readable").path());
    for module in modules.chain([source.join("config.rs")]) {
        let text = std::fs::read_to_string(&module).expect("the file is readable");
        for list in text.split("KEYS: &[&str] =").skip(1) {
            let list = list.split("];").next().unwrap_or_default();
            for key in list.split('"').skip(1).step_by(2) {
                assert!(
                    shown.iter().any(|it| it == key),
                    "presets/README.md does not show `{key}`"
                );
                declared += 1;
            }
        }
    }
    assert!(declared > 50, "only {declared} keys were found");
}

#[test]
fn every_alias_of_a_change_can_be_named() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![source.join("checks/full_names.rs"), source.join("finding/aliases.rs")];
    let rules = std::fs::read_dir(source.join("rules")).expect("the folder is readable");
    files.extend(rules.map(|entry| entry.expect("the folder is readable").path()));
    let mut known = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        let text = std::fs::read_to_string(path).expect("the file is readable");
        let is_alias = |it: &&str| {
            let tools = ["buf:", "google:", "protolock:"];
            tools.iter().any(|tool| it.strip_prefix(tool).is_some_and(|rest| !rest.is_empty()))
        };
        for alias in text.split('"').skip(1).step_by(2).filter(is_alias) {
            let of_trees = RULES.iter().filter(|rule| !rule.needs_baseline());
            if of_trees.into_iter().any(|rule| rule.all_aliases().any(|it| it == alias)) {
                continue;
            }
            let config = Config::parse(&format!("[breaking]\naliases = \"{alias}\""), None);
            assert!(config.is_ok(), "{}: {config:?}", path.display());
            known += 1;
        }
    }
    assert!(known > 0, "no alias was found");
}
