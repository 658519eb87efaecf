//! The inputs of a run besides the tree and the policy.

use std::collections::BTreeSet;

use abide_change::{ComparedTexts, Surface};
use abide_schema::Tree;
use jiff::civil::Date;

use super::accepted::Accepted;
use super::feature_files::FeatureFile;
use super::old_tree::OldTree;
use super::usage::Usage;
use crate::finding::Finding;
use crate::lock::Records;

/// The inputs of a run besides the tree and the policy.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The day of the check.
    pub as_of: Date,
    /// Which rules run.
    pub scope: RuleScope,
    /// The old tree to compare with, if there is one; of several the newest.
    pub baseline: Option<&'a Tree>,
    /// The source that names it.
    pub baseline_name: &'a str,
    /// The old trees besides it, the oldest first: all of them are older.
    pub older: &'a [OldTree],
    /// The texts that were compared before, if several old trees are.
    pub texts: Option<&'a ComparedTexts>,
    /// The day of the commit that the old tree is of, if that is known: what it does not say yet
    /// was not said before that day. Of all time zones the one that is furthest behind counts.
    pub baseline_day: Option<Date>,
    /// The old tree that the bump is counted from, if it differs from the baseline.
    pub bump_baseline: Option<&'a Tree>,
    /// True if the bump that the changes need is counted: for a report that says so.
    pub counts_bump: bool,
    /// True if changes that are notes are reported, not only counted.
    pub changes: bool,
    /// The surfaces that count; if empty, all of them.
    pub surfaces: &'a [Surface],
    /// The accepted findings.
    pub accepted: Option<&'a Accepted>,
    /// The recorded versions and days.
    pub records: Records<'a>,
    /// True if the recorded versions are checked.
    pub versions: bool,
    /// The command that records them, as advice names it.
    pub bump_command: &'a str,
    /// True if only a part of the configured tree is checked. Stale waivers of `abide.toml` and
    /// stale lines of `abide.accepted` cannot be found then.
    pub partial: bool,
    /// The packages that findings are reported in, if only those that a change reaches. Findings
    /// outside of the tree, as in `abide.toml`, are left out then.
    pub reached: Option<&'a BTreeSet<Box<str>>>,
    /// The lists of features in the tree.
    pub features: &'a [FeatureFile],
    /// Who uses which element, if files say so.
    pub usage: Option<&'a Usage>,
    /// What plugins found; `None` if none of them ran.
    pub plugins: Option<&'a [Finding]>,
}

impl Options<'_> {
    /// The options to check a tree by itself on a day.
    pub fn on(as_of: Date) -> Self {
        Options {
            as_of,
            scope: RuleScope::Everything,
            baseline: None,
            baseline_name: "",
            older: &[],
            texts: None,
            baseline_day: None,
            bump_baseline: None,
            counts_bump: true,
            changes: false,
            surfaces: &[],
            accepted: None,
            records: Records::default(),
            versions: false,
            bump_command: "abide bump --write",
            partial: false,
            reached: None,
            features: &[],
            usage: None,
            plugins: None,
        }
    }
}

/// Which rules of the policy run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// All that apply.
    Everything,
    /// The rules about changes, and errors of the compiler.
    Changes,
}
