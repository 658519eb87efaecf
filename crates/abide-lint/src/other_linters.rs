//! The rules of other linters, by their groups and by their names.

mod lint_groups;
mod rule_names;

pub(crate) use lint_groups::{LintGroup, api_linter_rules, protolint_rule};
pub use lint_groups::{PROTOLINT_RULES, ProtolintRule};
pub use rule_names::{RuleFamily, nearest_rule, rule_family, rules_named};
