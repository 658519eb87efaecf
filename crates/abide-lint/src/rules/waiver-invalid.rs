use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "waiver-invalid",
    summary: "a waiver that is malformed, names an unknown rule or gives no reason",
    group: Group::Policy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("waiver-invalid.md"),
    check: Check::Engine,
};
