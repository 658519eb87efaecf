use abide_schema::{Element, Part, Presence};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-required",
    summary: "a required field",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:FIELD_NOT_REQUIRED"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-required.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    if field.presence() != Presence::LegacyRequired || context.spares(element, RULE.aliases) {
        return;
    }
    let message = format!("field `{}` is required", field.relative_name());
    sink.report(field.place(Part::Name), field.package().name(), field.full_name(), message)
        .why("a reader refuses every message without it, so it can never be removed")
        .help("make it optional, and check in code that it is set");
}
