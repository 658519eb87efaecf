use abide_schema::Element;

use crate::checks::NameCase;
use crate::rule::{Check, Context, Group, Rule, Sink};

const OF_ENUMS: &[&str] =
    &["buf:ENUM_PASCAL_CASE", "aip:190", "protolint:ENUM_NAMES_UPPER_CAMEL_CASE"];
const OF_MESSAGES: &[&str] =
    &["buf:MESSAGE_PASCAL_CASE", "aip:190", "protolint:MESSAGE_NAMES_UPPER_CAMEL_CASE"];
const OF_METHODS: &[&str] =
    &["buf:RPC_PASCAL_CASE", "aip:190", "protolint:RPC_NAMES_UPPER_CAMEL_CASE"];
const OF_SERVICES: &[&str] =
    &["buf:SERVICE_PASCAL_CASE", "aip:190", "protolint:SERVICE_NAMES_UPPER_CAMEL_CASE"];

pub(super) static RULE: Rule = Rule {
    id: "type-name-case",
    summary: "a message, enum, service or method whose name is not UpperCamelCase",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["aip:190"],
    aliases_by_case: &[OF_ENUMS, OF_MESSAGES, OF_METHODS, OF_SERVICES],
    spares_work_in_progress: true,
    page: include_str!("type-name-case.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let aliases = match element {
        Element::Message(it) if it.is_map_entry() => return,
        Element::Message(_) => OF_MESSAGES,
        Element::Enum(_) => OF_ENUMS,
        Element::Service(_) => OF_SERVICES,
        Element::Method(_) => OF_METHODS,
        Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) => return,
    };
    let name = element.name();
    // buf and protolint accept runs of capitals.
    let is_pascal = name.starts_with(|it: char| it.is_ascii_uppercase()) && !name.contains('_');
    let aliases = if is_pascal { RULE.aliases } else { aliases };
    NameCase::UpperCamel.check(context, element, aliases, sink);
}
