//! Options that stay in the source: `retention = RETENTION_SOURCE`.

use std::borrow::Cow;

use crate::dynamic::{Entry, Message, Value};
use crate::tree::Tree;
use crate::view::Field;

impl Field<'_> {
    /// Whether protoc leaves it out of the options in descriptor sets: its own
    /// option `retention` is `RETENTION_SOURCE`.
    pub fn is_source_only(self) -> bool {
        const RETENTION_SOURCE: i64 = 2;
        let retention = self.options().and_then(|options| options.i64(self.tree, "retention"));
        retention == Some(RETENTION_SOURCE)
    }
}

impl Message {
    /// Options as protoc writes them into descriptor sets: without the fields
    /// that have `retention = RETENTION_SOURCE`, at any depth, but not inside
    /// of groups. Source: `StripSourceRetentionOptions` of protobuf.
    #[must_use]
    pub fn without_source_retention(&self, tree: &Tree) -> Cow<'_, Message> {
        if self.is_retained(tree) {
            return Cow::Borrowed(self);
        }
        let kept = self.entries.iter().filter(|entry| !tree.field(entry.field).is_source_only());
        let entries = kept.map(|entry| {
            let value = match &entry.value {
                Value::Message(inner) if !tree.field(entry.field).features().delimited => {
                    Value::Message(Box::new(inner.without_source_retention(tree).into_owned()))
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

    /// Whether nothing of it has source-only retention.
    fn is_retained(&self, tree: &Tree) -> bool {
        self.entries.iter().all(|entry| {
            let field = tree.field(entry.field);
            let inside = entry.value.as_message().filter(|_| !field.features().delimited);
            !field.is_source_only() && inside.is_none_or(|inner| inner.is_retained(tree))
        })
    }
}
