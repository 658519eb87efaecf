use abide_schema::Element;

use crate::calendar_status::Deprecation;
use crate::finding::Severity;
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
    let Some(Deprecation { phases, .. }) = Deprecation::of(element, context.policy)
        .filter(|it| context.as_of < it.phases.last_warning)
    else {
        return;
    };
    let Some(place) = element.disallowed_by_default() else { return };
    let (name, noun) = (element.full_name(), element.noun());
    let message = format!(
        "{noun} `{name}` is disallowed by default before the release of {}, which only warns",
        phases.last_warning
    );
    sink.report(place, element.package().name(), name, message)
        .why(format!(
            "it was deprecated on {}: releases warn about it from {} on, and the release of {} is \
             the first to refuse it",
            phases.deprecated, phases.warned, phases.disallowed
        ))
        .help("remove `disallowed_by_default` until that release is out")
        .fact(phases.last_warning.to_string());
}
