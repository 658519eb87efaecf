//! Laws of trees and their descriptor sets: what the writer of a set leaves out did not change.

#[path = "../../abide-hash/tests/hash/model.rs"]
mod model;
#[path = "../../abide-hash/tests/hash/numbers.rs"]
mod numbers;

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_hash::TreeHashes;
use abide_lint::{Bump, Config, Options, RuleScope, check, plan_versions};
use abide_schema::{FileDecl, SourceFile, Tree, encode_set};
use jiff::civil::date;

use model::{Element, Schema, generated, written};
use numbers::Numbers;

pub(crate) type Files = BTreeMap<String, String>;

fn tree(files: &Files) -> Tree {
    let parse = |(path, text): (&String, &String)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(files.iter().map(parse).collect());
    assert_eq!(errors(&tree), Vec::<&str>::new());
    tree
}

/// The tree of a descriptor set, as protoc and Abide write it.
fn described(tree: &Tree, source_info: bool) -> Tree {
    let files: Vec<_> = tree.files().filter(|it| it.is_judged()).map(|it| it.id).collect();
    let bytes = encode_set(tree, &files, true, source_info);
    let files = FileDecl::from_descriptor_set(&bytes.into()).expect("it was just written");
    let tree = Tree::link(files.into_iter().map(Arc::new).collect());
    assert_eq!(errors(&tree), Vec::<&str>::new());
    tree
}

fn errors(tree: &Tree) -> Vec<&str> {
    let errors = tree.problems().iter().filter(|it| it.kind.is_error());
    errors.map(|it| it.message.as_str()).collect()
}

/// What is found between two trees: each change in words, and what versions need.
#[derive(Debug, Default, PartialEq)]
struct Found {
    changes: Vec<String>,
    bump: Bump,
    reasons: Vec<String>,
}

fn found(old: &Tree, new: &Tree) -> Found {
    let policy = Config::parse("", None).expect("it is well-formed").policy;
    let options = Options {
        baseline: Some(old),
        changes: true,
        counts_bump: true,
        scope: RuleScope::Everything,
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(new, &policy, options);
    let changes = report.findings.iter().filter(|it| it.change.is_some());
    let mut changes: Vec<String> =
        changes.map(|it| format!("{}: {} {:?}", it.rule, it.message, it.effects())).collect();
    changes.sort();
    let packages = plan_versions(new, &policy, options).packages;
    let reasons = packages.iter().flat_map(|package| &package.reasons);
    let mut reasons: Vec<String> =
        reasons.map(|it| format!("{}: {} {:?}", it.element, it.message, it.bump)).collect();
    reasons.sort();
    Found { changes, bump: report.required_bump.unwrap_or_default(), reasons }
}

const SCHEMAS: u64 = 30;

#[test]
fn a_tree_does_not_differ_from_its_own_descriptor_set() {
    for seed in 0..SCHEMAS {
        let source = tree(&written(&generated(seed), seed));
        for source_info in [true, false] {
            let set = described(&source, source_info);
            assert_eq!(found(&set, &source), Found::default(), "seed {seed}: against the set");
            assert_eq!(found(&source, &set), Found::default(), "seed {seed}: the set");
        }
    }
}

/// What stays in the source may change with a tree: nothing is found of that, and nothing needs
/// another version.
#[test]
fn trees_of_one_hash_do_not_differ_if_one_is_a_set() {
    for seed in 0..SCHEMAS {
        let schema = generated(seed);
        let (old, new) = (tree(&written(&schema, seed)), tree(&rewritten(&schema, seed)));
        let hashes = |tree: &Tree| -> Vec<_> {
            let hashes = TreeHashes::of(tree);
            hashes.packages().map(|(name, it)| (name.to_owned(), it)).collect()
        };
        assert_eq!(hashes(&old), hashes(&new));
        assert_eq!(found(&described(&old, false), &new), Found::default(), "seed {seed}");
        assert_eq!(found(&old, &described(&new, false)), Found::default(), "seed {seed}");
        let Found { bump, reasons, .. } = found(&old, &new);
        assert_eq!((bump, reasons), (Bump::None, Vec::new()), "seed {seed}");
    }
}

/// The same schema in the same files, with other options that stay in the source.
fn rewritten(schema: &Schema, seed: u64) -> Files {
    let without = |text: &String| {
        let mut kept = String::new();
        for line in text.split_inclusive('\n') {
            kept.push_str(&line.replace("_source ) = \"a\"", "_source ) = \"b\""));
        }
        kept.replace("option features . default_symbol_visibility = EXPORT_ALL ;", "")
    };
    let files = written(schema, seed);
    files.iter().map(|(path, text)| (path.clone(), without(text))).collect()
}

/// Changes one thing of a schema.
fn change(schema: &mut Schema, numbers: &mut Numbers) {
    let at = numbers.below(schema.packages.len());
    let elements = &mut schema.packages[at].elements;
    let index = numbers.below(elements.len());
    match &mut elements[index] {
        Element::Message(message) => {
            let at = numbers.below(message.fields.len());
            let field = &mut message.fields[at];
            match numbers.below(4) {
                0 => field.number += 1000,
                1 => field.json_name = Some("another".to_owned()),
                2 => field.options.deprecated = !field.options.deprecated,
                _ => field.options.tags.push("z".to_owned()),
            }
        }
        Element::Enum(item) => item.values[0].0.push_str("_RENAMED"),
        Element::Service(service) => service.methods[0].streams = !service.methods[0].streams,
    }
}

#[test]
fn a_change_is_found_against_a_set_as_against_its_source() {
    let mut changed = 0;
    for seed in 0..SCHEMAS {
        let schema = generated(seed);
        let old = tree(&written(&schema, seed));
        let mut other = schema;
        change(&mut other, &mut Numbers(seed));
        let new = tree(&written(&other, seed));
        let mut wanted = found(&old, &new).changes;
        let stays_in_source = |it: &String| {
            it.contains("_source`")
                || it.contains(".note`")
                || it.contains("that extensions are declared")
        };
        wanted.retain(|it| !stays_in_source(it));
        changed += wanted.len();
        assert_eq!(found(&described(&old, true), &new).changes, wanted, "seed {seed}");
    }
    assert!(changed > 20, "{changed} changes");
}
