use abide_instance::{Item, WalkItem};

use crate::finding::Severity;
use crate::instances::{UsePhase, report_use};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "disallowed-enum-value-used",
    summary: "a value of an enum that is used although it is disallowed by default",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("disallowed-enum-value-used.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    if let Item::EnumValue(..) | Item::ImplicitEnumValue(..) = visit.met {
        report_use(context, visit, UsePhase::Disallowed, sink);
    }
}
