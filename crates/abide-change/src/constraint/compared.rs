//! Comparisons of constraints, each made once.

use std::sync::{Arc, Mutex, PoisonError};

use abide_schema::{Element, FileId};
use rustc_hash::FxHashMap;

use super::compare::{compare_fields, compare_messages, compare_oneofs};
use super::comparison::Comparison;

/// Cached comparisons of constraints by old element. Each has to find a value, and
/// four rules need it.
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
        // The lock is not held during a comparison, since other threads compare too.
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
