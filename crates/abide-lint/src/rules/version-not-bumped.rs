use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "version-not-bumped",
    summary: "a package whose recorded version or hash does not match the tree",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("version-not-bumped.md"),
    check: Check::Engine,
};
