//! Nothing is concluded from a file that does not parse.
//!
//! Bytes of the files of a tree are damaged, one place at a time. What is then found in the tree
//! must be what was found in the whole one, or a part of it, and the syntax errors of the damaged
//! file. `DAMAGES` sets how many damages are tried, `SEED` which.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide::{Config, Finding, Options, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::date;
use protos::protos;

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder)
}

/// The files of a tree by path: their text, and whether they are only imported.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// Trees to damage, and what they are compared with.
struct Pair {
    name: String,
    old: Files,
    new: Files,
}

/// The trees of a text, file by file behind lines `// === old PATH` and `// === new PATH`.
fn pair(name: &str, text: &str, imports: &BTreeMap<String, String>) -> Pair {
    let side = |side: &str| {
        let imports = imports.iter();
        let mut files: Files =
            imports.map(|(path, text)| (path.clone(), (text.clone().into_bytes(), true))).collect();
        for part in format!("\n{text}").split("\n// === ").skip(1) {
            let (head, text) = part.split_once('\n').expect("a file follows its path");
            for word in [side, "both"] {
                if let Some(path) = head.strip_prefix(word) {
                    files.insert(path.trim().to_owned(), (text.as_bytes().to_vec(), false));
                }
            }
        }
        files
    };
    Pair { name: name.to_owned(), old: side("old"), new: side("new") }
}

fn parse(path: &str, text: &[u8], imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let (display, text) = (Arc::clone(&path), text.into());
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
}

fn decls(files: &Files) -> BTreeMap<&str, Arc<FileDecl>> {
    files.iter().map(|(path, (text, imported))| (&**path, parse(path, text, *imported))).collect()
}

/// The presets of which the rules and severities differ most.
const CONFIGS: [&str; 3] =
    ["", "preset = \"envoy\"\n", "preset = \"google\"\n[rules]\n\"buf:STANDARD\" = \"warning\"\n"];

/// What is found in a tree, with and without the old one.
fn found(tree: &Tree, old: &Tree, config: &Config) -> Vec<Finding> {
    let lone = Options::on(date(2026, 1, 15));
    let compared = Options { baseline: Some(old), changes: true, ..lone };
    [lone, compared]
        .into_iter()
        .flat_map(|options| check(tree, &config.policy, options).findings)
        .collect()
}

fn key(finding: &Finding) -> (&'static str, String) {
    (finding.rule, finding.element.clone())
}

/// One damage of a text: a byte that is gone or another one, a text that ends too early, or what
/// people and their tools leave behind.
fn damaged(text: &[u8], random: &mut Rng) -> Vec<u8> {
    let at = random.usize(..text.len().max(1)).min(text.len());
    let (before, after) = text.split_at(at);
    let put =
        |what: &[u8], skip: usize| [before, what, after.get(skip..).unwrap_or_default()].concat();
    let line = before.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    match random.u8(..16) {
        0 => put(b"", 1),
        1 => put(b"{", 1),
        2 => put(b"}", 1),
        3 => put(b"\"", 1),
        4 => put(b";", 1),
        5 => put(b"\0", 1),
        6 => put(b"/*", 0),
        7 => put(b"'", 0),
        8 => before.to_vec(),
        9 => put(b"\nmessage New {\n", 0),
        10 => put(b"\n  string half", 0),
        11 => put(b"(", 1),
        12 => put(b"[", 1),
        13 => put(b" ", 1),
        14 => [
            &text[..line],
            b"<<<<<<< HEAD\n",
            &text[line..],
            b"\n=======\n",
            &text[line..],
            b"\n>>>>>>> topic\n",
        ]
        .concat(),
        _ => {
            let zeros = text.iter().flat_map(|it| [*it, 0]);
            [0xff, 0xfe].into_iter().chain(zeros).collect()
        }
    }
}

/// Several packages that lean on each other: through fields, options, public imports, versions,
/// replacements, and types that moved.
const WORLD: &str = include_str!("unparsed/world.txt");

#[test]
fn damage_of_one_file_accuses_no_other() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let (count, seed) = (number("DAMAGES").unwrap_or(2_000), number("SEED").unwrap_or(1));
    let imports = protos(&testdata("imports"));
    let fixtures = protos(&testdata("dangers"));
    let mut pairs: Vec<Pair> =
        fixtures.iter().map(|(name, text)| pair(name, text, &imports)).collect();
    assert!(!pairs.is_empty());
    let world = pair("world", WORLD, &imports);
    let configs = CONFIGS.map(|it| Config::parse(it, None).expect("it is well-formed"));
    let mut random = Rng::with_seed(seed);
    let mut tried = 0;
    let mut accused = String::new();
    // Half of the damages are done to the one that has the most to misunderstand.
    pairs.push(world);
    let last = pairs.len() - 1;
    for number in 0..count {
        let Pair { name, old, new } =
            &pairs[if number % 2 == 0 { last } else { random.usize(..last) }];
        let config = &configs[random.usize(..configs.len())];
        let judged: Vec<&String> = new.iter().filter(|it| !it.1.1).map(|(path, _)| path).collect();
        if judged.is_empty() {
            continue;
        }
        let path = judged[random.usize(..judged.len())];
        let text = damaged(&new[path].0, &mut random);
        let broken = parse(path, &text, false);
        if broken.parses {
            continue;
        }
        tried += 1;
        let (before, mut after) = (decls(old), decls(new));
        let link = |files: &BTreeMap<&str, Arc<FileDecl>>| files.values().cloned().collect();
        let (whole, baseline) = Tree::link_both(link(&after), link(&before));
        let expected: BTreeSet<_> = found(&whole, &baseline, config).iter().map(key).collect();
        after.insert(path, broken);
        let (tree, baseline) = Tree::link_both(link(&after), link(&before));
        for finding in found(&tree, &baseline, config) {
            let is_its_own = ["syntax-error", "edition-invalid"].contains(&finding.rule);
            let is_syntax = is_its_own && finding.element == *path;
            if !is_syntax && !expected.contains(&key(&finding)) {
                accused += &format!(
                    "FALSE {name}: {path} damaged (number {number}): {}: {}: {}\n{}\n",
                    finding.rule,
                    finding.element,
                    finding.message,
                    String::from_utf8_lossy(&text),
                );
            }
        }
    }
    assert!(tried * 3 > count, "{tried} of {count} damages broke a file");
    assert!(accused.is_empty(), "SEED={seed}\n{accused}");
}
