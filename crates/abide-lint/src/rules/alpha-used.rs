use abide_instance::{Item, WalkItem};
use abide_schema::Stability;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "alpha-used",
    summary: "an instance of a type that promises nothing yet",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("alpha-used.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Named(part) = visit.met else { return };
    let ty = context.tree.message(part.message.ty);
    let package = ty.file().package();
    let Some(version) = package.version().filter(|it| it.stability == Stability::Alpha) else {
        return;
    };
    let name = ty.full_name();
    let text = format!("message `{name}` is of the alpha `{version}`");
    sink.report(context.at(part.place), package.name(), &*name, text)
        .why("an alpha may change or go with any release");
}
