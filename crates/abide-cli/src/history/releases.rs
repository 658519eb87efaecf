//! Judges each release against all releases before it.

use abide_lint::{Finding, OldTree, Options, Policy, RuleScope, Severity, check};
use abide_source::{Progress, Source, load, load_older};
use jiff::civil::Date;

use crate::error::Error;

/// A release, and what it breaks of those before it.
pub(crate) struct ReleaseRow {
    /// The tag.
    pub(crate) name: String,
    /// The day of its commit.
    pub(crate) day: Option<Date>,
    /// The errors and warnings; each names the releases that it is about.
    pub(crate) findings: Vec<Finding>,
}

impl ReleaseRow {
    /// The number of findings with a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }
}

/// Judges releases, the oldest first, each on its own day or on another one. What they share is
/// read and linked once.
pub(crate) fn judge_releases(
    sources: &[Source],
    policy: &Policy,
    as_of: Option<Date>,
    progress: &Progress,
) -> Result<Vec<ReleaseRow>, Error> {
    let Some((newest, before)) = sources.split_last() else { return Ok(Vec::new()) };
    let loaded = load(newest, progress)?;
    let mut trees = load_older(before, (newest, &loaded.tree), None, progress)?;
    trees.push(loaded);
    let trees: Vec<OldTree> =
        trees.into_iter().map(|it| OldTree { name: it.name, tree: it.tree }).collect();
    let mut rows = Vec::new();
    for (at, release) in trees.iter().enumerate() {
        progress.begin_step(format!("judging {}", release.name));
        let day = sources[at].get_commit_day();
        let (older, last) = match trees[..at].split_last() {
            Some((last, older)) => (older, Some(last)),
            None => (&[][..], None),
        };
        let options = Options {
            scope: RuleScope::Changes,
            baseline: last.map(|it| &it.tree),
            baseline_name: last.map_or("", |it| it.name.as_str()),
            older,
            counts_bump: false,
            ..Options::on(as_of.or(day).unwrap_or(Date::ZERO))
        };
        let mut findings = check(&release.tree, policy, options).findings;
        findings.retain(|it| it.severity > Severity::Note && last.is_some());
        let name = release.name.strip_prefix("git:").unwrap_or(&release.name).to_owned();
        rows.push(ReleaseRow { name, day, findings });
    }
    Ok(rows)
}
