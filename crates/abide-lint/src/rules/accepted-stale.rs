use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "accepted-stale",
    summary: "an accepted finding that no longer occurs",
    group: Group::Policy,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("accepted-stale.md"),
    check: Check::Engine,
};
