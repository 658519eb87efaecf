//! Values without their types: what a constraint is about.

use abide_schema::value::{self, Codec, Value};
use abide_schema::{Field, Openness, Scalar, Tree, Type};

use crate::annotations::read_nanos;
use crate::sets::{NumberKind, NumberSet, SECOND};

/// The kind as which a rule sees the values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatumKind {
    /// A number, a bool, an enum value, a duration or a timestamp.
    Number(NumberKind),
    /// A string.
    Text,
    /// Bytes.
    Bytes,
    /// A `google.protobuf.Any`: its type URL.
    Any,
    /// A message with rules of its own.
    Message,
    /// An unresolved name.
    Unresolved,
}

/// The type of one value: of a singular field, an item, a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// The kind of value that rules see.
    pub shape: DatumKind,
    /// The type of the field.
    pub ty: Type,
    /// True if it is a message of wrappers.proto; the shape is that of its content.
    pub wrapper: bool,
}

/// A value without its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number, in the order of [`NumberKind`].
    Number(i128),
    /// The float NaN, which has no place in the order of numbers.
    Nan,
    /// A string, bytes or a type URL.
    Bytes(Vec<u8>),
    /// A message.
    Message(value::Message),
}

impl ValueType {
    /// The type of the values of a field.
    pub fn of(field: Field<'_>) -> ValueType {
        let ty = field.ty();
        let bare = |shape| ValueType { shape, ty, wrapper: false };
        let message = match ty {
            Type::Scalar(Scalar::String) => return bare(DatumKind::Text),
            Type::Scalar(Scalar::Bytes) => return bare(DatumKind::Bytes),
            Type::Scalar(scalar) => return bare(DatumKind::Number(NumberKind::Scalar(scalar))),
            Type::Enum(_) => return bare(DatumKind::Number(NumberKind::Enum)),
            Type::Unresolved => return bare(DatumKind::Unresolved),
            Type::Message(id) => field.tree.message(id),
        };
        let name = message.full_name();
        let Some(known) = name.strip_prefix("google.protobuf.") else {
            return bare(DatumKind::Message);
        };
        match known {
            "Any" => bare(DatumKind::Any),
            "Duration" => bare(DatumKind::Number(NumberKind::Duration)),
            "Timestamp" => bare(DatumKind::Number(NumberKind::Timestamp)),
            _ if known.ends_with("Value") && message.fields().len() == 1 => {
                match message.field_named("value") {
                    Some(inner) if !matches!(inner.ty(), Type::Message(_)) => {
                        let inner = ValueType::of(inner);
                        ValueType { shape: inner.shape, ty, wrapper: true }
                    }
                    _ => bare(DatumKind::Message),
                }
            }
            _ => bare(DatumKind::Message),
        }
    }

    /// A value as a rule sees it.
    pub fn datum(self, tree: &Tree, value: &Value) -> Datum {
        if let (true, Value::Message(message)) = (self.wrapper, value) {
            let inner = message.get(tree, "value").map(|entry| &entry.value);
            return inner.map_or_else(|| self.zero(), |value| self.bare(tree, value));
        }
        self.bare(tree, value)
    }

    fn bare(self, tree: &Tree, value: &Value) -> Datum {
        match (self.shape, value) {
            (DatumKind::Any, Value::Message(message)) => {
                Datum::Bytes(message.get_str(tree, "type_url").unwrap_or_default().into())
            }
            (
                DatumKind::Number(NumberKind::Duration | NumberKind::Timestamp),
                Value::Message(message),
            ) => Datum::Number(read_nanos(tree, message)),
            (DatumKind::Number(kind), Value::F64(_) | Value::F32(_)) => {
                let number = value.as_f64().and_then(|value| kind.float(value));
                number.map_or(Datum::Nan, Datum::Number)
            }
            (_, Value::U64(value)) => Datum::Number((*value).into()),
            (_, Value::Bool(value)) => Datum::Number((*value).into()),
            (_, Value::Message(message)) => Datum::Message((**message).clone()),
            (_, value) => match value.as_bytes() {
                Some(bytes) => Datum::Bytes(bytes.to_vec()),
                None => Datum::Number(value.as_i64().unwrap_or_default().into()),
            },
        }
    }

    /// An unset value as a rule sees it; an unset message is empty.
    pub fn zero(self) -> Datum {
        match (self.shape, self.ty) {
            (DatumKind::Number(_), _) => Datum::Number(0),
            (DatumKind::Message, Type::Message(id)) => Datum::Message(value::Message::new(id)),
            _ => Datum::Bytes(Vec::new()),
        }
    }

    /// The value of the type for a datum.
    pub fn value(self, tree: &Tree, datum: &Datum) -> Option<Value> {
        match self.ty {
            Type::Message(id) if self.shape != DatumKind::Message => {
                let mut message = value::Message::new(id);
                let ty = tree.message(id);
                let mut set = |name: &str, value: Value| {
                    let field = ty.field_named(name)?;
                    message.entries.push(value::Entry::new(field.id, value));
                    Some(())
                };
                match (self.shape, datum) {
                    (DatumKind::Any, Datum::Bytes(url)) => {
                        set("type_url", Value::String(std::str::from_utf8(url).ok()?.into()))?;
                    }
                    (
                        DatumKind::Number(NumberKind::Duration | NumberKind::Timestamp),
                        Datum::Number(nanos),
                    ) => {
                        // The nanoseconds of a timestamp are never negative.
                        let (seconds, rest) =
                            if self.shape == DatumKind::Number(NumberKind::Timestamp) {
                                (nanos.div_euclid(SECOND), nanos.rem_euclid(SECOND))
                            } else {
                                (nanos / SECOND, nanos % SECOND)
                            };
                        set("seconds", Value::I64(seconds.try_into().ok()?))?;
                        set("nanos", Value::I32(rest.try_into().ok()?))?;
                    }
                    _ => {
                        let inner = ValueType::of(ty.field_named("value")?);
                        set("value", inner.value(tree, datum)?)?;
                    }
                }
                Some(Value::Message(Box::new(message)))
            }
            Type::Message(_) => match datum {
                Datum::Message(message) => Some(Value::Message(Box::new(message.clone()))),
                _ => None,
            },
            Type::Enum(_) => match datum {
                Datum::Number(number) => Some(Value::Enum((*number).try_into().ok()?)),
                _ => None,
            },
            Type::Scalar(scalar) => scalar_value(scalar, datum),
            Type::Unresolved => None,
        }
    }
}

fn scalar_value(scalar: Scalar, datum: &Datum) -> Option<Value> {
    let kind = NumberKind::Scalar(scalar);
    Some(match (scalar, datum) {
        (Scalar::Double, Datum::Nan) => Value::F64(f64::NAN),
        (Scalar::Float, Datum::Nan) => Value::F32(f32::NAN),
        (Scalar::String, Datum::Bytes(bytes)) => {
            Value::String(std::str::from_utf8(bytes).ok()?.into())
        }
        (Scalar::Bytes, Datum::Bytes(bytes)) => Value::Bytes(bytes.as_slice().into()),
        (_, &Datum::Number(number)) => match scalar {
            Scalar::Double => Value::F64(kind.to_float(number)),
            Scalar::Float => Value::F32(kind.to_float(number) as f32),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                Value::I32(number.try_into().ok()?)
            }
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => {
                Value::I64(number.try_into().ok()?)
            }
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(number.try_into().ok()?),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(number.try_into().ok()?),
            Scalar::Bool => Value::Bool(number != 0),
            Scalar::String | Scalar::Bytes => return None,
        },
        _ => return None,
    })
}

/// The type of the value, item or map value of a field.
pub fn element(field: Field<'_>) -> ValueType {
    let entry = field.message_type().filter(|_| field.is_map());
    ValueType::of(entry.and_then(|entry| entry.field_numbered(2)).unwrap_or(field))
}

/// The type of the keys of a map field.
pub fn key(field: Field<'_>) -> Option<ValueType> {
    let entry = field.message_type().filter(|_| field.is_map())?;
    entry.field_numbered(1).map(ValueType::of)
}

/// Every possible value of a type. An unknown value of a closed enum is not
/// possible.
pub fn domain(tree: &Tree, single: ValueType, kind: NumberKind) -> NumberSet {
    match single.ty {
        Type::Enum(id) if tree.enumeration(id).features().openness == Openness::Closed => {
            NumberSet::points(tree.enumeration(id).values().map(|it| it.number().into()))
        }
        _ => kind.domain(),
    }
}

/// A datum of one tree as one of another.
pub fn convert(
    from_tree: &Tree,
    datum: &Datum,
    from: ValueType,
    to_tree: &Tree,
    to: ValueType,
) -> Option<Datum> {
    match (datum, to.ty) {
        (Datum::Message(message), Type::Message(ty)) => {
            // Its content is checked by the rules of its own type, so a different
            // type does not matter here.
            let there = Codec::new(to_tree).decode(ty, &Codec::new(from_tree).encode(message));
            Some(Datum::Message(there.unwrap_or_else(|_| value::Message::new(ty))))
        }
        (Datum::Number(number), _) => match (from.shape, to.shape) {
            (DatumKind::Number(a), DatumKind::Number(b)) if a.is_comparable(b) => {
                Some(Datum::Number(*number))
            }
            _ => None,
        },
        _ => (from.shape == to.shape).then(|| datum.clone()),
    }
}

/// The contents of a field; empty if it is absent.
pub type Contents = Vec<Value>;
