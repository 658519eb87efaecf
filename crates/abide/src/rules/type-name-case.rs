use abide_schema::Element;

use crate::case::Case;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "type-name-case",
    summary: "a message, enum, service or method whose name is not UpperCamelCase",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[
        "buf:ENUM_PASCAL_CASE",
        "buf:MESSAGE_PASCAL_CASE",
        "buf:RPC_PASCAL_CASE",
        "buf:SERVICE_PASCAL_CASE",
        "aip:190",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("type-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let alias = match element {
        Element::Message(it) if it.is_map_entry() => return,
        Element::Message(_) => "buf:MESSAGE_PASCAL_CASE",
        Element::Enum(_) => "buf:ENUM_PASCAL_CASE",
        Element::Service(_) => "buf:SERVICE_PASCAL_CASE",
        Element::Method(_) => "buf:RPC_PASCAL_CASE",
        Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) => return,
    };
    let name = element.name();
    // buf accepts runs of capitals.
    let is_pascal = name.starts_with(|it: char| it.is_ascii_uppercase()) && !name.contains('_');
    let aliases = [alias, "aip:190"];
    Case::UpperCamel.judge(context, element, &aliases[usize::from(is_pascal)..], sink);
}
