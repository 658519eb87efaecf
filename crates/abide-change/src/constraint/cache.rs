//! Comparisons of constraints, each made once.

use std::sync::Arc;

use super::compare::{compare_fields, compare_messages, compare_oneofs};
use super::constraint_change::ConstraintChange;
use crate::memo::Memo;
use abide_schema::{Element, FileId};

/// Cached comparisons of constraints by old element. Each has to find a value, and
/// four rules need it.
#[derive(Debug, Default)]
pub(crate) struct ConstraintCache(Memo<Key, ConstraintChange>);

/// An old element by its noun, its file and its index there.
type Key = (&'static str, FileId, u32);

impl ConstraintCache {
    /// Returns how the constraints of an element changed; `None` for what has none.
    pub(crate) fn compare(
        &self,
        old: Element<'_>,
        new: Element<'_>,
    ) -> Option<Arc<ConstraintChange>> {
        let key = |file, index| (old.noun(), file, index);
        match (old, new) {
            (Element::Field(old), Element::Field(new)) => Some(
                self.0.get_or_compute(key(old.id.file, old.id.index), || compare_fields(old, new)),
            ),
            (Element::Oneof(old), Element::Oneof(new)) => Some(
                self.0.get_or_compute(key(old.id.file, old.id.index), || compare_oneofs(old, new)),
            ),
            (Element::Message(old), Element::Message(new)) => Some(
                self.0
                    .get_or_compute(key(old.id.file, old.id.index), || compare_messages(old, new)),
            ),
            _ => None,
        }
    }
}
