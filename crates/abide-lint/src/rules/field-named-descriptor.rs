use abide_schema::{Element, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-named-descriptor",
    summary: "a field named `descriptor`",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:FIELD_NO_DESCRIPTOR"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-named-descriptor.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let name = field.name();
    let is_bad = name.trim_matches('_').eq_ignore_ascii_case("descriptor");
    if !is_bad || context.exempts(element, RULE.aliases) {
        return;
    }
    let shown = field.relative_name();
    let message = format!("field `{shown}` is named like a method of generated code");
    sink.report(field.place(Part::Name), field.package().name(), field.full_name(), message)
        .why("generated classes have a member `descriptor` that returns the type of the message")
        .help("give it another name before anybody relies on this one")
        .fact(name);
}
