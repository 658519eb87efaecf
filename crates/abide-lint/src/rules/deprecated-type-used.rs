use abide_instance::{Item, WalkItem};
use abide_schema::Element;

use crate::finding::Severity;
use crate::instances::{find_advice, find_replacement};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecated-type-used",
    summary: "an instance of a deprecated type",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("deprecated-type-used.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Named(part) = visit.met else { return };
    let ty = Element::Message(context.tree.message(part.message.ty));
    if ty.deprecated().is_none() {
        return;
    }
    let (name, package) = (ty.full_name(), ty.package().name());
    let text = format!("message `{name}` is deprecated");
    let finding = sink.report(context.at(part.place), package, &*name, text);
    if let Some((since, _)) = ty.deprecated_since() {
        finding.why(format!("it is deprecated since {since}"));
    }
    if let Some(other) = find_replacement(context.tree, ty) {
        finding.help(format!("use `{}`", other.full_name()));
    } else if let Some(advice) = find_advice(ty) {
        finding.help(advice);
    }
}
