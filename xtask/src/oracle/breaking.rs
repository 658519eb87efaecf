//! `abide breaking` beside `buf breaking`, on the same pairs of trees.
//!
//! The rules of buf that Abide names as aliases of a finding must be those that
//! buf reports, at the same place. What only one of them sees is counted by
//! rule, and each count has its reason in `testdata/breaking/reasons.txt`; the
//! table `testdata/breaking/buf.md` is written anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::corpora::{self, Corpus};
use crate::tools::{Protoc, output, workspace};
use crate::{Place, Result};

/// Every rule of buf, whatever its category.
const BUF_CONFIG: &str =
    r#"{"version":"v2","breaking":{"use":["FILE","PACKAGE","WIRE_JSON","WIRE","CSR"]}}"#;

/// Releases of the crate envoy-types that differ much from one to the next.
const RELEASES: &[&str] = &["0.1.0", "0.3.0", "0.5.0", "0.5.5", "0.6.1", "0.7.1", "0.7.7"];

/// Two trees.
struct Pair {
    name: String,
    old: Corpus,
    new: Corpus,
}

/// Where a rule of buf stands in a report.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    rule: String,
    path: String,
    /// Line and column, from 1.
    start: (u64, u64),
}

/// How often a rule was reported on a pair.
#[derive(Default)]
struct Row {
    same_place: usize,
    other_place: usize,
    only_buf: Vec<Report>,
    only_abide: Vec<Report>,
}

/// Compares on all pairs; true when every difference has a reason.
pub(super) fn run(place: &Place, protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let mut pairs = pages()?;
    let mut trees = corpora::archives(place)?;
    let order = ["envoy-v2-to-v3", "envoy-v4alpha-2020-04", "envoy-v4alpha-2020-12", "envoy-head"];
    for names in order.windows(2) {
        pairs.extend(between(&mut trees, names)?);
    }
    let mut releases = corpora::envoy_types(RELEASES)?;
    for versions in RELEASES.windows(2) {
        pairs.extend(between(&mut releases, versions)?);
    }
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for pair in &pairs {
        let name = if pair.name.contains('#') { "pages" } else { &pair.name };
        let theirs = buf(pair, protoc, abide)?;
        let ours = aliases(pair, protoc, abide)?;
        for rule in theirs.iter().chain(&ours).map(|it| it.rule.clone()).collect::<BTreeSet<_>>() {
            let of = |list: &[Report]| -> Vec<Report> {
                list.iter().filter(|it| it.rule == rule).cloned().collect()
            };
            let row = rows.entry((name.to_owned(), rule.clone())).or_default();
            matched(row, of(&theirs), of(&ours), &pair.name);
        }
    }
    let reasons = reasons()?;
    let mut used = BTreeSet::new();
    let mut unexplained = 0;
    let mut table = String::from(HEAD);
    let (mut same, mut other, mut theirs, mut ours) = (0, 0, 0, 0);
    for ((pair, rule), row) in &rows {
        same += row.same_place;
        other += row.other_place;
        theirs += row.only_buf.len();
        ours += row.only_abide.len();
        let mut why = Vec::new();
        let other_place = if row.other_place > 0 { ["place"].as_slice() } else { &[] };
        let sides = [("buf", &row.only_buf), ("abide", &row.only_abide)];
        let differ = sides.iter().filter(|(_, list)| !list.is_empty()).map(|(side, _)| *side);
        for side in differ.chain(other_place.iter().copied()) {
            match reasons.iter().find(|it| it.rule == *rule && it.side == side && it.holds(pair)) {
                Some(reason) => {
                    used.insert(reason.line);
                    why.push(format!("{side}: {}", reason.text));
                }
                None => {
                    unexplained += 1;
                    println!("  {pair}: {rule}: no reason for `{side}`");
                }
            }
        }
        for (side, list) in sides {
            for report in list.iter().take(if why.is_empty() { show } else { 0 }) {
                println!("    only {side}: {}:{}:{}", report.path, report.start.0, report.start.1);
            }
        }
        let _ = writeln!(
            table,
            "| {pair} | {rule} | {} | {} | {} | {} | {} |",
            row.same_place,
            row.other_place,
            row.only_buf.len(),
            row.only_abide.len(),
            why.join("; ")
        );
    }
    for stale in reasons.iter().filter(|reason| !used.contains(&reason.line)) {
        println!("  reasons.txt:{}: explains nothing", stale.line);
        unexplained += 1;
    }
    fs::write(folder()?.join("buf.md"), table)?;
    println!(
        "breaking: {} pairs: {same} at one place, {other} elsewhere, {theirs} by buf alone, {ours} \
         by abide alone; {unexplained} without a reason",
        pairs.len()
    );
    Ok(unexplained == 0 && same > 0)
}

const HEAD: &str = "\
# Abide beside buf

How often rules of buf (1.75, all categories) fire, and how often Abide names them as aliases of a \
finding, on the same pairs of trees. `cargo xtask oracle --only breaking` writes this table; a \
difference without a reason in `reasons.txt` fails it.

| pair | rule of buf | both, same place | both, other place | buf alone | Abide alone | why |
|---|---|---|---|---|---|---|
";

fn folder() -> Result<PathBuf> {
    Ok(workspace()?.join("testdata/breaking"))
}

/// Takes two trees out of a list, where both are in it.
fn between(trees: &mut [Corpus], names: &[&str]) -> Result<Option<Pair>> {
    let find = |name: &str| trees.iter().find(|tree| tree.name == name);
    let (Some(old), Some(new)) = (find(names[0]), find(names[1])) else { return Ok(None) };
    let name = format!("{} → {}", old.name, new.name);
    Ok(Some(Pair { name, old: old.again()?, new: new.again()? }))
}

/// The examples in the pages of rules that have an old side.
fn pages() -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let folder = workspace()?.join("crates/abide/src/rules");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    pages.retain(|path| path.extension().is_some_and(|it| it == "md"));
    pages.sort();
    for page in pages {
        let text = fs::read_to_string(&page)?;
        let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (index, [old, new]) in examples(&text).into_iter().enumerate() {
            if !old.is_empty() && !new.is_empty() {
                // buf takes `#` in a path for the beginning of options.
                let folder = format!("pages/{name}-{index}");
                let old = corpora::written(&format!("{folder}/old"), &old)?;
                let new = corpora::written(&format!("{folder}/new"), &new)?;
                let name = format!("{name}#{index}");
                pairs.push(Pair { name, old, new });
            }
        }
    }
    Ok(pairs)
}

/// Files with their texts.
type Files = Vec<(String, String)>;

/// The old and the new files of each example: a heading, or a path that comes
/// again, begins another one.
fn examples(page: &str) -> Vec<[Files; 2]> {
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
                    // Something else to be passed over, up to its end.
                    open = Some((1, format!("{info}.txt"), String::new()));
                }
            }
            (None, None) if line.starts_with('#') => examples.push(Default::default()),
            (None, None) => {}
        }
    }
    for [old, new] in &mut examples {
        old.retain(|file| file.0.ends_with(".proto"));
        new.retain(|file| file.0.ends_with(".proto"));
    }
    examples
}

/// The set of descriptors of a tree, which both tools can read.
fn set(tree: &Corpus, protoc: &Protoc, abide: &Path) -> Result<PathBuf> {
    let path = corpora::stage()?.join(format!("{}.set.binpb", tree.name.replace('/', "-")));
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
    Ok(path)
}

/// What buf reports of a pair, of the files that are judged.
fn buf(pair: &Pair, protoc: &Protoc, abide: &Path) -> Result<Vec<Report>> {
    let (old, new) = (set(&pair.old, protoc, abide)?, set(&pair.new, protoc, abide)?);
    let mut buf = Command::new("buf");
    buf.arg("breaking").arg(&new).arg("--against").arg(&old);
    let said = output(buf.args(["--error-format", "json", "--config", BUF_CONFIG]))?;
    if ![Some(0), Some(100)].contains(&said.status.code()) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let judged: BTreeSet<&String> = pair.old.files.iter().chain(&pair.new.files).collect();
    let mut reports = Vec::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let path = line["path"].as_str().unwrap_or_default().to_owned();
        // Whole files and packages that are gone have no place.
        if path.is_empty() || judged.contains(&path) {
            let number = |key: &str| line[key].as_u64().unwrap_or(1);
            reports.push(Report {
                rule: line["type"].as_str().unwrap_or_default().to_owned(),
                path,
                start: (number("start_line"), number("start_column")),
            });
        }
    }
    Ok(reports)
}

/// The rules of buf that Abide names, where its findings stand.
fn aliases(pair: &Pair, protoc: &Protoc, abide: &Path) -> Result<Vec<Report>> {
    let mut command = Command::new(abide);
    command.arg("breaking").arg(&pair.new.root).arg("--against").arg(&pair.old.root);
    for root in pair.new.imports.iter().chain([&protoc.include]) {
        command.arg("-I").arg(root);
    }
    let said = output(command.args(["--changes", "--format", "json"]))?;
    if ![Some(0), Some(1)].contains(&said.status.code()) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let mut reports = Vec::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        // Only a change has a bump.
        let aliases = line["aliases"].as_array().filter(|_| line["bump"].is_string());
        let aliases = aliases.into_iter().flatten();
        for rule in aliases.filter_map(|alias| alias.as_str()?.strip_prefix("buf:")) {
            let number = |key: &str| line["start"][key].as_u64().unwrap_or(1);
            reports.push(Report {
                rule: rule.to_owned(),
                path: line["path"].as_str().unwrap_or_default().to_owned(),
                start: (number("line"), number("column")),
            });
        }
    }
    Ok(reports)
}

/// Pairs reports of one rule: at one place, then in one file, then anywhere for
/// those that buf gives no file.
fn matched(row: &mut Row, mut theirs: Vec<Report>, mut ours: Vec<Report>, pair: &str) {
    let mut take = |same: &dyn Fn(&Report, &Report) -> bool| {
        let before = theirs.len();
        theirs.retain(|their| match ours.iter().position(|our| same(their, our)) {
            Some(at) => {
                ours.remove(at);
                false
            }
            None => true,
        });
        before - theirs.len()
    };
    row.same_place += take(&|their, our| their.path == our.path && their.start == our.start);
    row.other_place += take(&|their, our| their.path == our.path);
    row.same_place += take(&|their, _| their.path.is_empty());
    let named = |mut report: Report| {
        if pair.contains('#') {
            report.path = format!("{pair}/{}", report.path);
        }
        report
    };
    row.only_buf.extend(theirs.into_iter().map(named));
    row.only_abide.extend(ours.into_iter().map(named));
}

/// Why the two differ: `RULE SIDE PAIR: REASON`, where the side is `buf` or
/// `abide` for what one alone reports, or `place`, and the pair `*` or a part
/// of its name.
struct Reason {
    line: usize,
    rule: String,
    side: String,
    pair: String,
    text: String,
}

impl Reason {
    fn holds(&self, pair: &str) -> bool {
        self.pair == "*" || pair.contains(&self.pair)
    }
}

fn reasons() -> Result<Vec<Reason>> {
    let text = fs::read_to_string(folder()?.join("reasons.txt"))?;
    let lines =
        text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(line, number)| {
            let (head, text) = line.split_once(": ").ok_or(format!("line {number}: no reason"))?;
            let [rule, side, pair] = head.split(' ').collect::<Vec<_>>()[..] else {
                return Err(format!("line {number}: not RULE SIDE PAIR").into());
            };
            Ok(Reason {
                line: number,
                rule: rule.to_owned(),
                side: side.to_owned(),
                pair: pair.to_owned(),
                text: text.to_owned(),
            })
        })
        .collect()
}
