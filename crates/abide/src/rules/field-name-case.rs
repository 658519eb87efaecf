use abide_schema::Element;

use crate::case::Case;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-name-case",
    summary: "a field or oneof whose name is not lower_snake_case",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:FIELD_LOWER_SNAKE_CASE", "buf:ONEOF_LOWER_SNAKE_CASE", "aip:140"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let alias = match element {
        Element::Field(it)
            if !it.is_extension() && it.parent().is_some_and(|parent| parent.is_map_entry()) =>
        {
            return;
        }
        Element::Field(_) => "buf:FIELD_LOWER_SNAKE_CASE",
        Element::Oneof(it) if !it.is_synthetic() => "buf:ONEOF_LOWER_SNAKE_CASE",
        _ => return,
    };
    Case::LowerSnake.judge(context, element, &[alias, "aip:140"], sink);
}
