use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "waiver-unused",
    summary: "a waiver that matches no finding",
    group: Group::Policy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("waiver-unused.md"),
    check: Check::Engine,
};
