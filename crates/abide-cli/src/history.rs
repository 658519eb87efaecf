//! `abide history`: what each commit did to each package.
//!
//! The walk goes from the oldest commit to the newest. The cost of a step depends only on what it
//! changed: the changed files are read and parsed once, two small trees around them are linked and
//! compared, and only the hashes that depend on a change are computed again.

mod element_history;
mod judge;
mod package_history;
mod record;
mod releases;
mod tree_state;

use std::collections::BTreeSet;

use abide_lint::{ElementHistory, Policy};
use abide_schema::FileKey;
use abide_source::{Commit, Progress, Timeline};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rayon::prelude::*;

use self::element_history::{ElementTracker, StepMoment, take_elements};
pub(crate) use self::judge::VerdictReason;
use self::judge::{JudgedStep, collect_facts, compare_step};
use self::package_history::PackageTracker;
pub(crate) use self::package_history::{PackageRow, PackageVerdict};
use self::record::Records;
pub(crate) use self::releases::{ReleaseRow, judge_releases};
use self::tree_state::{StepChanges, TreeState};
use crate::error::Error;

/// The number of commits that are judged together: enough to use every core, few enough for the
/// memory.
const BATCH: usize = 64;

/// The history of a tree.
pub(crate) struct TreeHistory {
    /// The folder of the tree in the repository.
    pub(crate) folder: String,
    /// The commits that changed the tree, oldest first.
    pub(crate) commits: Vec<CommitRow>,
    /// The lives of all elements, if they are asked.
    pub(crate) lives: Option<Vec<ElementHistory>>,
    /// The releases, each judged against all before it, if they are asked for.
    pub(crate) releases: Option<Vec<ReleaseRow>>,
    /// The number of commits that were walked, including those that did not change the tree.
    pub(crate) walked: usize,
    /// Notes for the user, one phrase each.
    pub(crate) notes: Vec<String>,
    /// Objects that could not be read, one phrase each. The rest of the history is here.
    pub(crate) losses: Vec<String>,
}

impl TreeHistory {
    /// The history of releases alone.
    pub(crate) fn of_releases(releases: Vec<ReleaseRow>) -> TreeHistory {
        TreeHistory {
            folder: String::new(),
            commits: Vec::new(),
            lives: None,
            releases: Some(releases),
            walked: 0,
            notes: Vec::new(),
            losses: Vec::new(),
        }
    }
}

/// The changes of one commit.
pub(crate) struct CommitRow {
    /// The full id of the commit.
    pub(crate) id: String,
    /// The time of the commit, in seconds since 1970.
    pub(crate) seconds: i64,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The packages that it concerns, sorted by name.
    pub(crate) packages: Vec<PackageRow>,
}

/// The settings by which a history is judged.
pub(crate) struct HistoryRequest<'a> {
    /// Today's policy: a waiver in it counts for all commits.
    pub(crate) policy: &'a Policy,
    /// The day to judge every commit on, instead of the day it was committed.
    pub(crate) as_of: Option<Date>,
    /// The part of the tree to show.
    pub(crate) focus: Option<&'a str>,
    /// True if the history of each element is asked for.
    pub(crate) fields: bool,
}

/// A step that is yet to be judged.
struct PendingStep<'t> {
    commit: &'t Commit,
    moved: StepChanges,
    records: Option<Records>,
}

/// Walks a line of commits.
pub(crate) fn walk_commits(
    timeline: &Timeline,
    judgement: &HistoryRequest<'_>,
    progress: &Progress,
) -> Result<TreeHistory, Error> {
    progress.begin_step("reading the history");
    let mut cursor = timeline.cursor();
    let mut forest = TreeState::new(timeline);
    let mut ledger = PackageTracker::default();
    let mut records = record::RecordReader::default();
    let mut lives = judgement.fields.then(ElementTracker::default);
    let mut ever = false;
    if let Some(base) = &timeline.base {
        let step = cursor.advance(base)?;
        let moved = forest.apply_step(step, timeline, &mut cursor)?;
        let tree = abide_schema::Tree::link(forest.collect_all());
        ever = tree.files().any(|file| file.is_judged());
        let mut known = collect_facts(&tree, |key| forest.has_file(key), judgement.fields);
        let own = known.iter().map(|(key, _)| key.clone());
        let own: Vec<FileKey> = own.filter(|key| forest.is_own(key)).collect();
        let elements = take_elements(own.iter(), &mut known);
        ledger
            .begin(known, records.read(&mut cursor, base), moved.cyclic, |key| forest.is_own(key));
        lives.iter_mut().for_each(|it| it.begin(elements.clone(), &ledger));
    }
    let focus = judgement.focus;
    let mut commits: Vec<CommitRow> = Vec::new();
    let mut counted: BTreeSet<String> = BTreeSet::new();
    let total = timeline.commits.len();
    for (number, batch) in timeline.commits.chunks(BATCH).enumerate() {
        progress.report(format!("walking commit {} of {total}", number * BATCH + 1));
        let mut jobs = Vec::new();
        for commit in batch {
            let step = cursor.advance(commit)?;
            let recorded = records.read(&mut cursor, commit);
            if step.files.is_empty() && step.imported.is_empty() && recorded.is_none() {
                continue;
            }
            let moved = forest.apply_step(step, timeline, &mut cursor)?;
            jobs.push(PendingStep { commit, moved, records: recorded });
        }
        let judged: Vec<Option<JudgedStep>> = jobs
            .par_iter()
            .map(|job| {
                let as_of = judgement.as_of.unwrap_or_else(|| convert_to_day(job.commit.seconds));
                Some(compare_step(
                    job.moved.pair.as_ref()?,
                    judgement.policy,
                    as_of,
                    judgement.fields,
                ))
            })
            .collect();
        for (job, mut judged) in jobs.into_iter().zip(judged) {
            ever |= job.moved.touched.keys().any(|key| forest.is_own(key));
            let touched: BTreeSet<String> = match judgement.focus {
                // A removed package has no file afterwards.
                Some(_) => job.moved.touched.values().filter_map(|it| it.0.clone()).collect(),
                None => BTreeSet::new(),
            };
            let gone: BTreeSet<String> = touched
                .into_iter()
                .filter(|package| is_in_focus(timeline, focus, &ledger, package))
                .collect();
            let elements = lives.is_some().then(|| {
                let own = job.moved.touched.keys().filter(|key| forest.is_own(key));
                take_elements(own, judged.as_mut().map_or(&mut [][..], |it| &mut it.files))
            });
            let locked = job.records.is_some();
            let mut packages =
                ledger.apply_step(job.moved, judged, job.records, |key| forest.is_own(key));
            if let Some((lives, elements)) = lives.as_mut().zip(elements) {
                let (day, commit) =
                    (convert_to_day(job.commit.seconds), job.commit.id.to_string().into());
                lives.apply_step(&StepMoment { day, commit }, elements, &packages, locked, &ledger);
            }
            packages.retain(|row| {
                is_in_focus(timeline, focus, &ledger, &row.package) || gone.contains(&row.package)
            });
            counted.extend(packages.iter().filter(|it| it.counted).map(|it| it.package.clone()));
            if !packages.is_empty() {
                commits.push(CommitRow {
                    id: job.commit.id.to_string(),
                    seconds: job.commit.seconds,
                    subject: job.commit.subject.clone(),
                    packages,
                });
            }
        }
    }
    if !ever {
        return Err(Error::Usage(format!(
            "no commit of the history of `HEAD` has a `.proto` file in `{}`: name the folder of \
             the tree with `--path DIR`",
            timeline.top()
        )));
    }
    let lives = lives.map(|lives| {
        let rows = commits.iter().flat_map(|it| &it.packages);
        let shown: BTreeSet<&str> = rows.map(|row| row.package.as_str()).collect();
        lives
            .finish()
            .into_iter()
            .filter(|it: &ElementHistory| {
                shown.contains(&*it.package) || is_in_focus(timeline, focus, &ledger, &it.package)
            })
            .collect()
    });
    let counted = timeline.base.as_ref().and_then(|base| describe_counted_packages(base, &counted));
    Ok(TreeHistory {
        folder: timeline.top().to_owned(),
        commits,
        lives,
        releases: None,
        walked: total,
        notes: timeline.notes.iter().cloned().chain(counted).chain(records.note()).collect(),
        losses: cursor.losses(),
    })
}

/// Returns true if a package has a file in the part of the tree to show.
fn is_in_focus(
    timeline: &Timeline,
    focus: Option<&str>,
    ledger: &PackageTracker,
    package: &str,
) -> bool {
    focus.is_none_or(|focus| {
        let mut files = ledger.files_of(package);
        files.any(|(root, path)| is_below(&timeline.display(*root, path), focus))
    })
}

/// A note about packages whose versions are counted from the start of the walk.
fn describe_counted_packages(base: &Commit, packages: &BTreeSet<String>) -> Option<String> {
    let first = match &**packages.first()? {
        "" => "(no package)".to_owned(),
        first => format!("`{first}`"),
    };
    let (whose, their) = match packages.len() {
        1 => (first, "its"),
        count => (format!("{count} packages, starting with {first}"), "their"),
    };
    Some(format!(
        "the history starts after {}, which records no version of {whose}; {their} versions are \
         counted from there",
        base.id.to_hex_with_len(record::SHORT)
    ))
}

/// The day of a moment in seconds since 1970, in UTC.
pub(crate) fn convert_to_day(seconds: i64) -> Date {
    let moment = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).date()
}

/// Returns true if a path is this folder or file, or is below it.
fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
