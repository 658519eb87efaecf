use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "number-duplicated",
    summary: "a field number or enum number that is used twice",
    group: Group::Language,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("number-duplicated.md"),
    check: Check::Linker,
};
