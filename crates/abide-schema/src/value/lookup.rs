//! Fields and enum values by name or number.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{EnumId, FieldId, MessageId};
use crate::view;

/// Finds fields and enum values by name or number without walking long lists
/// again and again.
#[derive(Debug, Default)]
pub(crate) struct Lookup<'t> {
    fields: FxHashMap<MessageId, FxHashMap<&'t str, u32>>,
    numbers: FxHashMap<MessageId, FxHashMap<i32, u32>>,
    values: FxHashMap<EnumId, FxHashMap<&'t str, i32>>,
    value_names: FxHashMap<EnumId, FxHashMap<i32, &'t str>>,
    reserved: FxHashMap<MessageId, FxHashSet<&'t str>>,
}

/// Lists up to this length are walked.
pub(crate) const SHORT: usize = 48;

impl<'t> Lookup<'t> {
    pub(crate) fn field_named(
        &mut self,
        message: view::Message<'t>,
        name: &str,
    ) -> Option<view::Field<'t>> {
        let fields = message.decl().fields;
        if fields.range().len() <= SHORT {
            return message.field_named(name);
        }
        let index = self
            .fields
            .entry(message.id)
            .or_insert_with(|| index(message.fields().map(|field| (field.name(), field.id.index))));
        let index = *index.get(name)?;
        Some(message.tree.field(FieldId { file: message.id.file, index }))
    }

    pub(crate) fn field_numbered(
        &mut self,
        message: view::Message<'t>,
        number: i32,
    ) -> Option<view::Field<'t>> {
        let fields = message.decl().fields;
        let file = message.id.file;
        // Most messages number their fields in order.
        let guess = fields.start.wrapping_add(number as u32).wrapping_sub(1);
        if fields.range().contains(&(guess as usize)) {
            let field = message.tree.field(FieldId { file, index: guess });
            if field.number() == number {
                return Some(field);
            }
        }
        let own = if fields.range().len() <= SHORT {
            message.field_numbered(number).map(|field| field.id)
        } else {
            let index = self.numbers.entry(message.id).or_insert_with(|| {
                index(message.fields().map(|field| (field.number(), field.id.index)))
            });
            index.get(&number).map(|&index| FieldId { file, index })
        };
        let id = own.or_else(|| message.tree.known.extension_numbered(message.id, number))?;
        Some(message.tree.field(id))
    }

    pub(crate) fn value_named(&mut self, item: view::Enum<'t>, name: &str) -> Option<i32> {
        if item.values().len() <= SHORT {
            return item.values().find(|value| value.name() == name).map(|value| value.number());
        }
        let values = self
            .values
            .entry(item.id)
            .or_insert_with(|| index(item.values().map(|value| (value.name(), value.number()))));
        values.get(name).copied()
    }

    pub(crate) fn has_number(&mut self, item: view::Enum<'t>, number: i32) -> bool {
        self.value_numbered(item, number).is_some()
    }

    /// The name of the first enum value with a number.
    pub(crate) fn value_numbered(&mut self, item: view::Enum<'t>, number: i32) -> Option<&'t str> {
        if item.values().len() <= SHORT {
            return item.values().find(|value| value.number() == number).map(|value| value.name());
        }
        let names = self
            .value_names
            .entry(item.id)
            .or_insert_with(|| index(item.values().map(|value| (value.number(), value.name()))));
        names.get(&number).copied()
    }

    pub(crate) fn reserves(&mut self, message: view::Message<'t>, name: &str) -> bool {
        let decl = message.file().decl();
        let names = || message.reserved_names().iter().map(|reserved| decl.str(reserved.name));
        if message.reserved_names().len() <= SHORT {
            return names().any(|reserved| reserved == name);
        }
        self.reserved.entry(message.id).or_insert_with(|| names().collect()).contains(name)
    }
}

/// Of pairs with one key the first counts, as in a walk from the front.
pub(crate) fn index<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut index = FxHashMap::default();
    for (key, value) in pairs {
        index.entry(key).or_insert(value);
    }
    index
}
