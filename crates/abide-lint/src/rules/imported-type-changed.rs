use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "imported-type-changed",
    summary: "an element whose type is imported, and broke where it is declared",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("imported-type-changed.md"),
    check: Check::Engine,
};
