//! The engine: every rule over a tree, and what policy makes of the findings.

mod acceptance;
pub(crate) mod hindrances;
pub(crate) mod judging;
mod linker_findings;
mod order;
pub(crate) mod version_plan;
mod walk;
mod weighing;
mod work_in_progress;

use abide_change::Surface;
use abide_schema::Tree;
use jiff::civil::Date;

use crate::accepted::Accepted;
use crate::bump::Records;
use crate::group::Group;
use crate::rule::{Check, Rule};

/// What a run knows besides the tree and the policy.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The day to judge on.
    pub as_of: Date,
    /// Which rules run.
    pub scope: RuleScope,
    /// The old tree, where there is one to compare with.
    pub baseline: Option<&'a Tree>,
    /// The old tree that the bump is counted from, where that is another one.
    pub bump_baseline: Option<&'a Tree>,
    /// Whether changes that are notes are reported, and not only counted.
    pub changes: bool,
    /// The surfaces that count; empty: every one.
    pub surfaces: &'a [Surface],
    /// Findings that are accepted.
    pub accepted: Option<&'a Accepted>,
    /// What is recorded of versions; `None` asks nothing of them.
    pub records: Option<Records<'a>>,
    /// Whether only a part of the configured tree is judged: then nobody can tell whether a
    /// waiver of `abide.toml` or a line of `abide.accepted` is stale.
    pub partial: bool,
}

impl Options<'_> {
    /// A tree judged by itself on a day.
    pub fn on(as_of: Date) -> Self {
        Options {
            as_of,
            scope: RuleScope::Everything,
            baseline: None,
            bump_baseline: None,
            changes: false,
            surfaces: &[],
            accepted: None,
            records: None,
            partial: false,
        }
    }
}

/// Which rules of the policy run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// All that apply.
    Everything,
    /// Those about changes, with what the compiler refuses.
    Changes,
}

impl RuleScope {
    pub(crate) fn has(self, rule: &Rule) -> bool {
        match self {
            RuleScope::Everything => true,
            RuleScope::Changes => {
                matches!(rule.group, Group::Compatibility | Group::Policy)
                    || matches!(rule.check, Check::Linker)
            }
        }
    }
}
