use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "enum-invalid",
    summary: "an enum without values, or with values that the language does not allow",
    group: Group::Language,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("enum-invalid.md"),
    check: Check::Linker,
};
