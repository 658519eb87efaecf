use abide_schema::Element;

use crate::finding::{Severity, with_deprecated};
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "disallowed-not-deprecated",
    summary: "an element that is disallowed by default but not deprecated",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("disallowed-not-deprecated.md"),
    check: Check::Annotated(check),
};

fn check<'t>(_: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(place) = element.disallowed_by_default().filter(|_| !is_deprecated(element)) else {
        return;
    };
    let (name, noun) = (element.full_name(), element.noun());
    let message = format!("{noun} `{name}` is disallowed by default but not deprecated");
    sink.report(place, element.package().name(), name, message)
        .why("`deprecated` warns users before servers refuse the element")
        .help("add `deprecated = true`, or remove the annotation")
        .fix(with_deprecated(element, place));
}
