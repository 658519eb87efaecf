//! The engine: runs the rules over a tree and applies the policy to the findings.

mod acceptance;
mod candidate_findings;
pub(crate) mod fixing;
mod frozen_changes;
pub(crate) mod hindrances;
mod imported_types;
pub(crate) mod instance_releases;
pub(crate) mod instances;
pub(crate) mod judging;
mod last_release;
mod linker_findings;
mod linker_fixes;
mod missing_imports;
pub(crate) mod new_errors;
mod old_elements;
mod order;
mod reached;
pub(crate) mod removals;
mod repeated_roots;
pub(crate) mod translations;
mod unknown_options;
pub(crate) mod version_plan;
mod walk;
mod weighing;
mod work_in_progress;

use crate::group::Group;
use crate::options::RuleScope;
use crate::rule::{Check, Rule};

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
