//! Deprecated elements that instances use.

use abide_instance::{Met, Visit};
use abide_schema::Element;

use crate::calendar_status::Deprecation;
use crate::phases::Phase;
use crate::rule::{InstanceContext, Sink};

/// What a reader of the API does with a deprecated element that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsePhase {
    /// It warns.
    Deprecated,
    /// It refuses the instance unless an operator allows it.
    Disallowed,
}

impl UsePhase {
    /// The phase of an element: that of its annotations, or a later one that the
    /// day of the check implies.
    fn of(element: Element<'_>, context: &InstanceContext<'_>) -> Option<UsePhase> {
        if element.disallowed_by_default().is_some() {
            return Some(UsePhase::Disallowed);
        }
        element.deprecated()?;
        let phases = Deprecation::of(element, context.policy).map(|it| it.phases);
        let is_over = phases.is_some_and(|it| it.on(context.as_of) >= Phase::Disallowed);
        Some(if is_over { UsePhase::Disallowed } else { UsePhase::Deprecated })
    }
}

/// Reports that an instance uses an element in this phase.
pub(crate) fn report_use(
    context: &InstanceContext<'_>,
    visit: Visit<'_, '_>,
    used: Element<'_>,
    phase: UsePhase,
    sink: &mut Sink,
) {
    if UsePhase::of(used, context) != Some(phase) {
        return;
    }
    let (name, noun) = (used.full_name(), used.noun());
    let state = match phase {
        UsePhase::Deprecated => "deprecated",
        UsePhase::Disallowed => "disallowed by default",
    };
    let message = match visit.met {
        Met::ImplicitEnumValue(field, _) => {
            format!("`{}` is not set, and its default `{name}` is {state}", field.name())
        }
        Met::Message(_) | Met::Field(_) | Met::EnumValue(..) => {
            format!("{noun} `{name}` is {state}")
        }
    };
    let finding = sink.report(context.at(visit.span), used.package().name(), name, message);
    finding.fact(state);
    if let Some((since, _)) = used.deprecated_since() {
        finding.why(format!("it is deprecated since {since}"));
    }
    if let Some(other) = used.replacement() {
        finding.help(format!("use `{}`", other.full_name()));
    }
}
