use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "compiler-warning",
    summary: "something that protoc accepts with a warning",
    group: Group::Language,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("compiler-warning.md"),
    check: Check::Linker,
};
