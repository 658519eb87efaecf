//! Trees of which a file gets damaged, and the law of damage: nothing is concluded from a file that
//! does not parse.
//!
//! What is then found in the tree must be what was found in the whole one, or a part of it, and the
//! syntax errors of the damaged file. No fix edits that file. The soundness program tries the same on
//! many more damages.

#[path = "../../../abide-schema/tests/protos/mod.rs"]
mod protos;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Config, Finding, FixRequest, Options, check, fix};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::{Date, date};
use protos::protos;

/// Several packages that lean on each other: through fields, options, public imports, versions,
/// replacements, and types that moved.
const WORLD: &str = include_str!("world.txt");

/// The presets of which the rules and severities differ most.
const CONFIGS: [&str; 3] =
    ["", "preset = \"envoy\"\n", "preset = \"google\"\n[rules]\n\"buf:STANDARD\" = \"warning\"\n"];

/// The files of a tree by path: their text, and whether they are only imported.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// Findings, as far as they have to be the same: the rule and the element.
type Found = BTreeSet<(&'static str, String)>;

/// A tree to damage.
struct Pair {
    name: String,
    /// What it is compared with.
    old: Vec<Arc<FileDecl>>,
    new: BTreeMap<String, Arc<FileDecl>>,
    /// The texts that may be damaged, by path.
    texts: Vec<(String, Vec<u8>)>,
    /// What is found in it while it is whole, by policy.
    expected: Vec<Found>,
}

impl Pair {
    /// The trees of a text, file by file behind lines `// === old PATH`, `new` and `both`.
    fn of(name: &str, text: &str, imports: &BTreeMap<String, String>, configs: &[Config]) -> Pair {
        let side = |side: &str| {
            let imports = imports.iter();
            let mut files: Files = imports
                .map(|(path, text)| (path.clone(), (text.clone().into_bytes(), true)))
                .collect();
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
        let (old, new) = (side("old"), side("new"));
        let judged = new.iter().filter(|(_, (_, imported))| !imported);
        let mut pair = Pair {
            name: name.to_owned(),
            old: decls(&old).into_values().collect(),
            texts: judged.map(|(path, (text, _))| (path.clone(), text.clone())).collect(),
            new: decls(&new),
            expected: Vec::new(),
        };
        let (tree, old) = Tree::link_both(pair.new.values().cloned().collect(), pair.old.clone());
        let expected = |config| found(&tree, &old, config).iter().map(key).collect();
        pair.expected = configs.iter().map(expected).collect();
        pair
    }
}

/// What is damaged.
pub(crate) struct Damages {
    configs: Vec<Config>,
    /// The last one has the most to misunderstand.
    pairs: Vec<Pair>,
}

impl Damages {
    /// The trees of the folder `testdata` of this repository, and one of several packages.
    pub(crate) fn read(testdata: &Path) -> Damages {
        let parsed = CONFIGS.map(|it| Config::parse(it, None).expect("it is well-formed"));
        let configs = Vec::from(parsed);
        let imports = protos(&testdata.join("imports"));
        let fixtures = protos(&testdata.join("dangers"));
        assert!(!fixtures.is_empty());
        let texts = fixtures.iter().map(|(name, text)| (&**name, &**text));
        let texts = texts.chain([("world", WORLD)]);
        let pairs = texts.map(|(name, text)| Pair::of(name, text, &imports, &configs));
        let pairs = pairs.filter(|it| !it.texts.is_empty()).collect();
        Damages { configs, pairs }
    }

    /// Does one damage. Whether the file still parses, and nothing was tried, or what is wrong.
    pub(crate) fn try_one(&self, rng: &mut Rng) -> Result<bool, String> {
        let (world, others) = self.pairs.split_last().expect("there are trees");
        let pair = if rng.bool() { world } else { &others[rng.usize(..others.len())] };
        let policy = rng.usize(..self.configs.len());
        let config = &self.configs[policy];
        let (path, text) = &pair.texts[rng.usize(..pair.texts.len())];
        let text = damaged(text, rng);
        let broken = parse(path, &text, false);
        if broken.parses {
            return Ok(true);
        }
        let mut files = pair.new.clone();
        files.insert(path.clone(), broken);
        let (tree, old) = Tree::link_both(files.into_values().collect(), pair.old.clone());
        let mut wrong = String::new();
        for finding in found(&tree, &old, config) {
            let is_its_own = ["syntax-error", "edition-invalid"].contains(&finding.rule);
            let is_syntax = is_its_own && finding.element == *path;
            if !is_syntax && !pair.expected[policy].contains(&key(&finding)) {
                wrong += &format!("{}: {}: {}\n", finding.rule, finding.element, finding.message);
            }
        }
        // Fixes take many checks each.
        if rng.u8(..8) == 0 {
            let request = FixRequest { wants: &|_| true, may_edit: &|_| true };
            let fixed = fix(&tree, &config.policy, Options::on(DAY), request);
            if fixed.texts.contains_key(&**path) {
                wrong += "the file was fixed\n";
            }
        }
        if wrong.is_empty() {
            return Ok(false);
        }
        let text = String::from_utf8_lossy(&text);
        Err(format!("{}: {path} damaged:\n{wrong}{text}\n", pair.name))
    }
}

/// The day of all checks.
const DAY: Date = date(2026, 1, 15);

fn parse(path: &str, text: &[u8], imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let (display, text) = (Arc::clone(&path), text.into());
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
}

fn decls(files: &Files) -> BTreeMap<String, Arc<FileDecl>> {
    let parsed = |(path, (text, imported)): (&String, &(Vec<u8>, bool))| {
        (path.clone(), parse(path, text, *imported))
    };
    files.iter().map(parsed).collect()
}

/// What is found in a tree, with and without the old one.
fn found(tree: &Tree, old: &Tree, config: &Config) -> Vec<Finding> {
    let lone = Options::on(DAY);
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
fn damaged(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let at = rng.usize(..text.len().max(1)).min(text.len());
    let (before, after) = text.split_at(at);
    let put =
        |what: &[u8], skip: usize| [before, what, after.get(skip..).unwrap_or_default()].concat();
    let line = before.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    match rng.u8(..16) {
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
