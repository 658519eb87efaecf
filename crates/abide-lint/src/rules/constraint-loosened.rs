use abide_change::{self, Change, Comparison, Inclusion};
use abide_schema::Element;

use crate::checks::constraints;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "constraint-loosened",
    summary: "a constraint that accepts more values",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("constraint-loosened.md"),
    check: Check::Change(ChangeCheck::Element(check)),
};

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
) {
    constraints::report(context, diff, change, sink, "accepts more values", &|inclusion| {
        matches!(inclusion, Inclusion::Loosened)
    });
}
