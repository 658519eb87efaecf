//! The presets that bear the names of buf's categories refuse what these categories refuse.
//!
//! Every file of `testdata/breaking/verdicts` holds pairs of trees behind lines `== NAME: CATEGORIES`,
//! with the categories of buf that refuse the change, or `-`. Below follow files behind lines
//! `-- PATH --`: a line that begins with `-` is of the old side, one with `+` of the new side, and
//! all others are of both. A side without any line of a file does not have it.
//! `cargo xtask oracle --only breaking` asks buf again.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Config, Options, Preset, RuleScope, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::date;

/// The categories of buf with the presets that bear their names.
const CATEGORIES: &[(&str, Preset)] = &[
    ("FILE", Preset::BufFile),
    ("PACKAGE", Preset::BufPackage),
    ("WIRE_JSON", Preset::BufWireJson),
    ("WIRE", Preset::BufWire),
];

/// The lines of one side of a pair, as a tree.
fn side(pair: &str, other: char) -> Tree {
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut path = "";
    for line in pair.lines().skip(1) {
        if let Some(next) = line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --")) {
            path = next;
        } else if !line.is_empty() && !line.starts_with(other) {
            if files.last().is_none_or(|it| it.0 != path) {
                files.push((path, String::new()));
            }
            let text = files.last_mut().map(|it| &mut it.1).expect("one was just pushed");
            let _ = writeln!(text, "{}", line.get(1..).unwrap_or_default());
        }
    }
    let parse = |(path, text): (&str, String)| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.into_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(files.into_iter().map(parse).collect());
    let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{pair}");
    tree
}

#[test]
fn presets_of_buf_refuse_what_buf_refuses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/breaking/verdicts");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .expect("the folder is readable");
    paths.sort();
    let policies: Vec<_> = CATEGORIES
        .iter()
        .map(|(category, preset)| (*category, Config::of_preset(*preset).policy))
        .collect();
    let (mut verdicts, mut differences) = (0, Vec::new());
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("the file is readable");
        for pair in format!("\n{text}").split("\n== ").skip(1) {
            let head = pair.lines().next().unwrap_or_default();
            let (name, refusing) = head.split_once(": ").expect("a name, then the categories");
            let (old, new) = (side(pair, '+'), side(pair, '-'));
            for (category, policy) in &policies {
                let options = Options {
                    baseline: Some(&old),
                    scope: RuleScope::Changes,
                    ..Options::on(date(2026, 1, 15))
                };
                let found = check(&new, policy, options);
                verdicts += 1;
                if (found.errors > 0) != refusing.split(' ').any(|it| it == *category) {
                    let findings = found.findings.iter().map(|it| it.message.as_str());
                    let findings = findings.collect::<Vec<_>>().join("; ");
                    differences.push(format!("{name}: {category}: {findings}"));
                }
            }
        }
    }
    assert!(verdicts > 1000, "only {verdicts} verdicts are recorded");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
