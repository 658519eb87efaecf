//! Dynamic values of messages. No tree is needed to hold one.

use std::borrow::Cow;

use abide_syntax::Span;

use crate::ids::{FieldId, MessageId};

/// Messages may nest this deep in every notation: the default limit of the
/// protobuf runtimes.
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
    /// Of a `google.protobuf.Any`, what it holds, where the text that it was
    /// read from spells it out: the value whose serialisation is among the
    /// entries, with the place of every key.
    pub content: Option<Box<Message>>,
}

/// One field of a [`Message`] with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The field or extension.
    pub field: FieldId,
    /// Its value, or one of its values.
    pub value: Value,
    /// The place of its key; empty if the value was not read from source.
    pub key: Span,
    /// The place of its value.
    pub span: Span,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is named after the type it holds")]
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
        Message { ty, entries: Vec::new(), unknown: Box::default(), content: None }
    }
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

    /// Returns true if this is the value of an unset field without presence. Negative
    /// zero is not.
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
    pub(crate) fn string(bytes: Cow<'_, [u8]>) -> Value {
        match std::str::from_utf8(&bytes) {
            Ok(text) => Value::String(text.into()),
            Err(_) => Value::Bytes(bytes.into()),
        }
    }
}
