//! Deprecated elements that instances use.

use abide_instance::{Dialect, Item, WalkItem};
use abide_schema::Element;

use super::replacement::{find_advice, find_replacement};
use crate::calendar::Phase;
use crate::finding::Location;
use crate::inputs::{Decision, ENABLE_ALL, FAIL_ON_ANY, FEATURE};
use crate::lifecycle::Deprecation;
use crate::rule::{InstanceContext, Sink};

/// What a reader of the API does with a deprecated element that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsePhase {
    /// It warns.
    Deprecated,
    /// It refuses the instance.
    Disallowed,
}

/// A deprecated element that an instance uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use<'t> {
    /// The element.
    pub(crate) element: Element<'t>,
    /// True if readers refuse it where no operator says otherwise.
    pub(crate) is_disallowed: bool,
    /// True if its reader asks operators about it.
    pub(crate) asks: bool,
    /// What its reader does.
    pub(crate) decision: Decision<'t>,
}

impl<'t> Use<'t> {
    /// The deprecated field or enum value that a walk meets, if it is one.
    pub(crate) fn of(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>) -> Option<Use<'t>> {
        let element = match visit.met {
            Item::Message(_) | Item::Named(_) => return None,
            Item::Field(field, _) => Element::Field(field),
            Item::EnumValue(_, value) | Item::ImplicitEnumValue(_, value) => {
                Element::EnumValue(value)
            }
        };
        let is_disallowed = is_disallowed(element, context)?;
        let asks = visit.in_any || !context.is_bootstrap;
        let decision = match asks {
            true => context.overrides.decide(element, is_disallowed),
            false => Decision { is_allowed: true, by: None },
        };
        Some(Use { element, is_disallowed, asks, decision })
    }

    pub(crate) fn phase(&self) -> UsePhase {
        if self.decision.is_allowed { UsePhase::Deprecated } else { UsePhase::Disallowed }
    }
}

/// Returns true if readers refuse an element by default, by its annotations or by the day of the
/// check; `None` if it is not even deprecated.
pub(crate) fn is_disallowed(element: Element<'_>, context: &InstanceContext<'_>) -> Option<bool> {
    if element.disallowed_by_default().is_some() {
        return Some(true);
    }
    element.deprecated()?;
    let phases = Deprecation::of(element, context.policy).map(|it| it.phases);
    Some(phases.is_some_and(|it| it.on(context.options.as_of) >= Phase::Disallowed))
}

/// Reports that an instance uses a deprecated element, if its reader does this with it.
pub(crate) fn report_use<'t>(
    context: &InstanceContext<'t>,
    visit: WalkItem<'t, '_>,
    phase: UsePhase,
    sink: &mut Sink,
) {
    let Some(used) = Use::of(context, visit).filter(|it| it.phase() == phase) else { return };
    let (name, noun) = (used.element.full_name(), used.element.noun());
    let state = if used.is_disallowed { "disallowed by default" } else { "deprecated" };
    let subject = match visit.met {
        Item::ImplicitEnumValue(field, _) => {
            format!("`{}` is not set, and its default `{name}`", field.name())
        }
        Item::Message(_) | Item::Named(_) | Item::Field(..) | Item::EnumValue(..) => {
            format!("{noun} `{name}`")
        }
    };
    let message = match used.decision.by {
        Some((key, _)) => {
            let verb = if used.decision.is_allowed { "allows" } else { "refuses" };
            let key =
                if key.starts_with(FEATURE) { "its runtime key" } else { &format!("`{key}`") };
            format!("{subject} is {state}, and {key} {verb} it")
        }
        None => format!("{subject} is {state}"),
    };
    let package = used.element.package().name();
    let finding = sink.report(context.at(visit.span), package, &*name, message);
    finding.fact(state);
    if let Some((_, setting)) = used.decision.by
        && let Some(file) = setting.file
    {
        let place = Location::instance(file, setting.span);
        finding.label(place, format!("layer `{}` decides", setting.layer));
    }
    let since = used.element.deprecated_since().map(|(since, _)| since);
    let since = since.map(|it| format!("it is deprecated since {it}"));
    let early = "this part of a bootstrap is read before runtime, so its reader only warns";
    let early = (used.is_disallowed && !used.asks).then(|| early.to_owned());
    let why: Vec<String> = [since, early].into_iter().flatten().collect();
    if !why.is_empty() {
        finding.why(why.join("; "));
    }
    let replacement = find_replacement(context.tree, used.element);
    let instead = replacement.map(|it| match (visit.met, it) {
        (Item::Field(_, holder), Element::Field(new))
            if holder.entries_of(new.id).next().is_some() =>
        {
            format!("remove it when every reader knows `{}`, which is set as well", new.name())
        }
        _ => format!("use `{}`", it.full_name()),
    });
    let advice = || find_advice(used.element).map(|it| it.trim_end_matches('.').to_owned());
    let instead = instead.or_else(advice);
    let key = allowing_key(context, &used, &name);
    let help: Vec<String> = [instead, key].into_iter().flatten().collect();
    if !help.is_empty() {
        finding.help(help.join("; "));
    }
}

/// Returns what an operator can set to have a refused instance read.
fn allowing_key(context: &InstanceContext<'_>, used: &Use<'_>, name: &str) -> Option<String> {
    if used.decision.is_allowed || context.dialect != Dialect::Envoy {
        return None;
    }
    Some(match used.decision.by {
        Some((key, _)) if key.starts_with(FEATURE) => {
            format!("to allow it for now, set the runtime key `{key}` to true")
        }
        Some((key @ (FAIL_ON_ANY | ENABLE_ALL), _)) => {
            format!("to allow it for now, set `{FEATURE}{name}: true`, which counts before `{key}`")
        }
        _ => format!("to allow it for now, set `{FEATURE}{name}: true` in a layer of runtime"),
    })
}
