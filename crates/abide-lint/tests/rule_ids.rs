//! The id of a rule is written in the file of the rule alone: who has to know the rule names its
//! module, so that a rule that goes or gets another id cannot be forgotten anywhere.

#![allow(clippy::disallowed_methods, reason = "the test reads the sources")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use abide_lint::{RULES, find_rule};
use abide_schema::ProblemKind;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// What stands between two quotes and could be an id.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('"').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|it: char| !matches!(it, 'a'..='z' | '0'..='9' | '-'))?;
        rest[end..].starts_with('"').then_some(&rest[..end])
    })
}

#[test]
fn a_rule_alone_writes_its_id() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the folder is readable") {
        let folder = entry.expect("the folder is readable").path();
        // What compares Abide with other programs names the rules that it expects.
        let compares = ["abide-bench", "abide-oracle"].iter().any(|it| folder.ends_with(it));
        let source = folder.join("src");
        if source.is_dir() && !compares {
            sources(&source, &mut files);
        }
    }
    let mut own = BTreeSet::new();
    let mut others = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).expect("the file is readable");
        for rule in quoted(&text).filter_map(find_rule) {
            // The linker knows no rules; a test of the pages pairs what it calls its problems
            // with them.
            let is_problem = path.ends_with("abide-schema/src/problem.rs")
                && ProblemKind::ALL.iter().any(|it| it.id() == rule.id);
            if path.ends_with(format!("abide-lint/src/rules/{}.rs", rule.id)) {
                own.insert(rule.id);
            } else if !is_problem {
                others.push(format!("{}: \"{}\"", path.display(), rule.id));
            }
        }
    }
    assert!(others.is_empty(), "{others:#?}");
    assert!(own.into_iter().eq(RULES.iter().map(|it| it.id)), "each rule writes its own");
}
