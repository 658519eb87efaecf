use abide_schema::value::ReadErrorKind;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, Rule};

pub(super) static RULE: Rule = Rule {
    id: "malformed-value",
    summary: "a text that is not in its notation, or a value that its type does not have",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("malformed-value.md"),
    check: Check::Instance(InstanceCheck::Problem(&[
        ReadErrorKind::Syntax,
        ReadErrorKind::InvalidValue,
        ReadErrorKind::TooDeep,
    ])),
};
