//! Reports about constraints.

use abide_change::{Change, Comparison, Direction, Effects, Inclusion, Surface, prove_rejection};
use abide_schema::value;
use abide_schema::{Element, Part};
use abide_validate::{DefectKind, find_defects, rejects_absence, rejects_absence_of_oneof};

use crate::finding::{Bump, Location, Severity};
use crate::rule::{Context, Sink};

/// Reports how the constraints of an element changed, if `wanted` selects the
/// change; `verb` describes it, such as "accepts less".
pub(crate) fn report<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
    verb: &str,
    wanted: &dyn Fn(&Inclusion) -> bool,
) {
    let (old, new) = match change {
        Change::Both { old, new } => (old, new),
        Change::Added(new) if wanted(&Inclusion::Tightened) => {
            return report_demanded(diff, new, sink);
        }
        Change::Added(_) | Change::Removed(_) => return,
    };
    let Some(found) = diff.compare_constraints(old, new) else { return };
    if !wanted(&found.inclusion) {
        return;
    }
    let facets: Vec<&str> = found.facets.iter().map(|facet| facet.what.as_str()).collect();
    let what = if facets.is_empty() { String::new() } else { format!(": {}", facets.join(", ")) };
    let name = new.relative_name();
    let message = format!("{} `{name}` {verb}{what}", new.noun());
    let place = found.facets.iter().find_map(|facet| facet.place_new);
    let place_old = found.facets.iter().find_map(|facet| facet.place_old);
    let location = Location::tree(place.unwrap_or_else(|| new.place(Part::Name)));
    let before = Some(place_old.unwrap_or_else(|| old.place(Part::Name)));
    let package = old.package().name();
    let finding = sink.change_at(location, before, package, new.full_name(), message);
    if context.policy.breaking.strict_annotations {
        finding.at_least(Severity::Error).bump(Bump::Major);
        finding.why(
            "`[breaking] strict-annotations` allows no change of validation within a major version",
        );
    }
    finding.facts = facets.iter().map(|&facet| facet.to_owned()).collect();
    let (backward, forward) = match &found.inclusion {
        Inclusion::Equal => (false, false),
        Inclusion::Tightened => (true, false),
        Inclusion::Loosened => (false, true),
        Inclusion::Incomparable => (true, true),
        Inclusion::Unproven { why } => {
            finding.why(why.clone());
            (true, true)
        }
    };
    if backward {
        finding.breaks(Effects::backward(&[Surface::Validation]));
        if let Some(value) = &found.tightened_by {
            finding.proven(prove_rejection(Direction::Backward, diff.old, value, diff.new, new));
        }
    }
    if forward {
        finding.breaks(Effects::forward(&[Surface::Validation]));
        if let Some(value) = &found.loosened_by {
            finding.proven(prove_rejection(Direction::Forward, diff.new, value, diff.old, old));
        }
    }
}

/// Reports a new element that must be set.
fn report_demanded<'t>(diff: &Comparison<'t>, new: Element<'t>, sink: &mut Sink) {
    let (holder, rejects) = match new {
        Element::Field(it) => (it.containing_message(), rejects_absence(it)),
        Element::Oneof(it) => (Some(it.message()), rejects_absence_of_oneof(it)),
        _ => return,
    };
    let Some(old) = holder.and_then(|it| diff.old_message(it)).filter(|_| rejects) else { return };
    let name = new.relative_name();
    let message = format!("the new {} `{name}` must be set", new.noun());
    let finding = sink.change(diff, Change::Added(new), Part::Name, message);
    finding.breaks(Effects::backward(&[Surface::Validation]));
    let silent = value::Message::new(old.id);
    finding.proven(prove_rejection(Direction::Backward, diff.old, &silent, diff.new, new));
}

/// The rule of buf that reports many of the defects of annotations.
pub(crate) const BUF: &[&str] = &["buf:PROTOVALIDATE"];

/// Reports the defects of one kind in the annotations of an element.
pub(crate) fn report_defects(element: Element<'_>, kind: DefectKind, sink: &mut Sink) {
    for defect in find_defects(element, kind) {
        let package = element.package().name();
        let finding = sink.report(defect.place, package, element.full_name(), defect.message);
        if let Some(why) = defect.why {
            finding.why(why);
        }
        if defect.known_to_buf {
            finding.aliases(BUF);
        }
    }
}
