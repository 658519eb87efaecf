//! The annotations that carry policy, read from custom options.

use rustc_hash::FxHashMap;

use crate::ids::{FieldId, MessageId};
use crate::tree::Tree;

/// The extensions of a tree, and those that have a meaning to policy.
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_number: FxHashMap<(MessageId, i32), FieldId>,
}

impl Known {
    /// Of a tree whose names are linked.
    pub(crate) fn of(tree: &Tree) -> Known {
        let mut by_number = FxHashMap::default();
        for file in tree.files() {
            let nested = file.all_messages().flat_map(|message| message.extensions());
            for field in file.extensions().chain(nested) {
                if let Some(extendee) = field.extendee() {
                    by_number.entry((extendee.id, field.number())).or_insert(field.id);
                }
            }
        }
        Known { by_number }
    }

    /// The extension of a message with this number.
    pub(crate) fn extension_numbered(&self, message: MessageId, number: i32) -> Option<FieldId> {
        self.by_number.get(&(message, number)).copied()
    }
}
