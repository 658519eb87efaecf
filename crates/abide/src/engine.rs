//! The engine: runs the rules over a tree and applies the policy to the findings.

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

/// The inputs of a run besides the tree and the policy.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The day of the check.
    pub as_of: Date,
    /// Which rules run.
    pub scope: RuleScope,
    /// The old tree to compare with, if there is one.
    pub baseline: Option<&'a Tree>,
    /// The old tree that the bump is counted from, if it differs from the baseline.
    pub bump_baseline: Option<&'a Tree>,
    /// Whether changes that are notes are reported, not only counted.
    pub changes: bool,
    /// The surfaces that count; if empty, all of them.
    pub surfaces: &'a [Surface],
    /// The accepted findings.
    pub accepted: Option<&'a Accepted>,
    /// The recorded versions; `None` turns the check of versions off.
    pub records: Option<Records<'a>>,
    /// Whether only a part of the configured tree is checked. Stale waivers of `abide.toml` and
    /// stale lines of `abide.accepted` cannot be found then.
    pub partial: bool,
}

impl Options<'_> {
    /// The options to check a tree by itself on a day.
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
    /// The rules about changes, and errors of the compiler.
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
