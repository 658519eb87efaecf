use abide_schema::value::ReadErrorKind;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, Rule};

pub(super) static RULE: Rule = Rule {
    id: "duplicate-key",
    summary: "a field or key that is set twice",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("duplicate-key.md"),
    check: Check::Instance(InstanceCheck::Problem(&[ReadErrorKind::Duplicate])),
};
