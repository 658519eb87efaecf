use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "waiver-expired",
    summary: "a waiver whose last day has passed",
    group: Group::Policy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("waiver-expired.md"),
    check: Check::Engine,
};
