//! Checks that every statement of a document has a proof, and that the proof exists: a test that
//! runs, a scenario of the conformance table, the page of a rule or of the book, or a part of the
//! oracle.
//!
//! `testdata/policy/statements.md` says how a proof is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use abide_harness::programs::workspace;
use abide_harness::{ExternalPaths, Result};

use crate::is_part;

/// A document with numbered statements.
struct Document {
    name: &'static str,
    /// What its numbers begin with.
    prefix: &'static str,
    /// The number of the last statement. The first is 1.
    statements: u32,
    /// The table of what proves them.
    table: &'static str,
}

const DOCUMENTS: &[Document] = &[
    Document {
        name: "the stable API versioning policy",
        prefix: "003-",
        statements: 157,
        table: "testdata/policy/statements.md",
    },
    Document {
        name: "the layered runtime",
        prefix: "000-",
        statements: 69,
        table: "testdata/runtime/statements.md",
    },
    Document {
        name: "hot restart",
        prefix: "001-",
        statements: 36,
        table: "testdata/restart/statements.md",
    },
    Document {
        name: "the xDS protocol",
        prefix: "002-",
        statements: 96,
        table: "testdata/xds/statements.md",
    },
    Document {
        name: "the shutdown manager",
        prefix: "004-",
        statements: 66,
        table: "testdata/shutdown/statements.md",
    },
];

/// The tables of scenarios of `abide-serve conformance`, which its tests play.
const SCENARIOS: &str = "crates/abide-conformance/src/scenarios";

/// The folder with the pages of the book.
const BOOK: &str = "crates/abide-cli/book";

/// The list of all requirements, in the folder beside the workspace.
const INVENTORY: &str = "requirements.md";

/// Prints the tables; true if every statement has a proof or is open.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let workspace = workspace()?;
    let evidence = Evidence::of(&workspace)?;
    let shared = paths.shared.clone().unwrap_or(workspace.join("../shared"));
    let inventory = fs::read_to_string(shared.join(INVENTORY)).ok();
    if inventory.is_none() {
        println!(
            "SKIPPED: no `{}`: the numbers are compared with no inventory",
            shared.join(INVENTORY).display()
        );
    }
    let mut is_whole = true;
    for document in DOCUMENTS {
        let text = fs::read_to_string(workspace.join(document.table))?;
        let rows = read_rows(&text, document.prefix);
        for row in &rows {
            println!("{row}");
        }
        let mut faults = document.faults(&rows, &evidence);
        faults.extend(inventory.iter().flat_map(|it| document.unknown(&rows, it)));
        for fault in &faults {
            println!("FAULT: {fault}");
        }
        let open = rows.iter().filter(|row| row.is(|it| matches!(it, Proof::Open(_)))).count();
        println!(
            "requirements: {}: {} statements, {} proven, {open} open, {} faults",
            document.name,
            rows.len(),
            rows.iter().filter(|row| row.is_proven()).count(),
            faults.len()
        );
        is_whole &= faults.is_empty();
    }
    Ok(is_whole)
}

/// A statement, in our own words, and what proves it.
struct Row<'t> {
    number: &'t str,
    words: &'t str,
    proofs: Vec<Proof<'t>>,
}

impl Row<'_> {
    fn is(&self, kind: impl Fn(&Proof<'_>) -> bool) -> bool {
        self.proofs.iter().any(kind)
    }

    fn is_proven(&self) -> bool {
        self.is(|it| {
            matches!(
                it,
                Proof::Test(_)
                    | Proof::Scenario(_)
                    | Proof::Page(_)
                    | Proof::Chapter(_)
                    | Proof::Oracle(_)
            )
        }) && !self.is(|it| matches!(it, Proof::Pending(_)))
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.number, self.words)?;
        let proofs: Vec<String> = self.proofs.iter().map(ToString::to_string).collect();
        write!(f, "        {}", proofs.join(", "))
    }
}

/// What a row names as its proof.
enum Proof<'t> {
    /// The name of a test, which no other test has.
    Test(&'t str),
    /// The name of a scenario of the conformance table.
    Scenario(&'t str),
    /// The id of a rule: its page is compiled and run.
    Page(&'t str),
    /// A page of the book, for what cannot be tested.
    Chapter(&'t str),
    /// A part of `cargo xtask oracle`.
    Oracle(&'t str),
    /// Proven by what is not built yet.
    Open(&'t str),
    /// To be proven by work that is under way.
    Pending(&'t str),
    Unreadable(&'t str),
}

impl<'t> Proof<'t> {
    fn read(text: &'t str) -> Self {
        let quoted = text.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
        if let Some(part) = text.strip_prefix("open: ") {
            return match part {
                "served" => Self::Open(part),
                _ => Self::Unreadable(text),
            };
        }
        if let Some(words) = text.strip_prefix("pending: ") {
            return Self::Pending(words);
        }
        let Some(quoted) = quoted else { return Self::Unreadable(text) };
        if let Some(id) = quoted.strip_prefix("rules/").and_then(|it| it.strip_suffix(".md")) {
            Self::Page(id)
        } else if let Some(name) = quoted.strip_prefix("book ") {
            Self::Chapter(name)
        } else if let Some(part) = quoted.strip_prefix("oracle ") {
            Self::Oracle(part)
        } else if let Some(name) = quoted.strip_prefix("scenario ") {
            Self::Scenario(name)
        } else {
            Self::Test(quoted)
        }
    }
}

impl fmt::Display for Proof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Test(name) => write!(f, "{name}"),
            Self::Scenario(name) => write!(f, "scenario {name}"),
            Self::Page(id) => write!(f, "rules/{id}.md"),
            Self::Chapter(name) => write!(f, "book {name}"),
            Self::Oracle(part) => write!(f, "oracle {part}"),
            Self::Open(part) => write!(f, "open: {part}"),
            Self::Pending(words) => write!(f, "pending: {words}"),
            Self::Unreadable(text) => write!(f, "{text}?"),
        }
    }
}

/// The rows of all tables in a text whose first cell is a number that begins with `prefix`.
fn read_rows<'t>(text: &'t str, prefix: &str) -> Vec<Row<'t>> {
    text.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
            let number = cells.next().filter(|it| it.starts_with(prefix))?;
            let words = cells.next().unwrap_or_default();
            // A pipe too many makes one proof of two cells, which nobody can read.
            let proofs = cells.next().map(|it| it.split(", ").map(Proof::read).collect());
            let proofs = if cells.next().is_some() { None } else { proofs };
            Some(Row { number, words, proofs: proofs.unwrap_or_default() })
        })
        .collect()
}

/// What can prove a statement.
struct Evidence {
    /// The tests that run, and the number of those with this name.
    tests: BTreeMap<String, usize>,
    /// The names of the scenarios.
    scenarios: BTreeSet<String>,
    /// The pages of the book.
    chapters: BTreeSet<String>,
}

impl Evidence {
    fn of(workspace: &Path) -> Result<Self> {
        let mut crates = vec![workspace.join("xtask")];
        for entry in fs::read_dir(workspace.join("crates"))? {
            crates.push(entry?.path());
        }
        let mut tests = BTreeMap::new();
        for folder in &crates {
            for file in list_compiled_files(folder)? {
                for name in list_tests(&fs::read_to_string(file)?) {
                    *tests.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        let mut scenarios = BTreeSet::new();
        for entry in fs::read_dir(workspace.join(SCENARIOS))? {
            let text = fs::read_to_string(entry?.path())?;
            let heads = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(" |"));
            scenarios.extend(heads.map(|(name, _)| name.to_owned()));
        }
        let mut chapters = BTreeSet::new();
        for entry in fs::read_dir(workspace.join(BOOK))? {
            chapters.insert(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok(Self { tests, scenarios, chapters })
    }

    /// Why something is no proof.
    fn fault(&self, proof: &Proof<'_>) -> Option<String> {
        match proof {
            Proof::Test(name) => match self.tests.get(*name) {
                Some(1) => None,
                Some(count) => Some(format!("{count} tests are named `{name}`")),
                None => Some(format!("no test `{name}` runs")),
            },
            Proof::Scenario(name) => {
                (!self.scenarios.contains(*name)).then(|| format!("there is no scenario `{name}`"))
            }
            Proof::Page(id) => {
                abide_lint::find_rule(id).is_none().then(|| format!("there is no rule `{id}`"))
            }
            Proof::Chapter(name) => {
                (!self.chapters.contains(*name)).then(|| format!("the book has no page `{name}`"))
            }
            Proof::Oracle(part) => {
                (!is_part(part)).then(|| format!("the oracle has no part `{part}`"))
            }
            Proof::Open(_) => None,
            Proof::Pending(words) => Some(format!("is not proven yet: {words}")),
            Proof::Unreadable(text) => Some(format!("`{text}` is no proof")),
        }
    }
}

impl Document {
    /// What is wrong with its table.
    fn faults(&self, rows: &[Row<'_>], evidence: &Evidence) -> Vec<String> {
        let mut faults = Vec::new();
        let mut seen = BTreeSet::new();
        for row in rows {
            if !seen.insert(row.number) {
                faults.push(format!("{}: is there twice", row.number));
            }
            if row.words.is_empty() {
                faults.push(format!("{}: has no words", row.number));
            }
            if row.proofs.is_empty() {
                faults.push(format!("{}: has no proof", row.number));
            }
            let bad = row.proofs.iter().filter_map(|proof| evidence.fault(proof));
            faults.extend(bad.map(|fault| format!("{}: {fault}", row.number)));
        }
        let number = |it| format!("{}{it:03}", self.prefix);
        let numbers: BTreeSet<String> = (1..=self.statements).map(number).collect();
        let missing = numbers.iter().filter(|it| !seen.contains(it.as_str()));
        faults.extend(missing.map(|number| format!("{number}: is missing")));
        let unknown = seen.iter().filter(|it| !numbers.contains(**it));
        faults.extend(unknown.map(|number| format!("{number}: there is no such statement")));
        faults
    }

    /// The numbers that only one of its table and the inventory has.
    fn unknown<'t>(&self, table: &[Row<'t>], inventory: &'t str) -> Vec<String> {
        let numbers = |rows: &[Row<'t>]| rows.iter().map(|row| row.number).collect::<BTreeSet<_>>();
        let (ours, listed) = (numbers(table), numbers(&read_rows(inventory, self.prefix)));
        let lost = listed.difference(&ours).map(|it| format!("{it}: only the inventory has it"));
        let added = ours.difference(&listed).map(|it| format!("{it}: the inventory lacks it"));
        lost.chain(added).collect()
    }
}

/// The source files of a crate that are compiled: those that a `mod` leads to.
fn list_compiled_files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut waiting: Vec<(PathBuf, PathBuf)> = Vec::new();
    for name in ["src/lib.rs", "src/main.rs"] {
        waiting.push((folder.join(name), folder.join("src")));
    }
    let tests = folder.join("tests");
    if let Ok(entries) = fs::read_dir(&tests) {
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push((path.join("main.rs"), path));
            } else if path.extension().is_some_and(|it| it == "rs") {
                waiting.push((path, tests.clone()));
            }
        }
    }
    let mut files = BTreeSet::new();
    while let Some((file, children)) = waiting.pop() {
        if !file.is_file() {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        for name in text.lines().filter_map(read_declared_test) {
            let inside = children.join(name);
            waiting.push((inside.with_extension("rs"), inside.clone()));
            waiting.push((inside.join("mod.rs"), inside));
        }
        files.insert(file);
    }
    Ok(files)
}

/// The module that a line declares in a file of its own.
fn read_declared_test(line: &str) -> Option<&str> {
    let line = line.trim().strip_suffix(';')?;
    let name = line.strip_prefix("mod ").or_else(|| Some(line.split_once(" mod ")?.1))?;
    name.chars().all(|it| it.is_alphanumeric() || it == '_').then_some(name)
}

/// The tests of a text that run without being asked for.
fn list_tests(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut is_test, mut is_ignored) = (false, false);
    for line in text.lines().map(str::trim) {
        is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
        is_ignored |= line.starts_with("#[ignore");
        let Some((_, rest)) = line.split_once("fn ") else { continue };
        if is_test && !is_ignored {
            found.extend(rest.split_once('(').map(|(name, _)| name));
        }
        (is_test, is_ignored) = (false, false);
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn every_statement_has_a_proof_that_exists() {
        let workspace = workspace().unwrap();
        let evidence = Evidence::of(&workspace).unwrap();
        for document in DOCUMENTS {
            let text = fs::read_to_string(workspace.join(document.table)).unwrap();
            let rows = read_rows(&text, document.prefix);
            assert_eq!(document.faults(&rows, &evidence), Vec::<String>::new());
        }
    }

    #[test]
    fn a_proof_that_is_lost_is_a_fault() {
        let source =
            "#[test]\nfn kept() {}\n#[test]\n#[ignore = \"slow\"]\nfn ignored() {}\nfn lost() {}\n";
        let tests = list_tests(source).into_iter().map(|it| (it.to_owned(), 1)).collect();
        let chapters = BTreeSet::from(["adopting.md".to_owned()]);
        let scenarios = BTreeSet::from(["ack".to_owned()]);
        let evidence = Evidence { tests, scenarios, chapters };
        let document = &DOCUMENTS[0];
        let said = |proof: &str| {
            let text = format!("| 003-001 | words | {proof} |\n");
            let mut faults = document.faults(&read_rows(&text, document.prefix), &evidence);
            faults.retain(|it| !it.ends_with("is missing"));
            faults.concat()
        };
        assert_eq!(said("`kept`, `rules/field-renamed.md`, `oracle hash`"), "");
        assert_eq!(said("open: served"), "");
        assert_eq!(said("`lost`"), "003-001: no test `lost` runs");
        assert_eq!(said("`ignored`"), "003-001: no test `ignored` runs");
        assert_eq!(said("`rules/none.md`"), "003-001: there is no rule `none`");
        assert_eq!(said("`scenario ack`"), "");
        assert_eq!(said("`scenario none`"), "003-001: there is no scenario `none`");
        assert_eq!(said("`oracle none`"), "003-001: the oracle has no part `none`");
        assert_eq!(said("`book adopting.md`"), "");
        assert_eq!(said("`book none.md`"), "003-001: the book has no page `none.md`");
        assert_eq!(said("open: later"), "003-001: `open: later` is no proof");
        assert_eq!(said("pending: soon"), "003-001: is not proven yet: soon");
        assert_eq!(said("kept"), "003-001: `kept` is no proof");
        assert_eq!(said("`kept` | more"), "003-001: has no proof");
        let text = "| 003-001 | a | `kept` |\n| 003-001 | b | `kept` |\n";
        let twice = read_rows(text, document.prefix);
        let faults = document.faults(&twice, &evidence);
        assert!(faults.contains(&"003-001: is there twice".to_owned()), "{faults:?}");
        assert!(faults.contains(&"003-157: is missing".to_owned()), "{faults:?}");
        assert_eq!(document.unknown(&twice, "| 003-002 | x | y | z |\n").len(), 2);
    }
}
