//! Full names of a whole tree, for notations that name things without imports.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::aggregate::{Finder, extends, message_set_item};
use super::facts::is_message_set;
use super::lookup::{SHORT, index};
use crate::ids::{FieldId, FileId, MessageId};
use crate::tree::Tree;
use crate::view::{self};

/// What a full name means in a tree.
pub(crate) struct TreeNames<'t> {
    tree: &'t Tree,
}

impl<'t> TreeNames<'t> {
    pub(crate) fn new(tree: &'t Tree) -> TreeNames<'t> {
        TreeNames { tree }
    }

    /// The type that a type URL names: what stands behind its last slash.
    pub(crate) fn of_url(&mut self, url: &str) -> Option<MessageId> {
        self.message(url.rsplit_once('/')?.1)
    }
}

impl Finder for TreeNames<'_> {
    fn extension(&mut self, message: MessageId, name: &str) -> Option<FieldId> {
        let tree = self.tree;
        let extensions = tree.full_names.extensions.get_or_init(|| {
            let mut index: FxHashMap<String, Vec<FieldId>> = FxHashMap::default();
            for field in tree.files().flat_map(view::File::all_fields) {
                if field.is_extension() {
                    index.entry(field.full_name()).or_default().push(field.id);
                }
            }
            index
        });
        let view = tree.message(message);
        let own = extensions.get(name).into_iter().flatten();
        let own = own.copied().find(|&id| extends(tree.field(id), view));
        let item = || message_set_item(view, tree.message(self.message(name)?));
        own.or_else(|| is_message_set(view).then(item).flatten())
    }

    fn message(&mut self, full_name: &str) -> Option<MessageId> {
        let tree = self.tree;
        let messages = tree.full_names.messages.get_or_init(|| {
            let messages = tree.files().flat_map(view::File::all_messages);
            index(messages.map(|message| (message.full_name(), message.id)))
        });
        messages.get(full_name).copied()
    }

    fn used(&mut self, _: FileId) {}
}

/// The JSON names and the names of the fields of messages that have many.
#[derive(Default)]
pub(crate) struct JsonNames<'t>(FxHashMap<MessageId, FxHashMap<Cow<'t, str>, FieldId>>);

impl<'t> JsonNames<'t> {
    /// The field that a key means; a JSON name counts before a name.
    pub(crate) fn field(&mut self, message: view::Message<'t>, key: &str) -> Option<FieldId> {
        if message.fields().len() <= SHORT {
            let named = || message.fields().find(|field| field.name() == key);
            let found = message.fields().find(|field| field.has_json_name(key)).or_else(named);
            return found.map(|field| field.id);
        }
        let fields = self.0.entry(message.id).or_insert_with(|| {
            let json = message.fields().map(|field| (Cow::Owned(field.json_name()), field.id));
            let names = message.fields().map(|field| (Cow::Borrowed(field.name()), field.id));
            index(json.chain(names))
        });
        fields.get(key).copied()
    }
}
