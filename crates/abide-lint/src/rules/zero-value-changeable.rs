use abide_schema::{Element, Openness, Part};

use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

const BUF: &str = "buf:ENUM_ZERO_VALUE_SUFFIX";
const AIP: &str = "aip:126";

pub(super) static RULE: Rule = Rule {
    id: "zero-value-changeable",
    summary: "an enum whose zero value has a meaning and is not documented as the default",
    group: Group::Lifecycle,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[BUF, AIP],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("zero-value-changeable.md"),
    check: Check::Element(check),
};

/// Names of zero values that have no meaning of their own.
const NEUTRAL: [&str; 12] = [
    "UNSPECIFIED",
    "UNKNOWN",
    "UNDEFINED",
    "UNSET",
    "NOT_SET",
    "INVALID",
    "NONE",
    "NULL",
    "DEFAULT",
    "UNUSED",
    "UNRECOGNIZED",
    "DO_NOT_USE",
];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Enum(it) = element else { return };
    // A closed enum defaults to its first value, whatever its number.
    let Some(zero) = it.zero_value().filter(|_| it.features().openness == Openness::Open) else {
        return;
    };
    let upper = zero.name().to_uppercase();
    let neutral = NEUTRAL.iter().any(|word| upper.ends_with(word) || upper.starts_with(word));
    if neutral || is_deprecated(Element::EnumValue(zero)) || context.is_frozen(element.package()) {
        return;
    }
    let documented = [element, Element::EnumValue(zero)].into_iter().any(|it| {
        let comments = it.file().decl().comments(it.node());
        let mut all = comments.leading.into_iter().chain(comments.trailing);
        all.any(|comment| comment.text.to_lowercase().contains("default"))
    });
    if documented {
        return;
    }
    let (name, value) = (it.full_name(), zero.name());
    let message = format!("the zero value `{value}` of enum `{name}` has a meaning of its own");
    let finding = sink.report(zero.place(Part::Name), element.package().name(), name, message);
    // Whoever follows buf has that finding from the rule about the name.
    if context.policy.follows(BUF) {
        finding.aliases(&[AIP]);
    }
    finding
        .why("an unset field reads as zero, so the value can never change its meaning or go away")
        .help("begin with a value such as `…_UNSPECIFIED`, or document this one as the default")
        .fact(value);
}
