use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "own-rule-failed",
    summary: "a `[[rule]]` of `abide.toml` that could not judge an element",
    group: Group::Policy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("own-rule-failed.md"),
    check: Check::Engine,
};
