use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, Rule};

pub(super) static RULE: Rule = Rule {
    id: "translation-loss",
    summary: "a value that has no place in the version that `abide config` translates to",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("translation-loss.md"),
    check: Check::Instance(InstanceCheck::Loss),
};
