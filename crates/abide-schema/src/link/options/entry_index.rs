//! The options of an element that are set already.

use rustc_hash::FxHashMap;

use crate::dynamic::Message;
use crate::ids::FieldId;

/// Finds entries in the options of one element.
#[derive(Default)]
pub(super) struct EntryIndex {
    /// For a message with many entries, by the fields that lead to it: where the entry of each
    /// field is, and how many entries were looked at.
    many: FxHashMap<Vec<FieldId>, (FxHashMap<FieldId, usize>, usize)>,
}

impl EntryIndex {
    /// So many entries are faster to search than to index.
    const FEW: usize = 32;

    /// Forgets the entries of the last element.
    pub(super) fn clear(&mut self) {
        self.many.clear();
    }

    /// The index of the entry of a singular field; `path` leads from the options to the message.
    pub(super) fn find(
        &mut self,
        message: &Message,
        path: &[FieldId],
        field: FieldId,
    ) -> Option<usize> {
        if message.entries.len() <= EntryIndex::FEW {
            return message.entries.iter().position(|entry| entry.field == field);
        }
        let (at, known) = self.many.entry(path.to_vec()).or_default();
        for (index, entry) in message.entries.iter().enumerate().skip(*known) {
            at.entry(entry.field).or_insert(index);
        }
        *known = message.entries.len();
        at.get(&field).copied()
    }
}
