use abide_schema::value::ReadErrorKind;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, Rule};

pub(super) static RULE: Rule = Rule {
    id: "non-portable-notation",
    summary: "a notation that the API's own reader takes and others refuse",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("non-portable-notation.md"),
    check: Check::Instance(InstanceCheck::Problem(&[ReadErrorKind::Leniency])),
};
