//! Measures `abide history` over thousands of commits: its cost must depend on the
//! changes only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use abide_harness::Result;
use abide_harness::corpora::Corpus;
use abide_harness::repository::{Commit, build_repository, pack};

use super::lived;
use super::timing::{Bench, Tool, name_verdict};

/// The number of commits of the longest history.
const COMMITS: usize = 2000;

/// The number of files that the commits edit, equal in every tree.
const EDITED: usize = 60;

/// The number of commits of the history that is like a real one.
const LIVED: usize = 1000;

/// The most seconds that a thousand commits may take.
const SECONDS: f64 = 10.0;

/// The largest ratio of the costs of a commit in a large tree and in a small one.
const FLAT: f64 = 1.5;

impl Bench {
    /// Measures the same edits in trees of three sizes.
    pub(super) fn history(
        &self,
        report: &mut String,
        large: &Corpus,
        larger: &Corpus,
    ) -> Result<bool> {
        let edited = choose_edited_files(large)?;
        let small = close_over_imports(large, &edited)?;
        let whole = |tree: &Corpus, prefix: &str| -> Result<Vec<(String, Vec<u8>)>> {
            let text =
                |file: &String| Ok((format!("{prefix}{file}"), fs::read(tree.root.join(file))?));
            tree.files.iter().map(text).collect()
        };
        let all = whole(large, "")?;
        let mut more = all.clone();
        // A separate root that the edits do not affect.
        more.extend(whole(larger, "beside/")?);
        let lived = lived::commits(&whole(larger, "")?, LIVED);
        let trees = [("small", small), ("large", all), ("larger", more)];
        let mut tools = Vec::new();
        let mut rows = Vec::new();
        for (name, files) in &trees {
            for commits in [1, COMMITS / 2, COMMITS] {
                tools.push(self.walk(name, &build_edits(files, &edited, commits))?);
                rows.push((name, files.len(), commits));
            }
        }
        // As clones have it, from its first commit and whole.
        for commits in [&lived[..1], &lived] {
            let tool = self.walk("lived", commits)?;
            pack(&tool.folder)?;
            tools.push(tool);
        }
        let mut medians = self.medians(&mut tools)?;
        let medians_lived = medians.split_off(medians.len() - 2);
        writeln!(report, "\n## abide history: one-file edits of the same {EDITED} files\n")?;
        writeln!(report, "The first commit adds all files; each later one edits one of them.\n")?;
        writeln!(report, "| tree | files | commits | seconds | ms per later commit | peak MiB |")?;
        writeln!(report, "|---|---|---|---|---|---|")?;
        let mut costs = Vec::new();
        for (rows, medians) in rows.chunks(3).zip(medians.chunks(3)) {
            for (&(name, files, commits), median) in rows.iter().zip(medians) {
                let later = median.seconds - medians[0].seconds;
                let cost = later * 1e3 / (commits - 1).max(1) as f64;
                let cost = if commits > 1 { format!("{cost:.2}") } else { "-".to_owned() };
                writeln!(
                    report,
                    "| {name} | {files} | {commits} | {:.2} | {cost} | {:.0} |",
                    median.seconds, median.mebibytes,
                )?;
            }
            let [first, half, all] = [0, 1, 2].map(|at| medians[at].seconds);
            costs.push([
                (half - first) / (COMMITS / 2 - 1) as f64,
                (all - first) / (COMMITS - 1) as f64,
            ]);
        }
        let later = (medians_lived[1].seconds - medians_lived[0].seconds) / LIVED as f64;
        writeln!(
            report,
            "\nA history with commits of 1 to 40 files, merges, renames, packages that come and go, and \
             edits of what nearly all import: {:.2} s and {:.0} MiB for its first commit, {:.2} s and \
             {:.0} MiB with {LIVED} more: {:.2} ms for each.",
            medians_lived[0].seconds,
            medians_lived[0].mebibytes,
            medians_lived[1].seconds,
            medians_lived[1].mebibytes,
            later * 1e3,
        )?;
        let all = costs.iter().map(|[_, cost]| *cost);
        let dearest = all.clone().fold(0.0, f64::max) * 1e3;
        let growth = all.fold(0.0, f64::max) / costs.first().map_or(f64::NAN, |[_, cost]| *cost);
        let bend = costs.iter().map(|[half, all]| all / half).fold(0.0, f64::max);
        writeln!(report)?;
        let mut met = true;
        for (what, value, most) in [
            ("seconds for a thousand later commits", dearest, SECONDS),
            (
                "cost of a later commit in any tree, as a multiple of that in the small one",
                growth,
                FLAT,
            ),
            ("cost of a later commit of all, as a multiple of that of the first half", bend, FLAT),
        ] {
            met &= value <= most;
            writeln!(
                report,
                "- {what}: at most {most}: {value:.2}: {}",
                name_verdict(value <= most)
            )?;
        }
        Ok(met)
    }

    /// The command for `abide history` over these commits.
    fn walk(&self, name: &str, commits: &[Commit]) -> Result<Tool> {
        let folder = build_repository(&format!("history-{name}-{}", commits.len()), commits, 8)?;
        fs::create_dir_all(folder.join("beside"))?;
        fs::write(folder.join("abide.toml"), "roots = [\".\", \"beside\"]\n")?;
        Ok(Tool {
            name: "abide history",
            command: vec![
                self.abide.clone().into(),
                "history".into(),
                "--format".into(),
                "json".into(),
            ],
            folder,
            done: &[0],
            checks: String::new(),
        })
    }
}

/// Files that the commits edit, spread over the tree.
fn choose_edited_files(tree: &Corpus) -> Result<Vec<String>> {
    let step = (tree.files.len() / EDITED).max(1);
    Ok(tree.files.iter().step_by(step).take(EDITED).cloned().collect())
}

/// These files, and the files of the tree that they import directly or indirectly.
fn close_over_imports(tree: &Corpus, files: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let known: BTreeSet<&String> = tree.files.iter().collect();
    let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut open: Vec<String> = files.to_vec();
    while let Some(file) = open.pop() {
        if found.contains_key(&file) {
            continue;
        }
        let text = fs::read(tree.root.join(&file))?;
        let lines = String::from_utf8_lossy(&text);
        let imports = lines.lines().filter_map(|line| line.strip_prefix("import "));
        let paths = imports.filter_map(|rest| rest.split('"').nth(1).map(str::to_owned));
        open.extend(paths.filter(|path| known.contains(path)));
        found.insert(file, text);
    }
    Ok(found.into_iter().collect())
}

/// Commits of which the first adds the files, and each other one adds a field, a message or a
/// comment to one of them.
fn build_edits(files: &[(String, Vec<u8>)], edited: &[String], commits: usize) -> Vec<Commit> {
    let mut random = fastrand::Rng::with_seed(1);
    let all = files.iter().map(|(path, text)| (path.clone(), Some(text.clone()))).collect();
    let mut history =
        vec![Commit { subject: "all files".to_owned(), files: all, side: Vec::new() }];
    let mut added: BTreeMap<&String, Vec<(usize, usize)>> = BTreeMap::new();
    let texts: BTreeMap<&String, &Vec<u8>> =
        files.iter().map(|(path, text)| (path, text)).collect();
    for number in 1..commits {
        let path = &edited[random.usize(..edited.len())];
        let messages = added.entry(path).or_default();
        let mut comment = String::new();
        match random.u8(..4) {
            0 => comment = format!("\n// Note {number}.\n"),
            1 if !messages.is_empty() => drop(messages.remove(random.usize(..messages.len()))),
            2 if !messages.is_empty() => {
                let at = random.usize(..messages.len());
                messages[at].1 += 1;
            }
            _ => messages.push((number, 1)),
        }
        let mut text = texts.get(path).map(|text| text.to_vec()).unwrap_or_default();
        for (name, fields) in messages.iter() {
            text.extend(format!("\nmessage AddedLater{name} {{\n").bytes());
            for field in 1..=*fields {
                text.extend(format!("  string field_{field} = {field};\n").bytes());
            }
            text.extend(b"}\n");
        }
        text.extend(comment.bytes());
        let files = vec![(path.clone(), Some(text))];
        history.push(Commit { subject: format!("edit {number}"), files, side: Vec::new() });
    }
    history
}
