use abide_instance::Document;
use abide_schema::value::UnknownName;

use crate::finding::Severity;
use crate::instances::Past;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "unknown-field",
    summary: "a key that its message does not have",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("unknown-field.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let undeclared = document.reading.iter().flat_map(|it| &it.undeclared);
    for unknown in undeclared {
        let UnknownName::Message(message) = unknown.lacked_by else { continue };
        let message = context.tree.message(message);
        let (name, owner) = (&unknown.name, message.full_name());
        let text = format!("`{owner}` has no field `{name}`");
        let package = message.file().package().name();
        let finding = sink.report(context.at(unknown.key), package, &owner, text);
        finding.fact(name.clone());
        if let Some(past) = Past::of_field(context, message, name) {
            finding.why(past.why).help(past.help);
        } else if let Some(near) = find_nearest(name, message.fields().map(|field| field.name())) {
            finding.help(format!("did you mean `{near}`?"));
        }
    }
}
