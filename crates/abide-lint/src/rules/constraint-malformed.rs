use abide_schema::Element;
use abide_validate::DefectKind;

use crate::checks::{BUF, report_defects};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "constraint-malformed",
    summary: "a constraint with a pattern, time or field name that has no meaning",
    group: Group::Validation,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[BUF],
    spares_work_in_progress: false,
    page: include_str!("constraint-malformed.md"),
    check: Check::Annotated(check),
};

fn check<'t>(_: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    report_defects(element, DefectKind::Malformed, sink);
}
