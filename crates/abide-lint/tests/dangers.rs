//! Dangers that tools which compare names pass over: whom each one reaches.
//!
//! Every file of `testdata/dangers` holds two trees, file by file behind lines
//! `// === old PATH` and `// === new PATH`, and above them what is to be found:
//! `// RULE: SURFACES backward / SURFACES forward`, with `-` for nobody, or
//! `// no change`.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;
mod witnesses;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_change::Direction;
use abide_lint::{Config, Finding, Options, RuleScope, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::date;
use protos::protos;

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder)
}

/// The tree of one side of a fixture.
fn side(fixture: &str, side: &str, imports: &BTreeMap<String, String>) -> Tree {
    let mut files: BTreeMap<String, (String, bool)> =
        imports.iter().map(|(path, text)| (path.clone(), (text.clone(), true))).collect();
    for part in fixture.split("\n// === ").skip(1) {
        let (head, text) = part.split_once('\n').expect("a file follows its path");
        if let Some(path) = head.strip_prefix(side) {
            files.insert(path.trim().to_owned(), (text.to_owned(), false));
        }
    }
    let parse = |(path, (text, imported)): (String, (String, bool))| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.into_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    Tree::link(files.into_iter().map(parse).collect())
}

fn line(finding: &Finding) -> String {
    let reached = |direction| {
        let surfaces = finding.effects().iter().filter(|(_, it)| *it == direction);
        let surfaces: Vec<&str> = surfaces.map(|(surface, _)| surface.name()).collect();
        if surfaces.is_empty() { "-".to_owned() } else { surfaces.join(" ") }
    };
    let (backward, forward) = (reached(Direction::Backward), reached(Direction::Forward));
    format!("// {}: {backward} / {forward}\n", finding.rule)
}

/// What is found between the two sides of a fixture, and what is wrong with how it is shown.
fn found(fixture: &str, imports: &BTreeMap<String, String>) -> (String, String) {
    let (old, new) = (side(fixture, "old", imports), side(fixture, "new", imports));
    for tree in [&old, &new] {
        let problems: Vec<_> =
            tree.problems().iter().filter(|it| it.kind.is_error()).map(|it| &it.message).collect();
        assert!(problems.is_empty(), "{problems:?}\n{fixture}");
    }
    let policy = Config::parse("", None).expect("it is well-formed").policy;
    let options = Options {
        baseline: Some(&old),
        changes: true,
        scope: RuleScope::Changes,
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(&new, &policy, options);
    let complaints = witnesses::complaints(&old, &new, &report.findings);
    if report.findings.is_empty() {
        return ("// no change\n".to_owned(), complaints);
    }
    (report.findings.iter().map(line).collect(), complaints)
}

#[test]
fn each_danger_is_told_with_whom_it_reaches() {
    let imports = protos(&testdata("imports"));
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite");
    let fixtures = protos(&testdata("dangers"));
    assert!(!fixtures.is_empty());
    let mut complaints = String::new();
    for (name, fixture) in fixtures {
        let (head, trees) = fixture.split_once("\n\n").expect("a header, then the trees");
        let (title, expected) = head.split_once("\n//\n").expect("a title, then what is found");
        let (found, wrong) = found(&format!("\n{trees}"), &imports);
        if !wrong.is_empty() {
            complaints += &format!("{name}\n{wrong}");
        }
        if format!("{expected}\n") != found && overwrite {
            let text = format!("{title}\n//\n{found}\n{trees}");
            std::fs::write(testdata("dangers").join(&name), text).expect("it is writable");
        } else if format!("{expected}\n") != found {
            complaints += &format!("{name}\n  expected:\n{expected}\n  found:\n{found}\n");
        }
    }
    assert!(
        complaints.is_empty(),
        "{complaints}\n`SNAPSHOTS=overwrite cargo test -p abide-lint --test dangers` writes what is found"
    );
}
