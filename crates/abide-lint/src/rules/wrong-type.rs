use abide_schema::value::ReadErrorKind;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, Rule};

pub(super) static RULE: Rule = Rule {
    id: "wrong-type",
    summary: "a value of another type than its field",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("wrong-type.md"),
    check: Check::Instance(InstanceCheck::Problem(&[ReadErrorKind::WrongType])),
};
