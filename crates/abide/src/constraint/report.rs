//! Findings about constraints.

use std::sync::{Arc, Mutex, PoisonError};

use abide_schema::value::{self, Codec};
use abide_schema::{Element, FileId, Part, Tree};
use rustc_hash::FxHashMap;

use super::{
    Comparison, Inclusion, Violation, compare_fields, compare_messages, compare_oneofs, judge,
    rejects_absence, rejects_absence_of_oneof,
};
use crate::change::{Change, Diff};
use crate::finding::Location;
use crate::rule::Sink;
use crate::surface::{Direction, Effects, Surface};
use crate::witness::{Proof, Witness, one_line};

/// Reports how the constraints of an element changed, where `wanted` picks
/// that; `verb` says it: "accepts less".
pub(crate) fn report<'t>(
    diff: &Diff<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
    verb: &str,
    wanted: &dyn Fn(&Inclusion) -> bool,
) {
    let (old, new) = match change {
        Change::Both { old, new } => (old, new),
        Change::Added(new) if wanted(&Inclusion::Tightened) => {
            return demanded(diff, new, sink);
        }
        Change::Added(_) | Change::Removed(_) => return,
    };
    let Some(found) = diff.compared.of(old, new) else { return };
    if !wanted(&found.inclusion) {
        return;
    }
    let facets: Vec<&str> = found.facets.iter().map(|facet| facet.what.as_str()).collect();
    let what = if facets.is_empty() { String::new() } else { format!(": {}", facets.join(", ")) };
    let message = format!("{} `{}` {verb}{what}", new.noun(), new.name());
    let place = found.facets.iter().find_map(|facet| facet.place_new);
    let place_old = found.facets.iter().find_map(|facet| facet.place_old);
    let location = Location::Tree(place.unwrap_or_else(|| new.place(Part::Name)));
    let before = Some(place_old.unwrap_or_else(|| old.place(Part::Name)));
    let package = old.package().name();
    let finding = sink.change_at(location, before, package, new.full_name(), message);
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
            finding.proven(proof(Direction::Backward, diff.old, value, diff.new, new));
        }
    }
    if forward {
        finding.breaks(Effects::forward(&[Surface::Validation]));
        if let Some(value) = &found.loosened_by {
            finding.proven(proof(Direction::Forward, diff.new, value, diff.old, old));
        }
    }
}

/// The comparisons of constraints by old elements: each has a value to be found,
/// and four rules ask for it.
#[derive(Debug, Default)]
pub(crate) struct Compared(Mutex<FxHashMap<Key, Arc<Comparison>>>);

/// An old element by its noun, its file and its index there.
type Key = (&'static str, FileId, u32);

impl Compared {
    fn of(&self, old: Element<'_>, new: Element<'_>) -> Option<Arc<Comparison>> {
        let (file, index) = match old {
            Element::Field(it) => (it.id.file, it.id.index),
            Element::Oneof(it) => (it.id.file, it.id.index),
            Element::Message(it) => (it.id.file, it.id.index),
            _ => return None,
        };
        let key = (old.noun(), file, index);
        // Not held while elements are compared: other threads compare others.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return Some(Arc::clone(found));
        }
        let found = Arc::new(match (old, new) {
            (Element::Field(old), Element::Field(new)) => compare_fields(old, new),
            (Element::Oneof(old), Element::Oneof(new)) => compare_oneofs(old, new),
            (Element::Message(old), Element::Message(new)) => compare_messages(old, new),
            _ => return None,
        });
        known().insert(key, Arc::clone(&found));
        Some(found)
    }
}

/// Reports something new that has to be set.
fn demanded<'t>(diff: &Diff<'t>, new: Element<'t>, sink: &mut Sink) {
    let (holder, rejects) = match new {
        Element::Field(it) => (it.containing_message(), rejects_absence(it)),
        Element::Oneof(it) => (Some(it.message()), rejects_absence_of_oneof(it)),
        _ => return,
    };
    let Some(old) = holder.and_then(|it| diff.old_message(it)).filter(|_| rejects) else { return };
    let message = format!("the new {} `{}` must be set", new.noun(), new.name());
    let finding = sink.change(diff, Change::Added(new), Part::Name, message);
    finding.breaks(Effects::backward(&[Surface::Validation]));
    let silent = value::Message::new(old.id);
    finding.proven(proof(Direction::Backward, diff.old, &silent, diff.new, new));
}

/// A value that one side accepts, as a witness that the other rejects it.
fn proof(
    direction: Direction,
    writer: &Tree,
    value: &value::Message,
    reader: &Tree,
    judge_of: Element<'_>,
) -> Proof {
    let holder = match judge_of {
        Element::Field(field) => field.containing_message(),
        Element::Oneof(oneof) => Some(oneof.message()),
        Element::Message(message) => Some(message),
        Element::Enum(_) | Element::EnumValue(_) | Element::Service(_) | Element::Method(_) => None,
    };
    let Some(holder) = holder else { return Proof::default() };
    let bytes = Codec::new(writer).encode(value);
    let read = Codec::new(reader).decode(holder.id, &bytes).ok();
    let violations = read.map(|read| judge(reader, &read).violations).unwrap_or_default();
    // The value may violate what else changed; of that, other findings tell.
    let is_own = |it: &Violation| match judge_of {
        Element::Field(field) => it.field == Some(field.id),
        Element::Oneof(oneof) => it.path == oneof.name(),
        _ => true,
    };
    let own = violations.iter().find(|it| is_own(it));
    let Some(violation) = own.or(violations.first()) else { return Proof::default() };
    let side = direction.reader();
    let path =
        if violation.path.is_empty() { String::new() } else { format!("`{}`: ", violation.path) };
    Proof::of(Witness {
        surface: Surface::Validation,
        direction,
        message: writer.message(value.ty).full_name(),
        reader: holder.full_name(),
        value: one_line(&Codec::new(writer).to_text(value)),
        bytes,
        observed: format!("the {side} side rejects it: {path}{}", violation.reason),
    })
}
