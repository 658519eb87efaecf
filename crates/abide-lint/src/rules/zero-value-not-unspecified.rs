use abide_schema::{Element, EnumValue, Part};

use crate::checks::NameCase;
use crate::finding::{Applied, renamed};
use crate::rule::{Check, Context, Group, Rule, Sink};

/// The rule of buf about the same.
const BUF: &str = "buf:ENUM_ZERO_VALUE_SUFFIX";

pub(super) static RULE: Rule = Rule {
    id: "zero-value-not-unspecified",
    summary: "an enum whose zero value is not named `…_UNSPECIFIED`",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[
        BUF,
        "aip:126",
        "protolint:ENUM_FIELD_NAMES_ZERO_VALUE_END_WITH",
        "api-linter:core::0126::unspecified",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("zero-value-not-unspecified.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Enum(it) = element else { return };
    let suffix = context.policy.lint.of(it.file()).zero_value_suffix.as_str();
    let zeros: Vec<EnumValue<'t>> = it.values().filter(|value| value.number() == 0).collect();
    // One name is enough, except for buf, which looks at each.
    let bad: Vec<EnumValue<'t>> = if context.policy.follows(BUF) {
        zeros.into_iter().filter(|it| !it.name().ends_with(suffix)).collect()
    } else {
        {
            let is_bad = zeros.iter().all(|it| !it.name().ends_with(suffix));
            it.zero_value().filter(|_| is_bad).into_iter().collect()
        }
    };
    for zero in bad {
        if context.exempts(Element::EnumValue(zero), &[BUF]) {
            continue;
        }
        let (name, value) = (it.full_name(), zero.name());
        let message = format!("the zero value `{value}` of enum `{name}` is not named `…{suffix}`");
        let right = format!("{}{suffix}", NameCase::UpperSnake.convert(it.name()));
        // The value may have another meaning, and then it needs another number.
        let rename = renamed(Element::EnumValue(zero), &right);
        sink.report(zero.place(Part::Name), element.package().name(), name, message)
            .help(format!("start the enum with `{right}`"))
            .fix(rename.map(|it| it.applied(Applied::Never)))
            .fact(value);
    }
}
