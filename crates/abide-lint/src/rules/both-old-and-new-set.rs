use abide_instance::{Item, WalkItem};
use abide_schema::Element;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "both-old-and-new-set",
    summary: "a deprecated field that is set beside its replacement",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("both-old-and-new-set.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Message(message) = visit.met else { return };
    let mut before = None;
    for entry in &message.entries {
        if before.replace(entry.field) == Some(entry.field) {
            continue;
        }
        let old = Element::Field(context.tree.field(entry.field));
        let Some(Element::Field(new)) = old.replacement() else { continue };
        let Some(other) = message.entries_of(new.id).next() else { continue };
        let (name, package) = (old.full_name(), old.package().name());
        let text = format!("`{name}` and its replacement `{}` are both set", new.name());
        let finding = sink.report(context.at(entry.key), package, &*name, text);
        finding.label(context.at(other.key), "its replacement");
        finding.why("which of the two counts depends on the reader");
        finding.help(format!("remove `{}` when every reader knows `{}`", old.name(), new.name()));
    }
}
