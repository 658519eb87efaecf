//! Compares `abide breaking` with `buf breaking` on the same pairs of trees.
//!
//! The rules of buf that Abide names as aliases of a finding must be those that buf
//! reports, at the same place. Differences are counted by rule, and each needs a
//! reason in `testdata/breaking/reasons.txt`. The table `testdata/breaking/buf.md`
//! is rewritten. Other libraries replay the witnesses: see `witnesses`. What the categories of buf
//! refuse is recorded by `categories`.

mod categories;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output, stdout, workspace};
use serde_json::Value;

use crate::judged_pairs::{BufReport, JudgedPair};
use crate::protoc::wire::{read_messages, read_string};
use crate::runtimes::witnesses;

/// Every rule of buf, whatever its category.
const BUF_CONFIG: &str =
    r#"{"version":"v2","breaking":{"use":["FILE","PACKAGE","WIRE_JSON","WIRE","CSR"]}}"#;

/// Releases of the crate envoy-types with large differences between them.
const RELEASES: &[&str] = &["0.1.0", "0.3.0", "0.5.0", "0.5.5", "0.6.1", "0.7.1", "0.7.7"];

/// Two trees.
struct Pair {
    name: String,
    old: Corpus,
    new: Corpus,
}

/// How often a rule was reported.
#[derive(Default)]
struct Row {
    same_place: usize,
    differences: Vec<Difference>,
}

/// A difference between the two reports.
struct Difference {
    side: &'static str,
    pair: String,
    report: BufReport,
}

/// Compares all pairs; true if every difference has a reason and every witness is
/// confirmed.
pub(crate) fn run(trees: &[Corpus], protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let mut pairs = collect_page_pairs()?;
    let order = ["envoy-v2-to-v3", "envoy-v4alpha-2020-04", "envoy-v4alpha-2020-12", "envoy-head"];
    for names in order.windows(2) {
        pairs.extend(pair_trees(trees, names));
    }
    let releases = corpora::envoy_types(RELEASES)?;
    for versions in RELEASES.windows(2) {
        pairs.extend(pair_trees(&releases, versions));
    }
    let judged = judge_pairs(&pairs, protoc, abide)?;

    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for rule in list_rules(BUF_CONFIG)? {
        rows.insert(rule, Row::default());
    }
    let mut refused = Vec::new();
    for pair in &judged {
        let theirs = match &pair.theirs {
            Ok(theirs) => theirs,
            Err(why) => {
                refused.push((&pair.name, why));
                continue;
            }
        };
        let ours = list_aliases(&pair.findings);
        for rule in theirs.iter().chain(&ours).map(|it| &it.rule).collect::<BTreeSet<_>>() {
            let of = |list: &[BufReport]| -> Vec<BufReport> {
                list.iter().filter(|it| it.rule == *rule).cloned().collect()
            };
            let row = rows.entry(rule.clone()).or_default();
            match_reports(row, of(theirs), of(&ours), &pair.name);
        }
    }
    let explained = explain_differences(&rows, &refused, show)?;
    let same: usize = rows.values().map(|row| row.same_place).sum();
    let confirmed = witnesses::run(&judged, show)?;
    let is_same = categories::run()?;
    Ok(explained && same > 0 && confirmed && is_same)
}

/// Checks all pairs with both tools.
fn judge_pairs(pairs: &[Pair], protoc: &Protoc, abide: &Path) -> Result<Vec<JudgedPair>> {
    let next = AtomicUsize::new(0);
    let work = || -> std::result::Result<Vec<(usize, JudgedPair)>, String> {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(pair) = pairs.get(index) else { return Ok(done) };
            let judged = judge(pair, protoc, abide);
            done.push((index, judged.map_err(|error| format!("{}: {error}", pair.name))?));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let shares: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let lost = || Err("a worker ended".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut all = Vec::new();
    for share in shares {
        all.extend(share?);
    }
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, judged)| judged).collect())
}

fn judge(pair: &Pair, protoc: &Protoc, abide: &Path) -> Result<JudgedPair> {
    // Other pairs, which are checked at the same time, have trees with the same names.
    let name = |side: &str| format!("{}.{side}", pair.name.replace([' ', '/', '#', '→'], "-"));
    let old = set(&pair.old, &name("old"), protoc, abide)?;
    let sets = [old, set(&pair.new, &name("new"), protoc, abide)?];
    let theirs = run_buf(&sets)?;
    let findings = run_abide(pair, protoc, abide)?;
    Ok(JudgedPair { name: pair.name.clone(), sets, findings, theirs })
}

/// Finds the reason of each difference and writes the table; true if all have one.
fn explain_differences(
    rows: &BTreeMap<String, Row>,
    refused: &[(&String, &String)],
    show: usize,
) -> Result<bool> {
    let reasons = read_reasons()?;
    let mut used = BTreeSet::new();
    let mut unexplained = 0;
    let mut table = String::from(HEAD);
    let mut totals = BTreeMap::from(SIDES.map(|side| (side, 0)));
    let mut same = 0;
    for (rule, row) in rows {
        same += row.same_place;
        let mut counts = BTreeMap::new();
        let mut why: BTreeMap<usize, usize> = BTreeMap::new();
        for difference in &row.differences {
            let Difference { side, pair, report } = difference;
            *counts.entry(*side).or_insert(0) += 1;
            *totals.entry(side).or_insert(0) += 1;
            match reasons.iter().find(|reason| reason.holds(rule, difference)) {
                Some(reason) => {
                    used.insert(reason.line);
                    *why.entry(reason.line).or_default() += 1;
                }
                None => {
                    unexplained += 1;
                    if unexplained <= show.max(1) {
                        let (BufReport { path, said, .. }, (line, column)) = (report, report.start);
                        println!("  {rule}: {side}: {pair}: {path}:{line}:{column}: {said}");
                    }
                }
            }
        }
        let reason = |line: usize| reasons.iter().find(|reason| reason.line == line);
        let why: Vec<String> = why
            .into_iter()
            .filter_map(|(line, times)| {
                let Reason { side, text, .. } = reason(line)?;
                Some(format!("{side} {times}: {text}"))
            })
            .collect();
        let count = |side: &str| counts.get(side).copied().unwrap_or(0);
        let never = row.same_place == 0 && row.differences.is_empty();
        let _ = match never {
            true => writeln!(table, "| {rule} | | | | | never fired |"),
            false => writeln!(
                table,
                "| {rule} | {} | {} | {} | {} | {} |",
                row.same_place,
                count("place"),
                count("buf"),
                count("abide"),
                why.join("; "),
            ),
        };
    }
    let _ = writeln!(
        table,
        "| all | {same} | {} | {} | {} | |",
        totals["place"], totals["buf"], totals["abide"]
    );
    if !refused.is_empty() {
        table.push_str("\nPairs that buf refuses to check:\n\n");
    }
    for (pair, why) in refused {
        let _ = writeln!(table, "- {pair}: {}", why.trim());
    }
    for stale in reasons.iter().filter(|reason| !used.contains(&reason.line)) {
        println!("  reasons.txt:{}: explains nothing", stale.line);
        unexplained += 1;
    }
    fs::write(folder()?.join("buf.md"), table)?;
    println!(
        "breaking: {same} at the same place, {} elsewhere, {} by buf alone, {} by abide alone; {} pairs \
         refused by buf; {unexplained} without a reason",
        totals["place"],
        totals["buf"],
        totals["abide"],
        refused.len(),
    );
    Ok(unexplained == 0)
}

/// The breaking rules of buf that a configuration turns on.
fn list_rules(config: &str) -> Result<Vec<String>> {
    let mut buf = Command::new("buf");
    buf.args(["config", "ls-breaking-rules", "--configured-only", "--format", "json"]);
    let said = stdout(buf.args(["--config", config]))?;
    let rule = |line: &str| -> Result<String> {
        let rule: Value = serde_json::from_str(line)?;
        Ok(rule["id"].as_str().ok_or("a rule of buf without an id")?.to_owned())
    };
    said.lines().map(rule).collect()
}

/// The kinds of differences: only one tool reports it, or both at different places.
const SIDES: [&str; 3] = ["buf", "abide", "place"];

const HEAD: &str = "\
# Abide compared with buf

How often the rules of buf (1.75, all categories) fire on pairs of trees, and how often Abide \
names them as aliases of a finding on the same pairs. The pairs are the examples on the rule \
pages, the releases of Envoy's API and those of the crate envoy-types. `cargo xtask oracle --only \
breaking` writes this table, and fails on a difference without a reason in `reasons.txt`.

| rule of buf | both, same place | both, other place | buf alone | Abide alone | why |
|---|---|---|---|---|---|
";

fn folder() -> Result<PathBuf> {
    Ok(workspace()?.join("testdata/breaking"))
}

/// Two trees of a list, if both are in it.
fn pair_trees(trees: &[Corpus], names: &[&str]) -> Option<Pair> {
    let find = |name: &str| trees.iter().find(|tree| tree.name == name).cloned();
    let (old, new) = (find(names[0])?, find(names[1])?);
    Some(Pair { name: format!("{} → {}", old.name, new.name), old, new })
}

/// The examples on rule pages that have an old side.
fn collect_page_pairs() -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let folder = workspace()?.join("crates/abide-lint/src/rules");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    pages.retain(|path| path.extension().is_some_and(|it| it == "md"));
    pages.sort();
    for page in pages {
        let text = fs::read_to_string(&page)?;
        let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (index, [old, new]) in read_examples(&text).into_iter().enumerate() {
            if !old.is_empty() && !new.is_empty() {
                // buf reads `#` in a path as the start of options.
                let folder = format!("pages/{name}-{index}");
                let old = corpora::write_tree(&format!("{folder}/old"), &old)?;
                let new = corpora::write_tree(&format!("{folder}/new"), &new)?;
                let name = format!("{name}#{index}");
                pairs.push(Pair { name, old, new });
            }
        }
    }
    Ok(pairs)
}

/// Files with their texts.
type Files = Vec<(String, String)>;

/// How the pages write an edition that does not exist.
const UNKNOWN_EDITION: &str = "edition = \"2099\"";

/// The old and the new files of each example. A heading, or a repeated path, begins
/// another example.
fn read_examples(page: &str) -> Vec<[Files; 2]> {
    let mut examples: Vec<[Files; 2]> = vec![Default::default()];
    let mut open: Option<(usize, String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => {
                let Some((side, path, text)) = open.take() else { continue };
                let taken = examples
                    .last()
                    .is_some_and(|last: &[Files; 2]| last[side].iter().any(|file| file.0 == path));
                if taken {
                    examples.push(Default::default());
                }
                if let Some(last) = examples.last_mut() {
                    last[side].push((path, text));
                }
            }
            (Some((_, _, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(info)) => {
                let words: Vec<&str> = info.split_whitespace().collect();
                let path = words.iter().find_map(|word| word.strip_prefix("file="));
                if words.first() == Some(&"proto") && !words.contains(&"imported") {
                    let path = path.unwrap_or("example.proto").to_owned();
                    open = Some((usize::from(!words.contains(&"old")), path, String::new()));
                } else {
                    // Another block, to be skipped up to its end.
                    open = Some((1, format!("{info}.txt"), String::new()));
                }
            }
            (None, None) if line.starts_with('#') => examples.push(Default::default()),
            (None, None) => {}
        }
    }
    // Of an import that differs, neither side can be built here, and buf does not compare it.
    let differs = |file: &(String, String)| file.0.starts_with("proto old imported ");
    examples.retain(|[_, new]| !new.iter().any(differs));
    // Nothing of a file in an edition that nobody knows can be built.
    let is_unknown = |file: &(String, String)| file.1.contains(UNKNOWN_EDITION);
    examples.retain(|sides| !sides.iter().flatten().any(is_unknown));
    for [old, new] in &mut examples {
        old.retain(|file| file.0.ends_with(".proto"));
        new.retain(|file| file.0.ends_with(".proto"));
    }
    examples
}

/// The descriptor set of a tree, which both tools can read.
fn set(tree: &Corpus, name: &str, protoc: &Protoc, abide: &Path) -> Result<PathBuf> {
    let path = corpora::stage()?.join(format!("{name}.set.binpb"));
    let mut build = Command::new(abide);
    build.arg("build").arg(&tree.root);
    for root in tree.imports.iter().chain([&protoc.include]) {
        build.arg("-I").arg(root);
    }
    let built = output(build.arg("-o").arg(&path))?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        return Err(format!("`{}` does not build: {said}", tree.root.display()).into());
    }
    // Marks for buf which files are only imported.
    let mut marked = Vec::new();
    for file in read_messages(&fs::read(&path)?, 1)? {
        let name = read_string(file, 1)?.unwrap_or_default();
        let mark = if tree.files.iter().any(|it| it == name) { &[][..] } else { IMPORTED };
        write_varint(1 << 3 | 2, &mut marked);
        write_varint(file.len() + mark.len(), &mut marked);
        marked.extend([file, mark].concat());
    }
    fs::write(&path, marked)?;
    Ok(path)
}

/// The field `buf_extension` of a file in an image of buf, with `is_import: true`.
const IMPORTED: &[u8] = &[0xd2, 0xf6, 0x03, 0x02, 0x08, 0x01];

fn write_varint(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The reports of buf about a pair.
fn run_buf([old, new]: &[PathBuf; 2]) -> Result<std::result::Result<Vec<BufReport>, String>> {
    let mut buf = Command::new("buf");
    buf.args(["breaking", "--exclude-imports"]).arg(new).arg("--against").arg(old);
    let said = output(buf.args(["--error-format", "json", "--config", BUF_CONFIG]))?;
    if ![Some(0), Some(100)].contains(&said.status.code()) {
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        return if why.contains("MessageSet") { Ok(Err(why)) } else { Err(why.into()) };
    }
    let mut reports = Vec::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let number = |key: &str| line[key].as_u64().unwrap_or(1);
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        reports.push(BufReport {
            rule: text("type"),
            path: text("path"),
            old_path: String::new(),
            start: (number("start_line"), number("start_column")),
            said: text("message"),
        });
    }
    Ok(Ok(reports))
}

/// The findings of Abide about changes.
fn run_abide(pair: &Pair, protoc: &Protoc, abide: &Path) -> Result<Vec<Value>> {
    let mut command = Command::new(abide);
    command.arg("breaking").arg(&pair.new.root).arg("--against").arg(&pair.old.root);
    for root in pair.new.imports.iter().chain([&protoc.include]) {
        command.arg("-I").arg(root);
    }
    let said = output(command.args(["--changes", "--format", "json"]))?;
    if ![Some(0), Some(1)].contains(&said.status.code()) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let mut findings = Vec::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        // Only a change has a bump.
        if line["bump"].is_string() {
            findings.push(line);
        }
    }
    Ok(findings)
}

/// The rules of buf that Abide names, with the places of its findings.
fn list_aliases(findings: &[Value]) -> Vec<BufReport> {
    let mut reports = Vec::new();
    for line in findings {
        let aliases = line["aliases"].as_array().into_iter().flatten();
        for rule in aliases.filter_map(|alias| alias.as_str()?.strip_prefix("buf:")) {
            let number = |key: &str| line["start"][key].as_u64().unwrap_or(1);
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            reports.push(BufReport {
                rule: rule.to_owned(),
                path: text("path"),
                old_path: line["old"]["path"].as_str().unwrap_or_default().to_owned(),
                start: (number("line"), number("column")),
                said: format!("{}: {}", text("rule"), text("message")),
            });
        }
    }
    reports
}

/// Pairs reports of one rule: first at the same place, then in the same new or old
/// file, then anywhere if buf reports no file.
fn match_reports(row: &mut Row, mut theirs: Vec<BufReport>, mut ours: Vec<BufReport>, pair: &str) {
    let mut take = |same: &dyn Fn(&BufReport, &BufReport) -> bool| -> Vec<BufReport> {
        let (mut left, mut taken) = (Vec::new(), Vec::new());
        for mut their in theirs.drain(..) {
            match ours.iter().position(|our| same(&their, our)) {
                Some(at) => {
                    let BufReport { path, start, said, .. } = ours.remove(at);
                    let _ = write!(their.said, " — {path}:{}:{}: {said}", start.0, start.1);
                    taken.push(their);
                }
                None => left.push(their),
            }
        }
        theirs = left;
        taken
    };
    row.same_place += take(&|their, our| their.path == our.path && their.start == our.start).len();
    let mut elsewhere = take(&|their, our| their.path == our.path);
    elsewhere.extend(take(&|their, our| their.path == our.old_path));
    row.same_place += take(&|their, _| their.path.is_empty()).len();
    for (side, list) in [("place", elsewhere), ("buf", theirs), ("abide", ours)] {
        let pair = pair.to_owned();
        row.differences.extend(list.into_iter().map(|report| Difference {
            side,
            pair: pair.clone(),
            report,
        }));
    }
}

/// Why the two differ: `RULES SIDE WHERE: REASON`. RULES are separated by commas.
/// SIDE is `buf` or `abide` if only that tool reports it, or `place`. WHERE is `*`,
/// or a part of the name of the pair or of the path.
struct Reason {
    line: usize,
    rules: String,
    side: String,
    lies: String,
    text: String,
}

impl Reason {
    fn holds(&self, rule: &str, Difference { side, pair, report }: &Difference) -> bool {
        let lies = [pair, &report.path].iter().any(|it| it.contains(&self.lies));
        self.side == *side
            && self.rules.split(',').any(|it| it == rule)
            && (self.lies == "*" || lies)
    }
}

fn read_reasons() -> Result<Vec<Reason>> {
    let text = fs::read_to_string(folder()?.join("reasons.txt"))?;
    let lines =
        text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(line, number)| {
            let (head, text) = line.split_once(": ").ok_or(format!("line {number}: no reason"))?;
            let [rules, side, lies] = head.split(' ').collect::<Vec<_>>()[..] else {
                return Err(format!("line {number}: not RULES SIDE WHERE").into());
            };
            Ok(Reason {
                line: number,
                rules: rules.to_owned(),
                side: side.to_owned(),
                lies: lies.to_owned(),
                text: text.to_owned(),
            })
        })
        .collect()
}
