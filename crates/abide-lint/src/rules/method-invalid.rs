use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "method-invalid",
    summary: "a method whose request or response is not a message",
    group: Group::Language,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("method-invalid.md"),
    check: Check::Linker,
};
