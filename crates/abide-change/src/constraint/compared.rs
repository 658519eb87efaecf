//! Comparisons of constraints, each made once, and the witnesses they give.

use std::sync::{Arc, Mutex, PoisonError};

use abide_schema::value;
use abide_schema::{Element, FileId, Tree};
use rustc_hash::FxHashMap;

use super::{Comparison, Violation, compare_fields, compare_messages, compare_oneofs, judge};
use crate::show::one_line;
use crate::surface::{Direction, Surface};
use crate::witness::{Proof, Witness};

/// The comparisons of constraints by old elements: each has a value to be found,
/// and four rules ask for it.
#[derive(Debug, Default)]
pub(crate) struct Compared(Mutex<FxHashMap<Key, Arc<Comparison>>>);

/// An old element by its noun, its file and its index there.
type Key = (&'static str, FileId, u32);

impl Compared {
    /// How the constraints of an element changed; `None` for what has none.
    pub(crate) fn of(&self, old: Element<'_>, new: Element<'_>) -> Option<Arc<Comparison>> {
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

/// A value that one side accepts, as a witness that the other rejects it.
pub fn rejection(
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
    let bytes = value.encode(writer);
    let read = value::Message::decode(reader, holder.id, &bytes).ok();
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
        value: one_line(&value.to_text(writer)),
        bytes,
        observed: format!("the {side} side rejects it: {path}{}", violation.reason),
    })
}
