use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "json-name-conflict",
    summary: "two fields with one JSON name, or a JSON name that is not allowed",
    group: Group::Language,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("json-name-conflict.md"),
    check: Check::Linker,
};
