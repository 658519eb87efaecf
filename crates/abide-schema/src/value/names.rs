//! Resolves full names in a tree, for notations that name things without
//! imports.

use abide_syntax::Span;

use super::aggregate::{Finder, find_message_set_item, is_extension_of};
use super::facts::is_message_set;
use crate::ids::{FieldId, FileId, MessageId};
use crate::tree::{Field, Tree};

/// Finds names in the whole tree.
#[derive(Clone, Copy)]
pub(super) struct TreeNames<'t>(pub(super) &'t Tree);

impl TreeNames<'_> {
    /// The type that a type URL names: the part after its last slash.
    pub(super) fn find_by_url(self, url: &str) -> Option<MessageId> {
        self.0.message_named(url.rsplit_once('/')?.1).map(|message| message.id)
    }

    /// The extension that a name in brackets means.
    pub(super) fn extension(self, message: MessageId, name: &str) -> Option<FieldId> {
        let tree = self.0;
        let view = tree.message(message);
        let own = tree.extensions_named(name).find(|field| is_extension_of(*field, view));
        let item = || find_message_set_item(view, tree.message_named(name)?);
        own.map(|field: Field<'_>| field.id).or_else(|| is_message_set(view).then(item).flatten())
    }
}

impl Finder for TreeNames<'_> {
    fn find_extension(&mut self, message: MessageId, name: &str, _: Span) -> Option<FieldId> {
        TreeNames::extension(*self, message, name)
    }

    fn find_message(&mut self, full_name: &str, _: Span) -> Option<MessageId> {
        self.0.message_named(full_name).map(|message| message.id)
    }

    fn mark_used(&mut self, _: FileId) {}
}
