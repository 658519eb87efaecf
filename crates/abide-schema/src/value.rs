//! Values of any message of a tree.

use abide_syntax::Span;

use crate::ids::{FieldId, MessageId};

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
    pub unknown: Vec<u8>,
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
    Bytes(Box<[u8]>),
    Enum(i32),
    Message(Box<Message>),
}
