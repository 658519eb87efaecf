use abide_schema::Element;
use abide_validate::DefectKind;

use crate::checks::{BUF, report_defects};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "constraint-unsatisfiable",
    summary: "constraints that no value satisfies",
    group: Group::Validation,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[BUF],
    spares_work_in_progress: false,
    page: include_str!("constraint-unsatisfiable.md"),
    check: Check::Annotated(check),
};

fn check<'t>(_: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    report_defects(element, DefectKind::Unsatisfiable, sink);
}
