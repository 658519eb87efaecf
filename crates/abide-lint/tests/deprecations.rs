//! What comments say of replacements: each field of `testdata/deprecations/sentences.proto` has above
//! it, behind `->`, the sentence of its comments that says what to use instead, or `none`.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixture")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Config, DeprecationList, Options, Status, check};
use abide_schema::{Element, FileDecl, SourceFile, Tree};
use jiff::civil::date;

fn sentences() -> Tree {
    let path = "testdata/deprecations/sentences.proto";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let text = std::fs::read(file).expect("the fixture is there").into();
    let (path, display) = (Arc::from("sentences.proto"), Arc::from(path));
    let source = SourceFile { path, display, root: 0, imported: false, text };
    Tree::link(vec![Arc::new(FileDecl::parse(source))])
}

/// What the fixture expects of each field, by its name.
fn expected(tree: &Tree) -> BTreeMap<String, Option<String>> {
    let files = tree.files().filter(|it| it.is_judged());
    let fields = files.flat_map(|it| it.elements()).filter_map(|element| {
        let Element::Field(_) = element else { return None };
        let detached = element.file().decl().comments(element.node()).detached;
        let answer = detached.last().map(|it| it.text.trim().to_owned());
        let answer = answer.and_then(|it| Some(it.strip_prefix("-> ")?.to_owned()));
        let answer = answer.unwrap_or_else(|| panic!("{} has no answer", element.full_name()));
        Some((element.full_name(), (answer != "none").then_some(answer)))
    });
    let expected: BTreeMap<_, _> = fields.collect();
    assert!(expected.len() >= 60, "the fixture is a table of many sentences");
    expected
}

#[test]
fn the_sentence_that_names_the_replacement_is_listed() {
    let tree = sentences();
    let policy = Config::default().policy;
    let status = Status::of(&tree, &policy, None, date(2026, 1, 15));
    let list = DeprecationList::of(&tree, &policy, &status);
    let entries = list.entries.into_iter();
    let listed: BTreeMap<_, _> = entries.map(|it| (it.holder.full_name(), it.advice)).collect();
    assert_eq!(listed, expected(&tree));
}

#[test]
fn who_names_no_replacement_is_warned_and_nobody_else() {
    let tree = sentences();
    let policy = Config::default().policy;
    let report = check(&tree, &policy, Options::on(date(2026, 1, 15)));
    let found =
        report.findings.into_iter().filter(|it| it.rule == "deprecation-without-replacement");
    let found: BTreeSet<String> = found.map(|it| it.element).collect();
    let expected = expected(&tree).into_iter().filter(|(_, answer)| answer.is_none());
    assert_eq!(found, expected.map(|(name, _)| name).collect());
}
