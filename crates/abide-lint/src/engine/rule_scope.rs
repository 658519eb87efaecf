//! Rules that a run takes part with.

use crate::finding::Group;
use crate::inputs::RuleScope;
use crate::rule::{Check, Rule};

impl RuleScope {
    pub(crate) fn has(self, rule: &Rule) -> bool {
        match self {
            RuleScope::Everything => true,
            RuleScope::Changes => {
                matches!(rule.group, Group::Compatibility | Group::Policy)
                    || matches!(rule.check, Check::Linker)
                    || rule.group == Group::Own && rule.needs_baseline()
            }
        }
    }
}
