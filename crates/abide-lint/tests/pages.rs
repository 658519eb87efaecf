//! Every page of a rule is a test of that rule.
//!
//! Each heading of a page opens a section. Fenced `proto` blocks of a section
//! are linked and judged: blocks with `file=PATH` in their info string belong
//! together, until a path repeats; a block without is a tree of its own. A
//! `toml` block is the `abide.toml` of the blocks behind it, `text
//! file=abide.accepted` the accepted findings, `text file=abide.lock` the record
//! of versions, `text file=features.txt` a list of features, `text file=guards.txt` the guards of
//! runtime that a program has, and `proto old file=PATH` a file
//! of the old tree. A `yaml` block is an instance of the messages of its case, which names its
//! type in the first line. `imported` marks a file that is not judged. Pages of rules
//! about changes show compatible changes, too. What is reported at the old side
//! is marked in the old file.
//!
//! What is reported must be marked, and what is marked must be reported:
//! `// ^^^^ error: part of the message` below the line with the span, or
//! `// <- error: …` where the span begins where the comment does. A `toml`
//! block takes the same markers behind `#`.

#![allow(clippy::disallowed_methods, reason = "the test reads its own pages")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_instance::{
    ConvertedText, Direction, Instance, Notation, ReadOptions, VersionConverter, VersionMapping,
    convert_text,
};
use abide_lint::{
    Accepted, CarriedFile, Check, Config, FeatureFile, Group, InstanceFile, InstanceOptions, Lock,
    Options, Origin, REMEDIES, RULES, Records, Report, Rule, Severity, find_rule,
};
use abide_schema::{FileDecl, ProblemKind, SourceFile, Tree};
use abide_syntax::{LineIndex, Position, Span};
use jiff::civil::date;
use rayon::prelude::*;

mod advice;
mod markers;
#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;
mod witnesses;

use markers::{Expected, compare, markers};
use protos::protos;

/// One fenced block.
#[derive(Clone, Debug)]
struct Block {
    section: String,
    language: String,
    file: Option<String>,
    old: bool,
    imported: bool,
    text: String,
}

impl Block {
    /// A file without a path lies in the folder of its package.
    fn path(&self) -> String {
        if let Some(path) = &self.file {
            return path.clone();
        }
        let package = self.text.lines().find_map(|line| line.strip_prefix("package "));
        match package.and_then(|rest| rest.split(';').next()) {
            Some(name) => format!("{}/example.proto", name.trim().replace('.', "/")),
            None => "example.proto".to_owned(),
        }
    }
}

/// The blocks that are judged together.
#[derive(Clone, Debug, Default)]
struct Case {
    section: String,
    files: Vec<Block>,
    config: String,
    accepted: Option<String>,
    lock: Option<String>,
    features: Option<FeatureFile>,
    guards: Option<BTreeSet<String>>,
    instances: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = String::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(info)) => {
                let words: Vec<&str> = info.split_whitespace().collect();
                open = Some(Block {
                    section: section.clone(),
                    language: words.first().copied().unwrap_or_default().to_owned(),
                    file: words.iter().find_map(|it| it.strip_prefix("file=")).map(str::to_owned),
                    old: words.contains(&"old"),
                    imported: words.contains(&"imported"),
                    text: String::new(),
                });
            }
            (None, None) => {
                if let Some(title) = line.strip_prefix("## ") {
                    section = title.to_owned();
                }
            }
        }
    }
    assert!(open.is_none(), "a fenced block is not closed");
    blocks
}

fn cases(page: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut config = None;
    for block in blocks(page) {
        if block.language == "toml" {
            config = Some(block.text);
            continue;
        }
        let accepted = block.file.as_deref() == Some("abide.accepted");
        let lock = block.file.as_deref() == Some("abide.lock");
        let features = block.file.as_deref() == Some("features.txt");
        let guards = block.file.as_deref() == Some("guards.txt");
        if block.language == "yaml" {
            let case = cases.last_mut().expect("an instance stands behind its messages");
            assert_eq!(case.section, block.section, "an instance stands behind its messages");
            case.instances.push(block.text);
            continue;
        }
        if block.language != "proto" && !accepted && !lock && !features && !guards {
            continue;
        }
        let joins = config.is_none()
            && cases.last().is_some_and(|case| {
                let same = |it: &Block| it.file == block.file && it.old == block.old;
                case.section == block.section
                    && block.file.is_some()
                    && case.files.iter().all(|it| it.file.is_some() && !same(it))
            });
        if !joins {
            let section = block.section.clone();
            let config = config.take().unwrap_or_default();
            cases.push(Case { section, config, ..Case::default() });
        }
        let case = cases.last_mut().expect("one was just pushed");
        if accepted {
            case.accepted = Some(block.text);
        } else if lock {
            case.lock = Some(block.text);
        } else if guards {
            case.guards = Some(block.text.lines().map(str::to_owned).collect());
        } else if features {
            case.features = Some(FeatureFile { path: block.path(), text: block.text });
        } else {
            case.files.push(block);
        }
    }
    assert!(config.is_none(), "a `toml` block stands before its `proto` blocks");
    cases
}

/// The files that examples may import without showing them, by path.
type Imports = BTreeMap<String, Arc<FileDecl>>;

fn imports() -> Imports {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = protos(&root.join("../../testdata/imports"));
    files.extend(protos(&root.join("../../api")));
    files.into_iter().map(|(path, text)| (path.clone(), parse(&path, &text, true))).collect()
}

fn parse(path: &str, text: &str, imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let display = Arc::clone(&path);
    let text = text.as_bytes().into();
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
}

fn tree<'a>(files: impl Iterator<Item = &'a Block>, imports: &Imports) -> Tree {
    let mut sources = imports.clone();
    sources.extend(files.map(|block| {
        let path = block.path();
        let file = parse(&path, &block.text, block.imported);
        (path, file)
    }));
    Tree::link(sources.into_values().collect())
}

fn reported(tree: &Tree, old: Option<&Tree>, case: &Case, report: &Report) -> Vec<Expected> {
    let outside = |text: &str, span: Span| {
        let lines = LineIndex::new(text.as_bytes());
        let position = |at| lines.position(text.as_bytes(), at);
        (position(span.start), position(span.end))
    };
    let each = report.findings.iter().map(|finding| {
        let location = finding.location;
        let (path, (start, end)): (String, (Position, Position)) = match location.origin {
            Origin::Tree(file) => {
                let decl = tree.file(file).decl();
                (decl.display.to_string(), decl.line_range(location.span).expect("it is source"))
            }
            Origin::Old(file) => {
                let decl = old.expect("a finding of the old tree").file(file).decl();
                let lines = decl.line_range(location.span).expect("it is source");
                (format!("old {}", decl.display), lines)
            }
            Origin::Config => ("abide.toml".to_owned(), outside(&case.config, location.span)),
            Origin::Accepted => {
                let text = case.accepted.as_deref().unwrap_or_default();
                ("abide.accepted".to_owned(), outside(text, location.span))
            }
            Origin::Features(_) => {
                let file = case.features.as_ref().expect("the case has one");
                (file.path.clone(), outside(&file.text, location.span))
            }
            Origin::Instance(index) => {
                let text = &case.instances[index as usize];
                (instance_path(index as usize), outside(text, location.span))
            }
        };
        Expected {
            path,
            line: start.line,
            column: start.column,
            end: (start.line == end.line).then_some(end.column),
            severity: finding.severity.word().to_owned(),
            message: format!("{} [{}]", finding.message, finding.rule),
        }
    });
    each.collect()
}

/// The name of an instance in expectations.
fn instance_path(index: usize) -> String {
    format!("instance {index}")
}

/// A case that was judged.
struct Judged {
    new: Tree,
    old: Option<Tree>,
    report: Report,
}

impl Judged {
    fn of(case: &Case, imports: &Imports, changes: bool) -> Result<Judged, String> {
        let policy = Config::parse(&case.config, None).map_err(|it| format!("{it:?}"))?.policy;
        let accepted = case.accepted.as_deref().map(Accepted::parse).transpose();
        let accepted = accepted.map_err(|it| format!("{it:?}"))?;
        let lock = case.lock.as_deref().map(Lock::parse).transpose();
        let lock = lock.map_err(|it| format!("{it:?}"))?;
        let new = tree(case.files.iter().filter(|it| !it.old), imports);
        let old: Vec<&Block> = case.files.iter().filter(|it| it.old).collect();
        let old = (!old.is_empty()).then(|| tree(old.into_iter(), imports));
        let options = Options {
            baseline: old.as_ref(),
            baseline_day: Some(date(2026, 1, 1)),
            accepted: accepted.as_ref(),
            records: Records { lock: lock.as_ref(), ..Records::default() },
            versions: true,
            changes,
            features: case.features.as_slice(),
            ..Options::on(date(2026, 1, 15))
        };
        let mut report = abide_lint::check(&new, &policy, options);
        let read = ReadOptions { notation: Notation::Yaml, ty: None, dialect: None };
        let texts = case.instances.iter().map(|it| Instance::read(&new, it.as_bytes(), read));
        let instances: Vec<Instance> = texts.collect();
        let files: Vec<InstanceFile<'_>> = instances
            .iter()
            .zip(&case.instances)
            .map(|(instance, text)| InstanceFile::new(instance, text.as_bytes()))
            .collect();
        let guards = case.guards.as_ref();
        let judged = InstanceOptions { guards, ..InstanceOptions::on(options.as_of) };
        let judged = abide_lint::check_instances(&new, &policy, judged, &files);
        report.findings.extend(judged.findings);
        let translator =
            VersionConverter::new(&new, VersionMapping::default(), &[]).expect("no steps");
        let carry = |text: &String| {
            convert_text(&new, &translator, text.as_bytes(), read, Some(&Direction::Up(None)))
        };
        let carried: Result<Vec<ConvertedText>, String> =
            case.instances.iter().map(carry).collect();
        let carried: Vec<ConvertedText> =
            carried?.into_iter().filter(|it| it.text.is_some()).collect();
        if carried.len() == instances.len() {
            let texts = carried.iter().zip(&case.instances);
            let carried: Vec<CarriedFile<'_>> = texts
                .map(|(carried, text)| CarriedFile { carried, text: text.as_bytes() })
                .collect();
            let judged = InstanceOptions::on(options.as_of);
            let lost = abide_lint::check_translations(&new, &policy, judged, &carried, false);
            report.findings.extend(lost.findings);
        }
        Ok(Judged { new, old, report })
    }
}

/// Judges a case: the rules that reported, or what is marked and not reported
/// and the reverse.
fn judge(case: &Case, imports: &Imports, changes: bool) -> Result<Vec<&'static str>, String> {
    let Judged { new, old, report } = Judged::of(case, imports, changes)?;
    let mut expected = markers("abide.toml", &case.config, "#");
    expected.extend(markers("abide.accepted", case.accepted.as_deref().unwrap_or_default(), "#"));
    if let Some(file) = &case.features {
        expected.extend(markers(&file.path, &file.text, "#"));
    }
    for (index, text) in case.instances.iter().enumerate() {
        expected.extend(markers(&instance_path(index), text, "#"));
    }
    for block in &case.files {
        let side = if block.old { "old " } else { "" };
        expected.extend(markers(&format!("{side}{}", block.path()), &block.text, "//"));
    }
    let mut complaints = compare(expected, reported(&new, old.as_ref(), case, &report));
    if let Some(old) = &old {
        complaints += &witnesses::complaints(old, &new, &report.findings);
    }
    if complaints.is_empty() {
        Ok(report.findings.iter().map(|it| it.rule).collect())
    } else {
        Err(complaints)
    }
}

#[test]
fn every_page_shows_what_its_rule_reports() {
    let imports = imports();
    let pages = RULES.par_iter().map(|rule| match page(rule, &imports) {
        Ok(()) => String::new(),
        Err(complaint) => format!("{}:\n{complaint}", rule.id),
    });
    let complaints = pages.collect::<Vec<_>>().concat();
    assert!(complaints.is_empty(), "{complaints}");
}

fn page(rule: &Rule, imports: &Imports) -> Result<(), String> {
    let mut complaints = String::new();
    let titles: Vec<&str> = rule.page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let wanted = ["What it checks", "Why", "Bad", "Good", "How to fix", "Limits"];
    if titles != wanted && titles != wanted[..5] {
        complaints += &format!("  the sections are {titles:?}\n");
    }
    if !rule.page.starts_with(&format!("# {}\n", rule.id)) {
        complaints += "  the title is not the id\n";
    }
    let (mut bad, mut good) = (false, false);
    for case in cases(rule.page) {
        let section = &case.section;
        match judge(&case, imports, rule.group == Group::Compatibility) {
            Ok(rules) if section == "Bad" => bad |= rules.contains(&rule.id),
            Ok(rules) if rules.is_empty() => good |= section == "Good",
            Ok(rules) => complaints += &format!("  {section} reports {rules:?}\n"),
            Err(complaint) => complaints += &complaint,
        }
    }
    // Descriptors are bytes, which a page cannot show.
    if rule.id != ProblemKind::DescriptorInvalid.id() && !(bad && good) {
        complaints += &format!("  an example is missing: bad {bad}, good {good}\n");
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

fn rules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules")
}

#[test]
fn the_list_of_rules_is_the_folder() {
    let ids: Vec<String> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    assert!(!ids.is_empty() && ids.is_sorted(), "the list is not sorted: {ids:?}");
    for extension in ["rs", "md"] {
        let entries = std::fs::read_dir(rules_folder()).expect("the folder is readable");
        let mut files: Vec<String> = entries
            .map(|entry| entry.expect("the folder is readable").path())
            .filter(|path| path.extension().is_some_and(|it| it == extension))
            .map(|path| path.file_stem().expect("it is a file").to_string_lossy().into_owned())
            .filter(|name| name != "README")
            .collect();
        files.sort();
        assert_eq!(files, ids, "files with the extension `{extension}`");
    }
}

#[test]
fn every_problem_of_the_linker_is_a_rule() {
    for kind in ProblemKind::ALL {
        let rule = find_rule(kind.id()).unwrap_or_else(|| panic!("no rule `{}`", kind.id()));
        assert!(matches!(rule.check, Check::Linker), "{}", rule.id);
        assert_eq!(rule.severity == Some(Severity::Error), kind.is_error(), "{}", rule.id);
    }
    let linker = RULES.iter().filter(|rule| matches!(rule.check, Check::Linker));
    assert_eq!(linker.count(), ProblemKind::ALL.len());
}

#[test]
fn the_index_of_rules_is_fresh() {
    let refresh = "`SNAPSHOTS=overwrite cargo test -p abide-lint` writes it";
    let mut index = format!("# Rules\n\nAn index of the pages; {refresh}.\n");
    // What a configuration declares has no page here.
    for group in Group::ALL.iter().filter(|it| **it != Group::Own) {
        let name = group.name();
        index += &format!("\n## {name}\n\n| rule | default | reports |\n|---|---|---|\n");
        for rule in RULES.iter().filter(|rule| rule.group == *group) {
            let severity = rule.severity.map_or("off", Severity::word);
            index += &format!("| [`{0}`]({0}.md) | {severity} | {1} |\n", rule.id, rule.summary);
        }
    }
    index += "\n## Fixes\n\nWhat `abide lint --fix` and `abide check --fix` do. `if-compatible` means: where \
              the policy lets the package\nchange this way; `never`: an editor offers it, and a \
              person decides.\n\n| rule | applied | the fix |\n|---|---|---|\n";
    for it in REMEDIES {
        let (id, word) = (it.rule.id, it.applied.word());
        index += &format!("| [`{id}`]({id}.md) | {word} | {} |\n", it.does);
    }
    let path = rules_folder().join("README.md");
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(&path, &index).expect("the folder is writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == index, "the index is stale: {refresh}");
}

#[test]
fn the_page_of_a_rule_says_whether_it_can_be_fixed() {
    for rule in RULES {
        let says = rule.page.split("## How to fix").nth(1).is_some_and(|it| it.contains("--fix`"));
        assert_eq!(says, rule.fix_info().is_some(), "{}", rule.id);
    }
}
