//! The smallest values of fields and types, and what is put around a value.

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{self as schema, Field, MessageId, Scalar, Tree, Type};

/// The depth to which nested messages are filled.
pub(super) const DEPTH: u32 = 3;

/// The smallest value of a message type with all required fields; `None` if there
/// is no finite one.
pub(super) fn build_minimal(tree: &Tree, ty: MessageId, depth: u32) -> Option<Message> {
    let mut message = Message::new(ty);
    for field in tree.message(ty).required_fields() {
        message.entries.push(Entry::new(field.id, build_first(field, depth + 1)?));
    }
    Some(message)
}

/// The message with these values in a field instead of the previous ones.
pub(super) fn replace_values(
    mut message: Message,
    field: Field<'_>,
    values: impl IntoIterator<Item = Value>,
) -> Message {
    message.entries.retain(|entry| entry.field != field.id);
    message.entries.extend(values.into_iter().map(|value| Entry::new(field.id, value)));
    message
}

/// The smallest value of a field.
pub(super) fn build_first(field: Field<'_>, depth: u32) -> Option<Value> {
    match field.ty() {
        Type::Scalar(scalar) => list_scalar_values(scalar, true).into_iter().next(),
        Type::Enum(id) => {
            let values = field.tree.enumeration(id).values().map(|value| value.number());
            values
                .min_by_key(|number| (*number == 0, number.unsigned_abs(), *number))
                .map(Value::Enum)
        }
        Type::Message(_) if depth > DEPTH => None,
        Type::Message(id) if field.is_map() => {
            let entry = field.tree.message(id);
            let value = build_first(entry.field_numbered(2)?, depth + 1)?;
            self::build_entry(entry, value)
        }
        Type::Message(id) => {
            build_minimal(field.tree, id, depth).map(|message| Value::Message(Box::new(message)))
        }
        Type::Unresolved => None,
    }
}

/// An entry of a map that holds this value.
pub(super) fn build_entry(entry: schema::Message<'_>, value: Value) -> Option<Value> {
    let (key_field, value_field) = (entry.field_numbered(1)?, entry.field_numbered(2)?);
    Some(build_pair(entry, build_first(key_field, 0)?, value_field, value))
}

pub(super) fn build_pair(
    entry: schema::Message<'_>,
    key: Value,
    value_field: Field<'_>,
    value: Value,
) -> Value {
    let mut message = Message::new(entry.id);
    message.entries.extend(entry.field_numbered(1).map(|field| Entry::new(field.id, key)));
    message.entries.push(Entry::new(value_field.id, value));
    Value::Message(Box::new(message))
}

pub(super) fn list_scalar_values(scalar: Scalar, utf8: bool) -> Vec<Value> {
    match scalar {
        Scalar::Bool => [true, false].map(Value::Bool).into(),
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
            [1, 2, -1, i32::MAX, i32::MIN].map(Value::I32).into()
        }
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => {
            [1, 2, -1, 1 << 31, 1 << 32, -(1 << 32), (1 << 53) + 1, i64::MAX, i64::MIN]
                .map(Value::I64)
                .into()
        }
        Scalar::Uint32 | Scalar::Fixed32 => [1, 2, 1 << 31, u32::MAX].map(Value::U32).into(),
        Scalar::Uint64 | Scalar::Fixed64 => {
            [1, 2, 1 << 31, 1 << 32, (1 << 53) + 1, 1 << 63, u64::MAX].map(Value::U64).into()
        }
        Scalar::Float => [1.0, 1.5, -1.0, f32::MAX, f32::INFINITY].map(Value::F32).into(),
        Scalar::Double => [1.0, 1.5, -1.0, 0.1, 1e300, f64::INFINITY].map(Value::F64).into(),
        Scalar::String => {
            let mut values: Vec<Value> =
                ["a", "1", "true", "\u{e9}"].map(|text| Value::String(text.into())).into();
            if !utf8 {
                values.push(Value::Bytes([0xff].into()));
            }
            values
        }
        Scalar::Bytes => [&b"a"[..], b"1", &[0xff]].map(|bytes| Value::Bytes(bytes.into())).into(),
    }
}
