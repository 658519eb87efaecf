use abide_schema::Element;

use crate::case::Case;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "type-name-case",
    summary: "a message, enum, service or method whose name is not UpperCamelCase, or holds an acronym in capitals",
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
    spares_work_in_progress: true,
    page: include_str!("type-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    match element {
        Element::Message(it) if it.is_map_entry() => {}
        Element::Message(_) | Element::Enum(_) | Element::Service(_) | Element::Method(_) => {
            Case::UpperCamel.judge(context, element, sink);
        }
        Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) => {}
    }
}
