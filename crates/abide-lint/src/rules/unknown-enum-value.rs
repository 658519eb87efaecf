use abide_instance::Document;
use abide_schema::value::{ReadErrorKind, UnknownName};

use crate::finding::Severity;
use crate::instances::Past;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "unknown-enum-value",
    summary: "a name or number that its enum does not have",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("unknown-enum-value.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let Some(reading) = &document.reading else { return };
    for unknown in &reading.undeclared {
        let UnknownName::Enum(item) = unknown.lacked_by else { continue };
        let item = context.tree.enumeration(item);
        let (name, owner) = (&unknown.name, item.full_name());
        let text = format!("`{owner}` has no value `{name}`");
        let package = item.file().package().name();
        let finding = sink.report(context.at(unknown.key), package, &owner, text);
        finding.fact(name.clone());
        if let Some(past) = Past::of_enum_value(context, item, name) {
            finding.why(past.why).help(past.help);
        } else if let Some(near) = find_nearest(name, item.values().map(|value| value.name())) {
            finding.help(format!("did you mean `{near}`?"));
        }
    }
    let message = context.tree.message(reading.message.ty);
    let (package, element) = (message.file().package().name(), message.full_name());
    for error in reading.errors.iter().filter(|it| it.kind == ReadErrorKind::UnknownEnumValue) {
        sink.report(context.at(error.span), package, &element, error.message.clone())
            .fact(error.message.clone());
    }
}
