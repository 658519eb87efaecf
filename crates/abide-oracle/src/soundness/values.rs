//! Random values of a message type.

use abide_change::find_map_entries;
use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Cardinality, Field, File, MessageId, Openness, Presence, Scalar, Tree, Type};
use fastrand::Rng;

const DEPTH: u32 = 3;

/// A random value with all required fields; `None` if required fields nest without
/// an end.
pub(crate) fn generate_message(
    rng: &mut Rng,
    tree: &Tree,
    ty: MessageId,
    depth: u32,
) -> Option<Message> {
    let mut message = Message::new(ty);
    let mut taken = Vec::new();
    let extensions = tree.files().flat_map(File::all_fields).filter(|it| it.is_extension());
    let extensions = extensions.filter(|it| it.extendee().is_some_and(|it| it.id == ty));
    for field in tree.message(ty).fields().chain(extensions) {
        let required = field.presence() == Presence::LegacyRequired;
        let held = find_map_entries(field).map_or(field, |[_, value]| value);
        let deep = depth >= DEPTH && matches!(held.ty(), Type::Message(_));
        if !required && (deep || rng.u8(..10) < 4) {
            continue;
        }
        if required && depth > 3 * DEPTH {
            return None;
        }
        if let Some(oneof) = field.oneof() {
            if taken.contains(&oneof) {
                continue;
            }
            taken.push(oneof);
        }
        let count = match field.cardinality() {
            Cardinality::Singular => 1,
            Cardinality::Repeated | Cardinality::Map => rng.usize(..4),
        };
        let mut keys = Vec::new();
        for _ in 0..count {
            let Some(value) = generate_value(rng, tree, field, depth) else {
                if required {
                    return None;
                } else {
                    break;
                };
            };
            if let (true, Value::Message(entry)) = (field.is_map(), &value) {
                // A key occurs only once in a map.
                let key = entry.entries.first().map(|entry| entry.value.clone());
                if keys.contains(&key) {
                    continue;
                }
                keys.push(key);
            }
            message.entries.push(Entry::new(field.id, value));
        }
    }
    Some(message)
}

fn generate_value(rng: &mut Rng, tree: &Tree, field: Field<'_>, depth: u32) -> Option<Value> {
    Some(match field.ty() {
        Type::Scalar(scalar) => self::generate_scalar(rng, scalar),
        Type::Enum(id) => {
            let item = tree.enumeration(id);
            let known: Vec<i32> = item.values().map(|value| value.number()).collect();
            match item.features().openness {
                Openness::Open if rng.u8(..8) == 0 => Value::Enum(rng.i32(-3..15)),
                Openness::Open | Openness::Closed => Value::Enum(known[rng.usize(..known.len())]),
            }
        }
        Type::Message(id) if field.is_map() => {
            let mut entry = Message::new(id);
            for part in tree.message(id).fields() {
                let value = generate_value(rng, tree, part, depth + 1)?;
                entry.entries.push(Entry::new(part.id, value));
            }
            Value::Message(Box::new(entry))
        }
        Type::Message(id) => Value::Message(Box::new(generate_message(rng, tree, id, depth + 1)?)),
        Type::Unresolved => return None,
    })
}

fn generate_scalar(rng: &mut Rng, scalar: Scalar) -> Value {
    let edge = rng.u8(..4) == 0;
    match scalar {
        Scalar::Bool => Value::Bool(rng.bool()),
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(match edge {
            true => [0, -1, i32::MIN, i32::MAX][rng.usize(..4)],
            false => rng.i32(-200..200),
        }),
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(match edge {
            true => [0, -1, i64::MIN, i64::MAX, 1 << 31, 1 << 32][rng.usize(..6)],
            false => rng.i64(-200..200),
        }),
        Scalar::Uint32 | Scalar::Fixed32 => Value::U32(match edge {
            true => [0, 1, 1 << 31, u32::MAX][rng.usize(..4)],
            false => rng.u32(..200),
        }),
        Scalar::Uint64 | Scalar::Fixed64 => Value::U64(match edge {
            true => [0, 1 << 31, 1 << 32, 1 << 63, u64::MAX][rng.usize(..5)],
            false => rng.u64(..200),
        }),
        Scalar::Float => Value::F32(match edge {
            true => [0.0, f32::INFINITY, -1.5, 3.25e20][rng.usize(..4)],
            false => rng.i32(-100..100) as f32 / 4.0,
        }),
        Scalar::Double => Value::F64(match edge {
            true => [0.0, f64::NEG_INFINITY, 0.1, 1e300][rng.usize(..4)],
            false => f64::from(rng.i32(-100..100)) / 4.0,
        }),
        Scalar::String => Value::String(match edge {
            true => ["", "1", "true", "YQ==", "\u{1f600}"][rng.usize(..5)].into(),
            false => std::iter::repeat_with(|| rng.lowercase()).take(4).collect(),
        }),
        Scalar::Bytes => {
            let length = rng.usize(..5);
            Value::Bytes(std::iter::repeat_with(|| rng.u8(..)).take(length).collect())
        }
    }
}
