use abide_schema::Element;

use crate::calendar::Phase;
use crate::finding::Severity;
use crate::lifecycle::Deprecation;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecated-past-removal",
    summary: "a deprecated element that should have been removed by now",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecated-past-removal.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(Deprecation { place, phases, .. }) = Deprecation::of(element, context.policy)
        .filter(|it| it.phases.on(context.as_of) == Phase::Removed)
    else {
        return;
    };
    let (Some(disallowed), Some(removed)) = (phases.disallowed, phases.removed) else { return };
    if context.is_frozen(element.package()) {
        return;
    }
    let (name, noun) = (element.full_name(), element.noun());
    let message = format!("deprecated {noun} `{name}` was due for removal on {removed}");
    let finding = sink.report(place, element.package().name(), name, message);
    finding
        .why(format!(
            "it was deprecated on {} and due to be disallowed by default on {disallowed}",
            phases.deprecated
        ))
        .fact(removed.to_string());
    finding.help(match element {
        Element::Field(_) | Element::EnumValue(_) => "remove it, and reserve its number and name",
        _ => "remove it",
    });
}
