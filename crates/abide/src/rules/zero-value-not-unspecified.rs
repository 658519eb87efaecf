use abide_schema::{Element, Part};

use crate::case::Case;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "zero-value-not-unspecified",
    summary: "an enum whose zero value is not named `…_UNSPECIFIED`",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:ENUM_ZERO_VALUE_SUFFIX", "aip:126"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("zero-value-not-unspecified.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Enum(it) = element else { return };
    let mut zeros = it.values().filter(|value| value.number() == 0);
    let Some(zero) = it.zero_value().filter(|_| !zeros.any(|it| is_unspecified(it.name()))) else {
        return;
    };
    let package = element.package();
    if context.is_frozen(package) || is_deprecated(Element::EnumValue(zero)) {
        return;
    }
    let (name, value) = (it.full_name(), zero.name());
    let message = format!("the zero value `{value}` of enum `{name}` is not named `…_UNSPECIFIED`");
    sink.report(zero.place(Part::Name), package.name(), name, message)
        .help(format!("start the enum with `{}_UNSPECIFIED`", Case::UpperSnake.of(it.name())))
        .fact(value);
}

fn is_unspecified(name: &str) -> bool {
    name.ends_with("_UNSPECIFIED")
}
