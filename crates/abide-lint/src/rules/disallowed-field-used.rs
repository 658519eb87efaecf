use abide_instance::{Item, WalkItem};

use crate::finding::Severity;
use crate::instances::{UsePhase, report_use};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "disallowed-field-used",
    summary: "a field that is set although it is disallowed by default",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("disallowed-field-used.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    if let Item::Field(..) = visit.met {
        report_use(context, visit, UsePhase::Disallowed, sink);
    }
}
