//! The groups of lint rules of other tools that `[rules]` may name.

use crate::checks::{BUF_LINT_CATEGORIES, BufVersion, buf_lint_rules};
use crate::rules::RULES;

/// A lint rule of protolint.
#[derive(Clone, Copy, Debug)]
pub struct ProtolintRule {
    /// Its name as an alias: `protolint:ORDER`.
    pub alias: &'static str,
    /// True if protolint runs it if no setting says so.
    pub is_default: bool,
}

const fn on(alias: &'static str) -> ProtolintRule {
    ProtolintRule { alias, is_default: true }
}

const fn off(alias: &'static str) -> ProtolintRule {
    ProtolintRule { alias, is_default: false }
}

/// The rules of protolint 0.58, as `protolint list` has them.
pub const PROTOLINT_RULES: &[ProtolintRule] = &[
    on("protolint:ENUM_FIELD_NAMES_PREFIX"),
    on("protolint:ENUM_FIELD_NAMES_UPPER_SNAKE_CASE"),
    on("protolint:ENUM_FIELD_NAMES_ZERO_VALUE_END_WITH"),
    off("protolint:ENUM_FIELDS_HAVE_COMMENT"),
    on("protolint:ENUM_NAMES_UPPER_CAMEL_CASE"),
    off("protolint:ENUMS_HAVE_COMMENT"),
    off("protolint:FIELD_NAMES_EXCLUDE_PREPOSITIONS"),
    on("protolint:FIELD_NAMES_LOWER_SNAKE_CASE"),
    off("protolint:FIELD_NUMBERS_ORDER_ASCENDING"),
    off("protolint:FIELDS_HAVE_COMMENT"),
    off("protolint:FILE_HAS_COMMENT"),
    on("protolint:FILE_NAMES_LOWER_SNAKE_CASE"),
    on("protolint:IMPORTS_SORTED"),
    on("protolint:INDENT"),
    on("protolint:MAX_LINE_LENGTH"),
    off("protolint:MESSAGE_NAMES_EXCLUDE_PREPOSITIONS"),
    on("protolint:MESSAGE_NAMES_UPPER_CAMEL_CASE"),
    off("protolint:MESSAGES_HAVE_COMMENT"),
    on("protolint:ORDER"),
    on("protolint:PACKAGE_NAME_LOWER_CASE"),
    on("protolint:PROTO3_FIELDS_AVOID_REQUIRED"),
    on("protolint:PROTO3_GROUPS_AVOID"),
    on("protolint:QUOTE_CONSISTENT"),
    on("protolint:REPEATED_FIELD_NAMES_PLURALIZED"),
    off("protolint:RPC_NAMES_CASE"),
    on("protolint:RPC_NAMES_UPPER_CAMEL_CASE"),
    off("protolint:RPCS_HAVE_COMMENT"),
    off("protolint:SERVICE_NAMES_END_WITH"),
    on("protolint:SERVICE_NAMES_UPPER_CAMEL_CASE"),
    off("protolint:SERVICES_HAVE_COMMENT"),
    off("protolint:SYNTAX_CONSISTENT"),
];

/// Rules of another tool that settings may name together.
pub(crate) struct LintGroup {
    pub(crate) name: &'static str,
    /// As aliases.
    pub(crate) rules: Vec<&'static str>,
}

impl LintGroup {
    /// The group with a name: a category of buf, the rules that protolint runs by default or all
    /// of them, or the rules of api-linter, or those of one AIP.
    pub(crate) fn named(name: &str) -> Option<LintGroup> {
        if let Some(category) = BUF_LINT_CATEGORIES.iter().find(|it| **it == name) {
            let bare = category.strip_prefix("buf:").unwrap_or(category);
            return Some(LintGroup { name: category, rules: buf_lint_rules(BufVersion::V2, bare) });
        }
        if let Some(own) = OF_OTHER_TOOLS.iter().find(|it| **it == name) {
            let tool = own.split(':').next().unwrap_or(own);
            let left_out = |alias: &str| *own == PROTOLINT && !is_protolint_default(alias);
            let rules = lint_aliases().filter(|it| is_of(it, tool) && !left_out(it)).collect();
            return Some(LintGroup { name: own, rules });
        }
        // `api-linter:core::0140` has the rules of one AIP.
        let in_group = |alias: &&str| is_of(alias, name) && is_of(alias, API_LINTER);
        let rules: Vec<&'static str> = lint_aliases().filter(in_group).collect();
        let name = rules.first()?.get(..name.len())?;
        Some(LintGroup { name, rules })
    }

    /// The names of groups, to suggest one for a typo.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        BUF_LINT_CATEGORIES.iter().chain(OF_OTHER_TOOLS).copied()
    }
}

const PROTOLINT: &str = "protolint";
const API_LINTER: &str = "api-linter";
const OF_OTHER_TOOLS: &[&str] = &[API_LINTER, PROTOLINT, "protolint:all_default"];

/// Returns true if an alias is of a tool, or of a group of its rules.
fn is_of(alias: &str, group: &str) -> bool {
    alias.strip_prefix(group).is_some_and(|rest| rest.starts_with(':'))
}

fn is_protolint_default(alias: &str) -> bool {
    PROTOLINT_RULES.iter().any(|it| it.is_default && it.alias == alias)
}

/// The rules of other tools that rules about one tree cover. Some occur more than once.
fn lint_aliases() -> impl Iterator<Item = &'static str> {
    RULES.iter().filter(|rule| !rule.needs_baseline()).flat_map(|rule| rule.all_aliases())
}

/// The rules of api-linter, as aliases, that a name selects: that of a rule, of an AIP, or of all.
pub(crate) fn api_linter_rules(name: &str) -> impl Iterator<Item = &'static str> {
    lint_aliases().filter(move |alias| {
        let rule = alias.strip_prefix(API_LINTER).and_then(|it| it.strip_prefix(':'));
        rule.is_some_and(|rule| {
            let rest = rule.strip_prefix(name);
            name == "all" || rest.is_some_and(|it| it.is_empty() || it.starts_with("::"))
        })
    })
}

/// The rule of protolint, as an alias, that has a name.
pub(crate) fn protolint_rule(name: &str) -> Option<&'static str> {
    PROTOLINT_RULES
        .iter()
        .map(|it| it.alias)
        .find(|it| it.strip_prefix(PROTOLINT).and_then(|it| it.strip_prefix(':')) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(name: &str) -> Vec<&'static str> {
        LintGroup::named(name).map_or_else(Vec::new, |it| it.rules)
    }

    #[test]
    fn a_group_has_the_rules_that_its_tool_would_run() {
        assert!(rules(PROTOLINT).contains(&"protolint:REPEATED_FIELD_NAMES_PLURALIZED"));
        assert!(!rules(PROTOLINT).contains(&"protolint:FILE_HAS_COMMENT"));
        assert!(rules("protolint:all_default").contains(&"protolint:FILE_HAS_COMMENT"));
        let prepositions = "api-linter:core::0140::prepositions";
        assert!(rules(API_LINTER).contains(&prepositions));
        let of_140 = rules("api-linter:core::0140");
        assert!(of_140.contains(&prepositions), "{of_140:?}");
        assert!(of_140.iter().all(|it| it.contains("::0140::")), "{of_140:?}");
        // Neither what is about changes nor the beginning of a name is a group.
        for name in ["google", "protolock", "aip", "api-linter:core::014", ""] {
            assert!(LintGroup::named(name).is_none(), "{name}");
        }
    }
}
