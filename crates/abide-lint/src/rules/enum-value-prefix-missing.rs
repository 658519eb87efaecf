use abide_schema::{Element, Part};

use crate::checks::{NameCase, buf_upper_snake, protolint_upper_snake};
use crate::finding::renamed;
use crate::rule::{Check, Context, Group, Rule, Sink};

const BUF: &str = "buf:ENUM_VALUE_PREFIX";
const PROTOLINT: &str = "protolint:ENUM_FIELD_NAMES_PREFIX";

pub(super) static RULE: Rule = Rule {
    id: "enum-value-prefix-missing",
    summary: "an enum value whose name does not begin with the name of its enum",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[BUF, PROTOLINT]],
    spares_work_in_progress: true,
    page: include_str!("enum-value-prefix-missing.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::EnumValue(value) = element else { return };
    let (name, parent) = (value.name(), value.parent().name());
    let package = element.package();
    // Each tool splits the name of the enum into words in one way only.
    let (of_buf, of_protolint) = (buf_upper_snake(parent), protolint_upper_snake(parent));
    let begins = name.strip_prefix(&of_buf).is_some_and(|rest| rest.starts_with('_'));
    let tools =
        [(BUF, !begins, of_buf), (PROTOLINT, !name.starts_with(&of_protolint), of_protolint)];
    let mut fired = tools.iter().filter(|(_, fires, _)| *fires);
    let followed = fired.clone().find(|(alias, ..)| context.policy.follows(alias));
    let aliases: Vec<&str> = fired.by_ref().map(|(alias, ..)| *alias).collect();
    let is_asked = match context.policy.follows_any(&[BUF, PROTOLINT]) {
        true => followed.is_some(),
        false => !has_prefix(name, parent),
    };
    if !is_asked || context.exempts(element, &aliases) {
        return;
    }
    let prefix = followed
        .map_or_else(|| NameCase::UpperSnake.convert(parent), |(.., prefix)| prefix.clone());
    let message = format!("enum value `{name}` does not begin with `{prefix}_`");
    let right = format!("{prefix}_{}", NameCase::UpperSnake.convert(name));
    sink.report(value.place(Part::Name), package.name(), element.full_name(), message)
        .why("enum values share the scope of their enum, so no enum beside it can use the name")
        .help(format!("rename it to `{right}` before anybody relies on the name"))
        .fix(renamed(element, &right))
        .fact(name)
        .aliases(&aliases);
}

/// Returns true if a value begins with the name of its enum and an underscore, however the name of
/// the enum is split into words.
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
