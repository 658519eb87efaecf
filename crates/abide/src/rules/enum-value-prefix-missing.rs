use abide_schema::{Element, Part};

use crate::case::{Case, buf_upper_snake};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-prefix-missing",
    summary: "an enum value whose name does not begin with the name of its enum",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:ENUM_VALUE_PREFIX"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-prefix-missing.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::EnumValue(value) = element else { return };
    let (name, parent) = (value.name(), value.parent().name());
    let package = element.package();
    // buf splits the name of the enum into words in one way only.
    let exact = context.policy.follows_any(RULE.aliases);
    let prefix = if exact { buf_upper_snake(parent) } else { Case::UpperSnake.of(parent) };
    let begins = |name: &str| match exact {
        true => name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with('_')),
        false => has_prefix(name, parent),
    };
    if begins(name) || context.spares(element, RULE.aliases) {
        return;
    }
    let message = format!("enum value `{name}` does not begin with `{prefix}_`");
    sink.report(value.place(Part::Name), package.name(), element.full_name(), message)
        .why("enum values share the scope of their enum, so no enum beside it can use the name")
        .help(format!(
            "rename it to `{prefix}_{}` before anybody relies on the name",
            Case::UpperSnake.of(name)
        ))
        .fact(name);
}

/// Whether a value begins with the name of its enum and an underscore, however
/// the name of the enum is split into words.
fn has_prefix(value: &str, parent: &str) -> bool {
    let mut rest = value.as_bytes();
    for letter in parent.bytes().filter(|&it| it != b'_') {
        rest = match rest {
            [b'_', first, after @ ..] | [first, after @ ..]
                if *first == letter.to_ascii_uppercase() =>
            {
                after
            }
            _ => return false,
        };
    }
    matches!(rest, [b'_', _, ..])
}
