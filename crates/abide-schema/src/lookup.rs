//! Elements by name or number, without walking long lists again and again.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::ids::{EnumValueId, FieldId};
use crate::tables::{FieldTable, LongLists, ValueTable};
use crate::tree::Tree;
use crate::view::{Enum, EnumValue, Field, File, Message};

/// Lists up to this length are searched linearly.
const SHORT: usize = 48;

impl Tree {
    /// The message with this full name, without a leading dot.
    pub fn message_named(&self, full_name: &str) -> Option<Message<'_>> {
        let messages = self.full_names.messages.get_or_init(|| {
            let messages = self.files().flat_map(File::all_messages);
            index(messages.map(|message| (message.full_name(), message.id)))
        });
        messages.get(full_name).map(|&id| self.message(id))
    }

    /// The enum with this full name, without a leading dot.
    pub fn enum_named(&self, full_name: &str) -> Option<Enum<'_>> {
        let enums = self.full_names.enums.get_or_init(|| {
            let enums = self.files().flat_map(File::all_enums);
            index(enums.map(|item| (item.full_name(), item.id)))
        });
        enums.get(full_name).map(|&id| self.enumeration(id))
    }

    /// The extensions with this full name, without a leading dot: at most one
    /// of each root.
    pub fn extensions_named(&self, full_name: &str) -> impl Iterator<Item = Field<'_>> {
        let extensions = self.full_names.extensions.get_or_init(|| {
            let mut index: FxHashMap<String, Vec<FieldId>> = FxHashMap::default();
            for field in self.files().flat_map(File::all_fields) {
                if field.is_extension() {
                    index.entry(field.full_name()).or_default().push(field.id);
                }
            }
            index
        });
        extensions.get(full_name).into_iter().flatten().map(|&id| self.field(id))
    }
}

impl<'t> Message<'t> {
    /// The field with this name.
    pub fn field_named(self, name: &str) -> Option<Field<'t>> {
        match self.table() {
            None => self.fields().find(|field| field.name() == name),
            Some(table) => self.numbered_in_file(table.names.get(name)),
        }
    }

    /// The field with this number.
    pub fn field_numbered(self, number: i32) -> Option<Field<'t>> {
        let fields = self.decl().fields;
        // Most messages number their fields in order.
        let guess = fields.start.wrapping_add(number as u32).wrapping_sub(1);
        if fields.range().contains(&(guess as usize)) {
            let field = self.tree.field(FieldId { file: self.id.file, index: guess });
            if field.number() == number {
                return Some(field);
            }
        }
        match self.table() {
            None => self.fields().find(|field| field.number() == number),
            Some(table) => self.numbered_in_file(table.numbers.get(&number)),
        }
    }

    /// The field or the extension with this number.
    pub(crate) fn any_field_numbered(self, number: i32) -> Option<Field<'t>> {
        self.field_numbered(number).or_else(|| {
            let id = self.tree.known.extension_numbered(self.id, number)?;
            Some(self.tree.field(id))
        })
    }

    /// The field that a key of JSON means; a JSON name counts before a name.
    pub fn field_in_json(self, key: &str) -> Option<Field<'t>> {
        match self.table() {
            None => {
                let named = || self.fields().find(|field| field.name() == key);
                self.fields().find(|field| field.has_json_name(key)).or_else(named)
            }
            Some(table) => self.numbered_in_file(table.json_names.get(key)),
        }
    }

    /// Whether one of its reserved names is this one.
    pub fn reserves_name(self, name: &str) -> bool {
        match self.table() {
            None => {
                let decl = self.file().decl();
                self.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
            }
            Some(table) => table.reserved_names.contains(name),
        }
    }

    fn table(self) -> Option<&'t FieldTable> {
        let is_long = self.fields().len() > SHORT || self.reserved_names().len() > SHORT;
        if is_long { self.file().long_lists().messages.get(&self.id.index) } else { None }
    }

    fn numbered_in_file(self, index: Option<&u32>) -> Option<Field<'t>> {
        index.map(|&index| self.tree.field(FieldId { file: self.id.file, index }))
    }
}

impl<'t> Enum<'t> {
    /// The value with this name.
    pub fn value_named(self, name: &str) -> Option<EnumValue<'t>> {
        match self.table() {
            None => self.values().find(|value| value.name() == name),
            Some(table) => self.numbered_in_file(table.names.get(name)),
        }
    }

    /// The first value with this number.
    pub fn value_numbered(self, number: i32) -> Option<EnumValue<'t>> {
        match self.table() {
            None => self.values().find(|value| value.number() == number),
            Some(table) => self.numbered_in_file(table.numbers.get(&number)),
        }
    }

    fn table(self) -> Option<&'t ValueTable> {
        let is_long = self.values().len() > SHORT;
        if is_long { self.file().long_lists().enums.get(&self.id.index) } else { None }
    }

    fn numbered_in_file(self, index: Option<&u32>) -> Option<EnumValue<'t>> {
        let tree = self.tree;
        index.map(|&index| EnumValue { tree, id: EnumValueId { file: self.id.file, index } })
    }
}

impl<'t> File<'t> {
    fn long_lists(self) -> &'t LongLists {
        self.tree.linked(self.id).long_lists.get_or_init(|| {
            let messages = self.all_messages().filter(|message| {
                message.fields().len() > SHORT || message.reserved_names().len() > SHORT
            });
            let enums = self.all_enums().filter(|item| item.values().len() > SHORT);
            Box::new(LongLists {
                messages: messages.map(|it| (it.id.index, field_table(it))).collect(),
                enums: enums.map(|it| (it.id.index, value_table(it))).collect(),
            })
        })
    }
}

fn field_table(message: Message<'_>) -> FieldTable {
    let decl = message.file().decl();
    let names = || message.fields().map(|it| (it.name().into(), it.id.index));
    let json = message.fields().map(|it| (it.json_name().into(), it.id.index));
    FieldTable {
        names: index(names()),
        numbers: index(message.fields().map(|it| (it.number(), it.id.index))),
        json_names: index(json.chain(names())),
        reserved_names: message
            .reserved_names()
            .iter()
            .map(|it| decl.str(it.name).into())
            .collect(),
    }
}

fn value_table(item: Enum<'_>) -> ValueTable {
    ValueTable {
        names: index(item.values().map(|it| (it.name().into(), it.id.index))),
        numbers: index(item.values().map(|it| (it.number(), it.id.index))),
    }
}

/// Indexes pairs. The first pair with a key wins, as in a linear search.
fn index<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut index = FxHashMap::default();
    for (key, value) in pairs {
        index.entry(key).or_insert(value);
    }
    index
}
