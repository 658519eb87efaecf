use abide_schema::Element;

use crate::checks::NameCase;
use crate::rule::{Check, Context, Group, Rule, Sink};

const OF_FIELDS: &[&str] = &[
    "buf:FIELD_LOWER_SNAKE_CASE",
    "aip:140",
    "protolint:FIELD_NAMES_LOWER_SNAKE_CASE",
    "api-linter:core::0140::lower-snake",
];

const OF_ONEOFS: &[&str] = &["buf:ONEOF_LOWER_SNAKE_CASE", "aip:140"];

pub(super) static RULE: Rule = Rule {
    id: "field-name-case",
    summary: "a field or oneof whose name is not lower_snake_case",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["aip:140"],
    aliases_by_case: &[OF_FIELDS, OF_ONEOFS],
    spares_work_in_progress: true,
    page: include_str!("field-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let aliases = match element {
        Element::Field(it)
            if !it.is_extension() && it.parent().is_some_and(|parent| parent.is_map_entry()) =>
        {
            return;
        }
        Element::Field(_) => OF_FIELDS,
        Element::Oneof(it) if !it.is_synthetic() => OF_ONEOFS,
        _ => return,
    };
    NameCase::LowerSnake.check(context, element, aliases, sink);
}
