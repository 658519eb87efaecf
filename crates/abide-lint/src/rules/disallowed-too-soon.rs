use abide_schema::Element;

use crate::calendar::PhaseFreeze;
use crate::finding::Severity;
use crate::lifecycle::Deprecation;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "disallowed-too-soon",
    summary: "an element that is disallowed by default before releases have warned about it",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("disallowed-too-soon.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let policy = context.policy;
    let Some(Deprecation { phases, .. }) = Deprecation::of(element, policy) else { return };
    let Some(place) = element.disallowed_by_default() else { return };
    if phases.last_warning.is_some_and(|last| context.as_of >= last) {
        return;
    }
    let (name, noun) = (element.full_name(), element.noun());
    let freeze = policy.deprecation.freeze_on(context.as_of);
    let (when, why, fact) = match (phases.last_warning, phases.disallowed, freeze) {
        (Some(last), Some(disallowed), _) => (
            format!("before the release of {last}, which only warns"),
            format!(
                "it was deprecated on {}: releases warn about it from {} on, and the release of \
                 {disallowed} is the first to refuse it{}",
                phases.deprecated,
                phases.warned,
                if freeze.is_some() {
                    ", because `[deprecation] freeze` holds it back"
                } else {
                    ""
                }
            ),
            last.to_string(),
        ),
        // A freeze without a first day does not say what was disallowed before it.
        (_, _, Some(PhaseFreeze { from: Some(from), .. })) => (
            "during a freeze".to_owned(),
            format!("`[deprecation] freeze` has let nothing become disallowed since {from}"),
            from.to_string(),
        ),
        _ => return,
    };
    let message = format!("{noun} `{name}` is disallowed by default {when}");
    sink.report(place, element.package().name(), name, message)
        .why(why)
        .help("remove `disallowed_by_default` until then")
        .fact(fact);
}
