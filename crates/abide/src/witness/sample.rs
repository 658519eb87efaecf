//! Which values are tried, smallest first.

use abide_schema::value::{Entry, Message, Value, default_of};
use abide_schema::{Cardinality, EnumId, Field, MessageId, Openness, Presence, Scalar, Tree, Type};

use super::entry_fields;

/// Messages inside of messages are filled this deep.
const DEPTH: u32 = 3;

/// The smallest value of a message type that has all that is required; `None`
/// where none is finite.
pub(super) fn minimal(tree: &Tree, ty: MessageId, depth: u32) -> Option<Message> {
    let mut message = Message::new(ty);
    for field in tree.message(ty).fields() {
        if field.presence() == Presence::LegacyRequired {
            let value = of_type(tree, field, depth + 1).into_iter().next()?;
            message.entries.push(Entry::new(field.id, value));
        }
    }
    Some(message)
}

/// The lists of values that are tried in a field. Where the reader's enum or
/// message differs, what it lacks is tried too.
pub(super) fn occurrences(field: Field<'_>, reader: Option<Field<'_>>) -> Vec<Vec<Value>> {
    let tree = field.tree;
    if field.cardinality() == Cardinality::Map {
        return entries(field);
    }
    let mut values = of_type(tree, field, 0);
    let defaults = reader.into_iter().chain([field]).filter_map(default_of);
    for default in defaults {
        if same_kind(&default, values.first()) && !values.contains(&default) {
            values.push(default);
        }
    }
    let mut lists: Vec<Vec<Value>> = values.iter().map(|value| vec![value.clone()]).collect();
    if field.cardinality() == Cardinality::Repeated
        && let [first, rest @ ..] = values.as_slice()
    {
        let second = rest.first().unwrap_or(first);
        lists.push(vec![first.clone(), second.clone()]);
        // What a map would take for one pair twice.
        if let Value::Message(_) = first {
            let other = rest.iter().find(|it| *it != first).unwrap_or(first);
            lists.push(vec![other.clone(), first.clone(), other.clone()]);
        }
    }
    lists
}

fn same_kind(a: &Value, b: Option<&Value>) -> bool {
    b.is_some_and(|b| std::mem::discriminant(a) == std::mem::discriminant(b))
}

/// Maps of one pair, and of two.
fn entries(field: Field<'_>) -> Vec<Vec<Value>> {
    let tree = field.tree;
    let Some(entry) = field.message_type() else { return Vec::new() };
    let Some((key, value)) = entry_fields(entry) else { return Vec::new() };
    let pair = |first: &Value, second: &Value| {
        let mut message = Message::new(entry.id);
        message.entries.push(Entry::new(key.id, first.clone()));
        message.entries.push(Entry::new(value.id, second.clone()));
        Value::Message(Box::new(message))
    };
    let (keys, values) = (of_type(tree, key, 1), of_type(tree, value, 1));
    let (Some(first_key), Some(first_value)) = (keys.first(), values.first()) else {
        return Vec::new();
    };
    let by_key = keys.iter().map(|key| vec![pair(key, first_value)]);
    let by_value = values.iter().skip(1).map(|value| vec![pair(first_key, value)]);
    let two =
        keys.get(1).map(|second| vec![pair(first_key, first_value), pair(second, first_value)]);
    by_key.chain(by_value).chain(two).collect()
}

/// Values of the type of a field.
fn of_type(tree: &Tree, field: Field<'_>, depth: u32) -> Vec<Value> {
    match field.ty() {
        Type::Scalar(scalar) => of_scalar(scalar, field.features().utf8_validated),
        Type::Enum(id) => of_enum(tree, id),
        Type::Message(id) => of_message(tree, id, depth),
        Type::Unresolved => Vec::new(),
    }
}

fn of_scalar(scalar: Scalar, utf8: bool) -> Vec<Value> {
    match scalar {
        Scalar::Bool => vec![Value::Bool(true)],
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

/// Every declared number, and one that is not, where the enum keeps it.
fn of_enum(tree: &Tree, id: EnumId) -> Vec<Value> {
    let item = tree.enumeration(id);
    let mut numbers: Vec<i32> = item.values().map(|value| value.number()).collect();
    numbers.sort_by_key(|number| (number.unsigned_abs(), *number));
    numbers.dedup();
    if item.features().openness == Openness::Open {
        let free = (1..).find(|number| !numbers.contains(number));
        numbers.extend(free);
    }
    numbers.into_iter().map(Value::Enum).collect()
}

/// The smallest value, and one for each field.
fn of_message(tree: &Tree, id: MessageId, depth: u32) -> Vec<Value> {
    if depth >= DEPTH {
        // Deep enough: an empty message, if it may be empty.
        let none_required =
            tree.message(id).fields().all(|it| it.presence() != Presence::LegacyRequired);
        return none_required
            .then(|| Value::Message(Box::new(Message::new(id))))
            .into_iter()
            .collect();
    }
    let Some(smallest) = minimal(tree, id, depth) else { return Vec::new() };
    let mut values = vec![Value::Message(Box::new(smallest.clone()))];
    for field in tree.message(id).fields() {
        let inner = if field.cardinality() == Cardinality::Map {
            entries(field).into_iter().next()
        } else {
            of_type(tree, field, depth + 2).into_iter().next().map(|value| vec![value])
        };
        let mut message = smallest.clone();
        message.entries.retain(|entry| entry.field != field.id);
        message.entries.extend(inner.into_iter().flatten().map(|it| Entry::new(field.id, it)));
        let value = Value::Message(Box::new(message));
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
