//! Measures a check against all releases of an API beside one against the oldest alone.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;

use abide_harness::Result;
use abide_harness::corpora::Corpus;
use abide_harness::repository::{Commit, build_repository, check_out};

use super::timing::{Bench, Tool, name_verdict};

/// The number of releases.
const RELEASES: usize = 22;

/// The number of files that each release changes.
const CHANGED: usize = 40;

/// The most that all releases may cost, as a multiple of one: in time, and in memory.
const MOST: [f64; 2] = [3.0, 1.5];

impl Bench {
    /// Measures both on one repository.
    pub(super) fn releases(&self, report: &mut String, tree: &Corpus) -> Result<bool> {
        let folder = build_repository("releases", &make_releases(tree)?, 24)?;
        check_out(&folder)?;
        let tool = |against: &[usize]| {
            let mut command: Vec<OsString> = vec![self.abide.clone().into(), "breaking".into()];
            for age in against {
                command.extend(["--against".into(), format!("git:HEAD~{age}").into()]);
            }
            command.extend(["--format".into(), "json".into()]);
            let checks = "one tree read, linked and compared with others".into();
            Tool { name: "abide breaking", command, folder: folder.clone(), done: &[0, 1], checks }
        };
        let all: Vec<usize> = (1..=RELEASES).rev().collect();
        let medians = self.medians(&mut [tool(&[RELEASES]), tool(&all)])?;
        writeln!(report, "\n## {RELEASES} releases, each with {CHANGED} changed files\n")?;
        writeln!(report, "| against | seconds | peak MiB |")?;
        writeln!(report, "|---|---|---|")?;
        for (name, median) in ["the oldest", "all of them"].iter().zip(&medians) {
            writeln!(report, "| {name} | {:.3} | {:.0} |", median.seconds, median.mebibytes)?;
        }
        let ratios =
            [medians[1].seconds / medians[0].seconds, medians[1].mebibytes / medians[0].mebibytes];
        writeln!(report)?;
        let mut met = true;
        for ((what, ratio), most) in ["time", "memory"].into_iter().zip(ratios).zip(MOST) {
            met &= ratio <= most;
            let verdict = name_verdict(ratio <= most);
            writeln!(report, "- {what} as a multiple: at most {most}: {ratio:.2}: {verdict}")?;
        }
        Ok(met)
    }
}

/// A commit for each release, and one for today: each adds fields to some files, and some go again.
fn make_releases(tree: &Corpus) -> Result<Vec<Commit>> {
    let mut random = fastrand::Rng::with_seed(22);
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for file in &tree.files {
        texts.push((file.clone(), fs::read(tree.root.join(file))?));
    }
    let first = texts.iter().map(|(path, text)| (path.clone(), Some(text.clone()))).collect();
    let mut commits =
        vec![Commit { subject: "release 0".to_owned(), files: first, side: Vec::new() }];
    for release in 1..=RELEASES {
        let mut places: Vec<usize> = (0..texts.len()).collect();
        random.shuffle(&mut places);
        let mut files = Vec::new();
        for at in places.into_iter().take(CHANGED) {
            let (path, text) = &mut texts[at];
            let name = format!("AddedIn{release}To{at}");
            match random.bool() {
                true => text.extend(format!("\nmessage {name} {{\n  string a = 1;\n}}\n").bytes()),
                false => drop_added(text),
            }
            files.push((path.clone(), Some(text.clone())));
        }
        commits.push(Commit { subject: format!("release {release}"), files, side: Vec::new() });
    }
    Ok(commits)
}

/// Takes out the last message that a release added; if there is none, a comment comes.
fn drop_added(text: &mut Vec<u8>) {
    let whole = String::from_utf8_lossy(text).into_owned();
    match whole.rfind("\nmessage AddedIn") {
        Some(at) => text.truncate(at),
        None => text.extend(b"\n// Nothing changed here.\n"),
    }
}
