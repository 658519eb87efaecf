use abide_schema::{Element, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-first-value-not-zero",
    summary: "an enum whose first value is not 0",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:ENUM_FIRST_VALUE_ZERO"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-first-value-not-zero.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Enum(it) = element else { return };
    let first = it.values().next().filter(|it| it.number() != 0);
    let Some(first) = first.filter(|_| !context.exempts(element, RULE.aliases)) else { return };
    let (name, value) = (it.full_name(), first.name());
    let message = format!("`{value}`, the first value of enum `{name}`, is not 0");
    sink.report(first.place(Part::Number), element.package().name(), name, message)
        .why(
            "an unset field reads as the first value of a closed enum, and as 0 once the enum is \
             open",
        )
        .help("begin with a value that is 0")
        .fact(value);
}
