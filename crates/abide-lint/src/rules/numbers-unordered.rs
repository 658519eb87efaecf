use abide_schema::{Element, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "numbers-unordered",
    summary: "a field or enum value that stands before one with a smaller number",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["protolint:FIELD_NUMBERS_ORDER_ASCENDING"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("numbers-unordered.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    // The fields of a oneof have an order of their own.
    let members: Vec<(Element<'t>, i32)> = match element {
        Element::Message(it) if !it.is_map_entry() => {
            let fields = it.fields().filter(|field| field.real_oneof().is_none());
            fields.map(|field| (Element::Field(field), field.number())).collect()
        }
        Element::Enum(it) => {
            it.values().map(|value| (Element::EnumValue(value), value.number())).collect()
        }
        _ => return,
    };
    for pair in members.windows(2) {
        let [(before, larger), (after, number)] = *pair else { continue };
        if number >= larger || context.exempts(element, RULE.aliases) {
            continue;
        }
        let message = format!(
            "{} `{}` has number {number}, but stands behind number {larger}",
            after.noun(),
            after.relative_name(),
        );
        sink.report(after.place(Part::Number), after.package().name(), after.full_name(), message)
            .why("the next free number is easy to overlook")
            .help(format!("move it above `{}`", before.name()))
            .fact(before.name());
    }
}
