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
    spares_work_in_progress: true,
    page: include_str!("field-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let is_written = match element {
        Element::Field(it) => {
            it.is_extension() || it.parent().is_none_or(|parent| !parent.is_map_entry())
        }
        Element::Oneof(it) => !it.is_synthetic(),
        _ => false,
    };
    if is_written {
        Case::LowerSnake.judge(context, element, sink);
    }
}
