use abide_schema::Element;

use crate::checks::NameCase;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-name-case",
    summary: "an enum value whose name is not UPPER_SNAKE_CASE",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[
        "buf:ENUM_VALUE_UPPER_SNAKE_CASE",
        "aip:126",
        "protolint:ENUM_FIELD_NAMES_UPPER_SNAKE_CASE",
        "api-linter:core::0126::upper-snake-values",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    if matches!(element, Element::EnumValue(_)) {
        NameCase::UpperSnake.check(context, element, RULE.aliases, sink);
    }
}
