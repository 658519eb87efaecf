//! Every format on shared trees, compared with the goldens in `testdata/cli`.

use crate::run::{abide, repository};

/// Compares with a golden; `SNAPSHOTS=overwrite` records it anew.
fn golden(name: &str, actual: &[u8]) {
    let path = repository().join("testdata/cli").join(name);
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(&path, actual).unwrap();
    }
    let wanted = std::fs::read(&path).unwrap_or_default();
    assert!(
        wanted == actual,
        "testdata/cli/{name} differs; `SNAPSHOTS=overwrite cargo test` records this:\n{}",
        String::from_utf8_lossy(actual)
    );
}

const FORMATS: [(&str, &[&str]); 9] = [
    ("txt", &[]),
    ("color.txt", &["--color", "always"]),
    ("verbose.txt", &["--verbose"]),
    ("json", &["--format", "json"]),
    ("sarif", &["--format", "sarif"]),
    ("junit", &["--format", "junit"]),
    ("github", &["--format", "github"]),
    ("gitlab", &["--format", "gitlab"]),
    ("html", &["--format", "html"]),
];

/// A report without the parts that all reports share: the pages of rules (`formats` checks that they
/// are there), styles and scripts.
fn own(suffix: &str, report: Vec<u8>) -> Vec<u8> {
    match suffix {
        "sarif" => {
            let mut log: serde_json::Value = serde_json::from_slice(&report).unwrap();
            let rules = &mut log["runs"][0]["tool"]["driver"]["rules"];
            for rule in rules.as_array_mut().unwrap() {
                rule.as_object_mut().unwrap().shift_remove("help").unwrap();
            }
            format!("{log:#}\n").into_bytes()
        }
        "html" => {
            let text = String::from_utf8(report).unwrap();
            let (_, body) = text.split_once("<body>\n").unwrap();
            body.split_once("<script>").unwrap().0.into()
        }
        _ => report,
    }
}

/// Returns true for the notes about these trees.
fn is_expected(note: &str) -> bool {
    note.ends_with("`acme/torn/v1/torn.proto` does not parse")
        || note.starts_with("note: there is no abide.toml")
}

fn every_format(tree: &str, name: &str, status: i32) {
    for (suffix, args) in FORMATS {
        let mut all = vec!["check", tree, "--as-of", "2026-01-15", "-I", "testdata/cli/imports"];
        all.extend(args);
        let ran = abide(&repository(), &all);
        assert_eq!(ran.status, status, "{}", ran.stderr);
        let verbose = args.contains(&"--verbose");
        assert!(verbose || ran.stderr.lines().all(is_expected), "{}", ran.stderr);
        golden(&format!("{name}.{suffix}"), &own(suffix, ran.stdout));
    }
}

/// Paths over several files, notes, warnings, waivers good and bad, findings in `abide.toml` and
/// `abide.accepted`, errors of linking, and text that no terminal may obey.
#[test]
fn findings_of_every_shape() {
    every_format("testdata/cli/shapes", "shapes", 1);
}

/// A file that does not parse, beside files of its package and of another one.
#[test]
fn a_file_that_does_not_parse() {
    every_format("testdata/cli/unparsed", "unparsed", 1);
}

/// The tree of the README.
#[test]
fn the_acme_tree() {
    every_format("testdata/trees/acme", "acme", 1);
}

/// Changes of every surface, and an alpha that may change.
#[test]
fn changes_between_two_trees() {
    let more = [
        ("md", ["--format", "markdown"].as_slice()),
        ("comment", ["--format", "comment"].as_slice()),
        ("dotenv", ["--format", "dotenv"].as_slice()),
    ];
    for (suffix, args) in FORMATS.into_iter().chain(more) {
        let mut all = vec!["breaking", "testdata/cli/changes/new", "--as-of", "2026-01-15"];
        all.extend(["--against", "testdata/cli/changes/old", "--changes"]);
        all.extend(["-I", "testdata/imports"]);
        all.extend(args);
        let ran = abide(&repository(), &all);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let verbose = args.contains(&"--verbose");
        assert!(verbose || ran.stderr.lines().all(is_expected), "{}", ran.stderr);
        golden(&format!("changes.{suffix}"), &own(suffix, ran.stdout));
    }
}

#[test]
fn a_quiet_run_shows_errors_alone() {
    let ran = abide(&repository(), &["check", "testdata/cli/shapes", "-q"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let text = ran.text();
    assert!(text.contains("error[") && !text.contains("warning[") && !text.contains("note["));
    assert!(!text.contains(" files in "));
}

#[test]
fn drawings_of_the_acme_tree() {
    for format in ["dot", "mermaid", "json", "svg"] {
        let args = ["graph", "testdata/trees/acme", "--format", format];
        let ran = abide(&repository(), &args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        golden(&format!("acme.graph.{format}"), &ran.stdout);
    }
}

#[test]
fn hashes_of_the_acme_tree() {
    let args = ["hash", "testdata/trees/acme"];
    let more: [(&str, &[&str]); 4] = [
        ("txt", &[]),
        ("package.txt", &["--package", "acme.order.v1"]),
        ("json", &["--format", "json"]),
        ("facts", &["--facts", "acme.order.v1"]),
    ];
    for (suffix, more) in more {
        let ran = abide(&repository(), &[&args[..], more].concat());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        golden(&format!("acme.hash.{suffix}"), &ran.stdout);
    }
}

#[test]
fn help_for_every_command() {
    let commands = [
        "",
        "check",
        "lint",
        "breaking",
        "bump",
        "graph",
        "build",
        "hash",
        "explain",
        "rules",
        "init",
        "upgrade",
        "release",
        "history",
        "deprecations",
        "calendar",
        "calendar simulate",
        "owners",
        "deps",
        "deps list",
        "deps vendor",
        "deps update",
        "deps check",
        "lsp",
        "plugin",
    ];
    let mut all = String::new();
    for command in commands {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let ran = abide(&repository(), &args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        all += &format!("$ abide {}\n{}\n", args.join(" "), ran.text());
    }
    golden("help.txt", all.as_bytes());
}

#[test]
fn the_readme_shows_what_is_printed() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
    let printed = read("testdata/cli/acme.txt");
    assert!(read("README.md").contains(printed.trim_end()), "README.md differs from acme.txt");
}
