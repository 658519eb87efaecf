//! Values of any message of a tree.

use std::borrow::Cow;
use std::hash::Hash;

use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decl::Scalar;
use crate::descriptor::number::options;
use crate::features::Openness;
use crate::ids::{EnumId, FieldId, MessageId};
use crate::tree::{self, Presence, Tree, Type};
use crate::wire::last_varint;

pub(crate) mod aggregate;
pub(crate) mod json;
mod names;
pub(crate) mod text;
mod wire;

pub use json::{EncodeError, Undeclared};
pub(crate) use names::ByFullName;
pub use wire::DecodeError;

/// Messages may nest this deep in every notation, as in the runtimes of
/// protobuf by default.
pub const MAX_NESTING: u32 = 100;

/// A value of a message type of the tree, its fields in the order they were
/// written. A repeated field has one entry for each element, a map one for
/// each pair (a value of its entry type).
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its type.
    pub ty: MessageId,
    /// Its fields.
    pub entries: Vec<Entry>,
    /// Serialised fields that the tree does not declare.
    pub unknown: Box<[u8]>,
}

/// One field of a [`Message`] with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The field or extension.
    pub field: FieldId,
    /// Its value, or one of its values.
    pub value: Value,
    /// Where its key stands; empty where the value was not read from source.
    pub key: Span,
    /// Where its value stands.
    pub span: Span,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is named as the type it holds")]
pub enum Value {
    Bool(bool),
    I32(i32),
    I64(i64),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    String(Box<str>),
    /// A `bytes` field, or a `string` field whose bytes are not UTF-8, where
    /// the feature `utf8_validation` allows that.
    Bytes(Box<[u8]>),
    Enum(i32),
    Message(Box<Message>),
}

impl Entry {
    /// An entry that was not read from source.
    pub fn new(field: FieldId, value: Value) -> Entry {
        Entry { field, value, key: Span::default(), span: Span::default() }
    }
}

impl Message {
    /// The empty value of a type.
    pub fn new(ty: MessageId) -> Message {
        Message { ty, entries: Vec::new(), unknown: Box::default() }
    }

    /// The same value as a reader of the wire would hold it: one entry for each
    /// singular field, occurrences of a message merged.
    #[must_use]
    pub fn normalized(&self, tree: &Tree) -> Message {
        normalize(tree, &[self])
    }

    /// The first required field, by number, that this value or one inside it
    /// does not set.
    pub fn missing_required<'t>(&self, tree: &'t Tree) -> Option<tree::Field<'t>> {
        let mut missing: Vec<tree::Field<'t>> = tree
            .message(self.ty)
            .fields()
            .filter(|field| field.presence() == Presence::LegacyRequired)
            .filter(|field| self.of(field.id).next().is_none())
            .collect();
        missing.sort_by_key(|field| field.number());
        let inside = || self.entries.iter().filter_map(|entry| entry.value.as_message());
        missing.first().copied().or_else(|| inside().find_map(|it| it.missing_required(tree)))
    }

    /// The last entry of the field with this name; extensions are not among
    /// them.
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
    pub fn numbered(&self, tree: &Tree, number: i32) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| tree.field(entry.field).number() == number)
    }

    /// Every entry of a field or extension.
    pub fn of(&self, field: FieldId) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.field == field)
    }

    /// The last entry of the extension with this full name.
    pub fn extension(&self, tree: &Tree, full_name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| is_extension(tree, entry, full_name))
    }

    /// Every entry of the extension with this full name.
    pub fn extension_all<'m>(
        &'m self,
        tree: &'m Tree,
        full_name: &'m str,
    ) -> impl DoubleEndedIterator<Item = &'m Entry> {
        self.entries.iter().filter(move |entry| is_extension(tree, entry, full_name))
    }

    /// The value of a string field.
    pub fn str(&self, tree: &Tree, name: &str) -> Option<&str> {
        self.get(tree, name)?.value.as_str()
    }

    /// The value of a bool field.
    pub fn bool(&self, tree: &Tree, name: &str) -> Option<bool> {
        self.get(tree, name)?.value.as_bool()
    }

    /// The value of an integer or enum field; `None` for a `uint64` that does
    /// not fit.
    pub fn i64(&self, tree: &Tree, name: &str) -> Option<i64> {
        self.get(tree, name)?.value.as_i64()
    }

    /// The value of a message field; its last occurrence, which is all of it
    /// in interpreted options.
    pub fn message(&self, tree: &Tree, name: &str) -> Option<&Message> {
        self.get(tree, name)?.value.as_message()
    }

    /// The name of the value of an enum field; `None` where the enum does not
    /// declare the number.
    pub fn enum_name<'t>(&self, tree: &'t Tree, name: &str) -> Option<&'t str> {
        let entry = self.get(tree, name)?;
        let Value::Enum(number) = entry.value else { return None };
        let values = tree.field(entry.field).enum_type()?;
        values.values().find(|value| value.number() == number).map(tree::EnumValue::name)
    }
}

/// What a reader sees where a singular field is absent: its default, else the
/// zero of its type. `None` for messages and for types that did not resolve.
pub fn default_of(field: tree::Field<'_>) -> Option<Value> {
    let tree = field.tree;
    let Some(written) = field.decl().default() else {
        return Value::zero(tree, field.ty()).filter(|value| value.as_message().is_none());
    };
    // The notation of `FieldDescriptorProto.default_value`.
    let text = std::str::from_utf8(written).ok();
    let number = |text: &str| text.parse::<f64>().ok();
    Some(match field.ty() {
        Type::Scalar(scalar) => match scalar {
            Scalar::Double => Value::F64(number(text?)?),
            Scalar::Float => Value::F32(number(text?)? as f32),
            Scalar::Int64 | Scalar::Sfixed64 | Scalar::Sint64 => Value::I64(text?.parse().ok()?),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(text?.parse().ok()?),
            Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sint32 => Value::I32(text?.parse().ok()?),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(text?.parse().ok()?),
            Scalar::Bool => Value::Bool(text? == "true"),
            Scalar::String => Value::string(Cow::Borrowed(written)),
            Scalar::Bytes => {
                let quoted = [b"\"", written, b"\""].concat();
                let mut bytes = Vec::new();
                abide_syntax::unescape(&quoted, &mut bytes).ok()?;
                Value::Bytes(bytes.into())
            }
        },
        Type::Enum(id) => {
            let name = text?;
            Value::Enum(tree.enumeration(id).values().find(|it| it.name() == name)?.number())
        }
        Type::Message(_) | Type::Unresolved => return None,
    })
}

fn is_field(tree: &Tree, entry: &Entry, name: &str) -> bool {
    let field = tree.field(entry.field);
    !field.is_extension() && field.name() == name
}

fn is_extension(tree: &Tree, entry: &Entry, full_name: &str) -> bool {
    let field = tree.field(entry.field);
    let simple = full_name.rsplit('.').next().unwrap_or(full_name);
    field.is_extension() && field.name() == simple && field.full_name() == full_name
}

impl Value {
    /// The value of a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of an integer or the number of an enum value.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::I32(value) | Value::Enum(value) => Some(value.into()),
            Value::I64(value) => Some(value),
            Value::U32(value) => Some(value.into()),
            Value::U64(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// The value of any number.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(value) => Some(value.into()),
            Value::F64(value) => Some(value),
            Value::U64(value) => Some(value as f64),
            _ => self.as_i64().map(|value| value as f64),
        }
    }

    /// The value of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// The bytes of a string or of bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::String(value) => Some(value.as_bytes()),
            Value::Bytes(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a message.
    pub fn as_message(&self) -> Option<&Message> {
        match self {
            Value::Message(value) => Some(value),
            _ => None,
        }
    }

    /// What a field of this type without presence holds when it was not set.
    pub fn zero(tree: &Tree, ty: Type) -> Option<Value> {
        Some(match ty {
            Type::Scalar(scalar) => match scalar {
                Scalar::Double => Value::F64(0.0),
                Scalar::Float => Value::F32(0.0),
                Scalar::Int64 | Scalar::Sfixed64 | Scalar::Sint64 => Value::I64(0),
                Scalar::Uint64 | Scalar::Fixed64 => Value::U64(0),
                Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sint32 => Value::I32(0),
                Scalar::Uint32 | Scalar::Fixed32 => Value::U32(0),
                Scalar::Bool => Value::Bool(false),
                Scalar::String => Value::String("".into()),
                Scalar::Bytes => Value::Bytes([].into()),
            },
            Type::Enum(id) => Value::Enum(tree.enumeration(id).values().next()?.number()),
            Type::Message(id) => Value::Message(Box::new(Message::new(id))),
            Type::Unresolved => return None,
        })
    }

    /// Whether this is what a field without presence holds when it was not
    /// set. Negative zero is not.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Bool(value) => !value,
            Value::I32(value) | Value::Enum(value) => *value == 0,
            Value::I64(value) => *value == 0,
            Value::U32(value) => *value == 0,
            Value::U64(value) => *value == 0,
            Value::F32(value) => value.to_bits() == 0,
            Value::F64(value) => value.to_bits() == 0,
            Value::String(value) => value.is_empty(),
            Value::Bytes(value) => value.is_empty(),
            Value::Message(_) => false,
        }
    }

    /// The value of a string field, from bytes that may not be UTF-8.
    fn string(bytes: Cow<'_, [u8]>) -> Value {
        match std::str::from_utf8(&bytes) {
            Ok(text) => Value::String(text.into()),
            Err(_) => Value::Bytes(bytes.into()),
        }
    }
}

/// Whether a field that holds this value counts as set: fields with implicit
/// presence do not when they hold zero.
fn is_set(field: tree::Field<'_>, value: &Value) -> bool {
    field.presence() != Presence::Implicit || !value.is_zero()
}

/// Whether an enum value that its enum does not declare is kept as a value.
/// A field of a proto2 file treats every enum as closed: the feature
/// `(pb.cpp).legacy_closed_enum` of that edition.
pub(crate) fn keeps_unknown_values(field: tree::Field<'_>) -> bool {
    field.file().decl().edition != crate::Edition::Proto2
        && field.enum_type().is_some_and(|it| it.features().openness == Openness::Open)
}

/// Whether a message is a message set: `message_set_wire_format` is true.
fn is_message_set(message: tree::Message<'_>) -> bool {
    let decl = message.decl();
    // Extensions are all that a message set holds.
    if decl.extension_ranges.start == decl.extension_ranges.end || message.fields().len() > 0 {
        return false;
    }
    let file = message.file().decl();
    match (decl.options, file.ast()) {
        (crate::RawOptions::Syntax(slice), Some(ast)) => {
            let text = file.strings.text();
            file.option_ids[slice.range()].iter().any(|&id| {
                let option = &ast.options[id as usize];
                option.name.of(text) == b"message_set_wire_format"
                    && ast.values[option.value as usize].span.of(text) == b"true"
            })
        }
        (crate::RawOptions::Wire(span), _) => {
            let set = last_varint(file.strings.text(), span, options::MESSAGE_SET);
            set.is_ok_and(|value| value.is_some_and(|value| value != 0))
        }
        _ => false,
    }
}

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
const SHORT: usize = 48;

impl<'t> Lookup<'t> {
    pub(crate) fn field_named(
        &mut self,
        message: tree::Message<'t>,
        name: &str,
    ) -> Option<tree::Field<'t>> {
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

    fn field_numbered(
        &mut self,
        message: tree::Message<'t>,
        number: i32,
    ) -> Option<tree::Field<'t>> {
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

    pub(crate) fn value_named(&mut self, item: tree::Enum<'t>, name: &str) -> Option<i32> {
        if item.values().len() <= SHORT {
            return item.values().find(|value| value.name() == name).map(|value| value.number());
        }
        let values = self
            .values
            .entry(item.id)
            .or_insert_with(|| index(item.values().map(|value| (value.name(), value.number()))));
        values.get(name).copied()
    }

    pub(crate) fn has_number(&mut self, item: tree::Enum<'t>, number: i32) -> bool {
        self.value_numbered(item, number).is_some()
    }

    /// The name of the first enum value with a number.
    fn value_numbered(&mut self, item: tree::Enum<'t>, number: i32) -> Option<&'t str> {
        if item.values().len() <= SHORT {
            return item.values().find(|value| value.number() == number).map(|value| value.name());
        }
        let names = self
            .value_names
            .entry(item.id)
            .or_insert_with(|| index(item.values().map(|value| (value.number(), value.name()))));
        names.get(&number).copied()
    }

    pub(crate) fn reserves(&mut self, message: tree::Message<'t>, name: &str) -> bool {
        let decl = message.file().decl();
        let names = || message.reserved_names().iter().map(|reserved| decl.str(reserved.name));
        if message.reserved_names().len() <= SHORT {
            return names().any(|reserved| reserved == name);
        }
        self.reserved.entry(message.id).or_insert_with(|| names().collect()).contains(name)
    }
}

/// Of pairs with one key the first counts, as in a walk from the front.
fn index<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut index = FxHashMap::default();
    for (key, value) in pairs {
        index.entry(key).or_insert(value);
    }
    index
}

/// The entries of occurrences of one message, merged: those that count, by
/// number. A repeated field keeps all of its entries; a singular message as
/// well, for they are merged in turn; of other singular fields the last counts.
/// Of a oneof only the member set last counts. Source: "Last One Wins" and
/// "Embedded Messages" of the protobuf encoding specification.
fn merged<'m>(tree: &Tree, parts: &[&'m Message]) -> Vec<(i32, &'m Entry)> {
    let mut rows: Vec<(i32, &Entry)> = parts
        .iter()
        .flat_map(|part| &part.entries)
        .map(|entry| (tree.field(entry.field).number(), entry))
        .collect();
    let oneof = |entry: &Entry| {
        let index = tree.field(entry.field).decl().oneof?;
        Some((entry.field.file, index))
    };
    if rows.len() > 1 && rows.iter().any(|(_, entry)| oneof(entry).is_some()) {
        // From the back: the first member met wins, until another is met.
        let mut winners: FxHashMap<_, Option<FieldId>> = FxHashMap::default();
        rows.reverse();
        rows.retain(|(_, entry)| match oneof(entry) {
            None => true,
            Some(oneof) => {
                let winner = winners.entry(oneof).or_insert(Some(entry.field));
                if *winner != Some(entry.field) {
                    *winner = None;
                }
                winner.is_some()
            }
        });
        rows.reverse();
    }
    rows.sort_by_key(|(number, _)| *number);
    rows
}

fn normalize(tree: &Tree, parts: &[&Message]) -> Message {
    let mut message = Message::new(parts[0].ty);
    for rows in merged(tree, parts).chunk_by(|a, b| a.0 == b.0) {
        let singular = tree.field(rows[0].1.field).cardinality() == tree::Cardinality::Singular;
        let counts = if singular { &rows[rows.len() - 1..] } else { rows };
        for (_, entry) in counts {
            let value = match &entry.value {
                Value::Message(_) if singular => {
                    Value::Message(Box::new(normalize(tree, &messages(rows))))
                }
                Value::Message(inner) => Value::Message(Box::new(normalize(tree, &[inner]))),
                value => value.clone(),
            };
            message.entries.push(Entry { value, ..**entry });
        }
    }
    message.unknown = parts.iter().flat_map(|part| part.unknown.iter().copied()).collect();
    message
}

/// The messages among the values of one field.
fn messages<'m>(rows: &[(i32, &'m Entry)]) -> Vec<&'m Message> {
    rows.iter().filter_map(|(_, entry)| entry.value.as_message()).collect()
}
