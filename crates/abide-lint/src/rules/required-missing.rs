use abide_instance::{Item, WalkItem};
use abide_schema::Presence;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "required-missing",
    summary: "a required field that is not set",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("required-missing.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Message(message) = visit.met else { return };
    let view = context.tree.message(message.ty);
    for field in view.fields().filter(|it| it.presence() == Presence::LegacyRequired) {
        if message.entries_of(field.id).next().is_none() {
            let name = field.full_name();
            let text = format!("required field `{name}` is not set");
            let package = view.file().package().name();
            sink.report(context.at(visit.span), package, &name, text).help(format!(
                "set `{}`: readers refuse a `{}` without it",
                field.name(),
                view.full_name()
            ));
        }
    }
}
