//! The fields of a value by name or number.

use rustc_hash::FxHashSet;

use crate::dynamic::{Entry, Message, Value};
use crate::ids::FieldId;
use crate::tree::{Tree, view};

impl Message {
    /// The required field with the lowest number that this value, or one inside
    /// it, does not set.
    pub fn find_missing_required<'t>(&self, tree: &'t Tree) -> Option<view::Field<'t>> {
        let mut required = tree.message(self.ty).required_fields().peekable();
        let set: FxHashSet<FieldId> = match required.peek() {
            Some(_) => self.entries.iter().map(|entry| entry.field).collect(),
            None => FxHashSet::default(),
        };
        let missing = required.filter(|it| !set.contains(&it.id));
        let inside = || self.entries.iter().filter_map(|entry| entry.value.as_message());
        missing
            .min_by_key(|it| it.number())
            .or_else(|| inside().find_map(|it| it.find_missing_required(tree)))
    }

    /// The last entry of the field with this name. Extensions do not count.
    pub fn get(&self, tree: &Tree, name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| is_field(tree, entry, name))
    }

    /// Every entry of the field with this name.
    pub fn get_all<'m>(
        &'m self,
        tree: &'m Tree,
        name: &'m str,
    ) -> impl DoubleEndedIterator<Item = &'m Entry> {
        self.entries.iter().filter(move |entry| is_field(tree, entry, name))
    }

    /// The last entry of the field or extension with this number.
    pub fn find_by_number(&self, tree: &Tree, number: i32) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| tree.field(entry.field).number() == number)
    }

    /// Every entry of a field or extension.
    pub fn entries_of(&self, field: FieldId) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.field == field)
    }

    /// The last entry of the extension with this full name.
    pub fn find_extension(&self, tree: &Tree, full_name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| is_extension(tree, entry, full_name))
    }

    /// Every entry of the extension with this full name.
    pub fn find_extensions<'m>(
        &'m self,
        tree: &'m Tree,
        full_name: &'m str,
    ) -> impl DoubleEndedIterator<Item = &'m Entry> {
        self.entries.iter().filter(move |entry| is_extension(tree, entry, full_name))
    }

    /// The value of a string field.
    pub fn get_str(&self, tree: &Tree, name: &str) -> Option<&str> {
        self.get(tree, name)?.value.as_str()
    }

    /// The value of a bool field.
    pub fn get_bool(&self, tree: &Tree, name: &str) -> Option<bool> {
        self.get(tree, name)?.value.as_bool()
    }

    /// The value of an integer or enum field; `None` for a `uint64` that does
    /// not fit into an `i64`.
    pub fn get_i64(&self, tree: &Tree, name: &str) -> Option<i64> {
        self.get(tree, name)?.value.as_i64()
    }

    /// The value of a message field: its last occurrence. Interpreted options
    /// have only one.
    pub fn get_message(&self, tree: &Tree, name: &str) -> Option<&Message> {
        self.get(tree, name)?.value.as_message()
    }

    /// The name of the value of an enum field; `None` where the enum does not
    /// declare the number.
    pub fn get_enum_name<'t>(&self, tree: &'t Tree, name: &str) -> Option<&'t str> {
        let entry = self.get(tree, name)?;
        let Value::Enum(number) = entry.value else { return None };
        let values = tree.field(entry.field).enum_type()?;
        values.values().find(|value| value.number() == number).map(view::EnumValue::name)
    }
}

fn is_field(tree: &Tree, entry: &Entry, name: &str) -> bool {
    let field = tree.field(entry.field);
    !field.is_extension() && field.is_named(name)
}

fn is_extension(tree: &Tree, entry: &Entry, full_name: &str) -> bool {
    let field = tree.field(entry.field);
    // Full names are joined only for extensions that could have this one.
    let simple = field.file().decl().strings.bytes(field.decl().name);
    field.is_extension() && full_name.as_bytes().ends_with(simple) && field.full_name() == full_name
}
