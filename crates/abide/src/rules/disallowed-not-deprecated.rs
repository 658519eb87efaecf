use abide_schema::Element;

use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "disallowed-not-deprecated",
    summary: "an element that is refused by default without being deprecated",
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
    let message = format!("the {noun} `{name}` is disallowed by default and not deprecated");
    sink.report(place, element.package().name(), name, message)
        .why("users learn from `deprecated` that they have to leave, before they are refused")
        .help("add `deprecated = true`, or remove the annotation");
}
