//! Options that stay in the source: `retention = RETENTION_SOURCE`.

use std::borrow::Cow;

use crate::dynamic::{Entry, Message, Value};
use crate::tree::{Field, Tree};

impl Field<'_> {
    /// Returns true if protoc leaves it out of the options in descriptor sets: its own
    /// option `retention` is `RETENTION_SOURCE`.
    pub fn is_source_only(self) -> bool {
        const RETENTION_SOURCE: i64 = 2;
        let retention = self.options().and_then(|options| options.get_i64(self.tree, "retention"));
        retention == Some(RETENTION_SOURCE)
    }
}

impl Message {
    /// Options as protoc writes them into descriptor sets: without the fields
    /// that have `retention = RETENTION_SOURCE`, at any depth, but not inside
    /// of groups. Source: `StripSourceRetentionOptions` of protobuf.
    #[must_use]
    pub fn without_source_retention(&self, tree: &Tree) -> Cow<'_, Message> {
        self.without(tree, &|field| field.is_source_only())
    }

    /// The same without the fields that are left out.
    pub(crate) fn without(
        &self,
        tree: &Tree,
        is_left_out: &dyn Fn(Field<'_>) -> bool,
    ) -> Cow<'_, Message> {
        if self.is_without(tree, is_left_out) {
            return Cow::Borrowed(self);
        }
        let kept = self.entries.iter().filter(|entry| !is_left_out(tree.field(entry.field)));
        let entries = kept.map(|entry| {
            let value = match &entry.value {
                Value::Message(inner) if !tree.field(entry.field).features().delimited => {
                    Value::Message(Box::new(inner.without(tree, is_left_out).into_owned()))
                }
                value => value.clone(),
            };
            Entry { value, ..*entry }
        });
        Cow::Owned(Message {
            ty: self.ty,
            entries: entries.collect(),
            unknown: self.unknown.clone(),
            content: None,
        })
    }

    /// Returns true if it has nothing that is left out.
    pub(crate) fn is_without(&self, tree: &Tree, is_left_out: &dyn Fn(Field<'_>) -> bool) -> bool {
        self.entries.iter().all(|entry| {
            let field = tree.field(entry.field);
            let inside = entry.value.as_message().filter(|_| !field.features().delimited);
            !is_left_out(field) && inside.is_none_or(|inner| inner.is_without(tree, is_left_out))
        })
    }
}
