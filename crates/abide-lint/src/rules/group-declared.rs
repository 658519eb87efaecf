use abide_schema::{Edition, Element, MessageKind, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

/// Only about proto3, where it is an error of the compiler as well.
const PROTOLINT: &str = "protolint:PROTO3_GROUPS_AVOID";

pub(super) static RULE: Rule = Rule {
    id: "group-declared",
    summary: "a field that is a group",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[PROTOLINT]],
    spares_work_in_progress: true,
    page: include_str!("group-declared.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Message(message) = element else { return };
    let is_proto3 = message.file().decl().edition == Edition::Proto3;
    let aliases: &[&str] = if is_proto3 { &[PROTOLINT] } else { &[] };
    if message.decl().kind != MessageKind::Group || context.exempts(element, aliases) {
        return;
    }
    let name = message.relative_name();
    let message = format!("`{name}` is a group");
    sink.report(element.place(Part::Name), element.package().name(), element.full_name(), message)
        .why("groups exist in proto2 alone, and declare a field and its type in one")
        .help("declare a message, and a field of that type; the new field needs a new number")
        .aliases(aliases);
}
