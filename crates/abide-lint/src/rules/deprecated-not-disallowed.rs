use abide_schema::Element;

use crate::calendar::Phase;
use crate::finding::Severity;
use crate::lifecycle::Deprecation;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecated-not-disallowed",
    summary: "a deprecated element that should be disallowed by default by now",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecated-not-disallowed.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(Deprecation { place, phases, .. }) = Deprecation::of(element, context.policy) else {
        return;
    };
    // An element that is due for removal is reported by `deprecated-past-removal`.
    let is_due = phases.on(context.as_of) == Phase::Disallowed;
    let Some(due) = phases.disallowed.filter(|_| is_due && !is_disallowed(element)) else {
        return;
    };
    if context.is_frozen(element.package()) {
        return;
    }
    let (name, noun) = (element.full_name(), element.noun());
    let message =
        format!("deprecated {noun} `{name}` was due to be disallowed by default on {due}");
    sink.report(place, element.package().name(), name, message)
        .why(format!(
            "it was deprecated on {}; releases have warned about it since {}",
            phases.deprecated, phases.warned
        ))
        .help("annotate it with `disallowed_by_default`")
        .fact(due.to_string());
}

/// Returns true if the element, or an element that encloses it, is disallowed by default.
fn is_disallowed(element: Element<'_>) -> bool {
    element.disallowed_by_default().is_some() || element.parent().is_some_and(is_disallowed)
}
