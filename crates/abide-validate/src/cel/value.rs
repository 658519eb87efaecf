//! The values of expressions.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use abide_schema::value::{self, Codec, Value, default_of};
use abide_schema::{Cardinality, Field, FieldId, MessageId, Presence, Scalar, Tree, Type};

use super::host::HostValue;
use super::steps::StepBudget;
use super::types::CelType;

const NANOS: i128 = 1_000_000_000;
/// The most parts that are compared where no evaluation counts them.
const MAX_COMPARED: usize = 100_000;

/// The value of an expression, or in one phrase why it gives none.
pub type Outcome<'v> = Result<CelValue<'v>, String>;

/// The value of an expression.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is named after the type it is of")]
pub enum CelValue<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    /// In nanoseconds.
    Duration(i128),
    /// In nanoseconds since 1970.
    Timestamp(i128),
    /// A type, by its name.
    Type(Rc<str>),
    List(Rc<[CelValue<'v>]>),
    Map(Rc<[(CelValue<'v>, CelValue<'v>)]>),
    Message(Held<'v>),
    /// A value of the program that uses expressions.
    Host(Rc<dyn HostValue<'v> + 'v>),
}

/// A message, as it stands in the value or as an expression made it.
#[derive(Clone, Debug)]
pub enum Held<'v> {
    /// A part of a value that is judged.
    Borrowed(&'v value::Message),
    /// One that an expression made.
    Made(Rc<value::Message>),
}

impl Held<'_> {
    pub(super) fn message(&self) -> &value::Message {
        match self {
            Held::Borrowed(message) => message,
            Held::Made(message) => message,
        }
    }
}

impl<'v> CelValue<'v> {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> CelValue<'v> {
        CelValue::String(text.into())
    }

    /// The name of its type.
    pub(super) fn type_name(&self, tree: &Tree) -> Rc<str> {
        match self {
            CelValue::Null => "null_type".into(),
            CelValue::Bool(_) => "bool".into(),
            CelValue::Int(_) => "int".into(),
            CelValue::Uint(_) => "uint".into(),
            CelValue::Double(_) => "double".into(),
            CelValue::String(_) => "string".into(),
            CelValue::Bytes(_) => "bytes".into(),
            CelValue::Duration(_) => "google.protobuf.Duration".into(),
            CelValue::Timestamp(_) => "google.protobuf.Timestamp".into(),
            CelValue::Type(_) => "type".into(),
            CelValue::List(_) => "list".into(),
            CelValue::Map(_) => "map".into(),
            CelValue::Message(held) => tree.message(held.message().ty).full_name().into(),
            CelValue::Host(value) => value.host_type().name.into(),
        }
    }

    /// Returns how many values it is, for the bound on work.
    pub(super) fn size(&self) -> usize {
        match self {
            CelValue::String(text) => text.len() / 16,
            CelValue::Bytes(bytes) => bytes.len() / 16,
            CelValue::List(items) => items.len(),
            CelValue::Map(pairs) => pairs.len(),
            _ => 0,
        }
    }

    /// Returns true if two values are equal; numbers of different types are by what they count.
    pub(crate) fn equals(&self, other: &CelValue<'_>, tree: &Tree) -> bool {
        self.equals_within(other, tree, &StepBudget::new(MAX_COMPARED)).unwrap_or(false)
    }

    /// The same for an evaluation: every part that is compared takes a step, since a value may
    /// hold one part many times.
    pub(super) fn equals_within(
        &self,
        other: &CelValue<'_>,
        tree: &Tree,
        steps: &StepBudget,
    ) -> Result<bool, std::string::String> {
        use CelValue::{Bool, Bytes, Host, List, Map, Message, Null, String, Type};
        steps.take(1)?;
        Ok(match (self, other) {
            (Null, Null) => true,
            (Host(a), Host(b)) => {
                std::ptr::eq(a.host_type(), b.host_type()) && a.identity() == b.identity()
            }
            (Bool(a), Bool(b)) => a == b,
            (String(a), String(b)) => a == b,
            (Type(a), Type(b)) => a == b,
            (String(_), Type(_)) | (Type(_), String(_)) => false,
            (Bytes(a), Bytes(b)) => a == b,
            (List(a), List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !a.equals_within(b, tree, steps)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Map(a), Map(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (key, value) in a.iter() {
                    let mut is_there = false;
                    for (other, it) in b.iter() {
                        is_there |= key.equals_within(other, tree, steps)?
                            && value.equals_within(it, tree, steps)?;
                    }
                    if !is_there {
                        return Ok(false);
                    }
                }
                true
            }
            (Message(a), Message(b)) => {
                let (a, b) = (a.message(), b.message());
                let bytes = |it: &value::Message| Codec::new(tree).encode(&it.normalize(tree));
                a.ty == b.ty && !holds_nan(a) && bytes(a) == bytes(b)
            }
            _ => self.compare(other) == Some(Ordering::Equal),
        })
    }

    /// The order of two values that have one.
    pub(super) fn compare(&self, other: &CelValue<'_>) -> Option<Ordering> {
        use CelValue::{Bool, Bytes, Double, Duration, String, Timestamp};
        match (self, other) {
            (Bool(a), Bool(b)) => Some(a.cmp(b)),
            (String(a), String(b)) => Some(a.cmp(b)),
            (Bytes(a), Bytes(b)) => Some(a.cmp(b)),
            (Duration(a), Duration(b)) | (Timestamp(a), Timestamp(b)) => Some(a.cmp(b)),
            (Double(a), Double(b)) => a.partial_cmp(b),
            (Double(a), b) => compare_float(*a, b.integer()?),
            (a, Double(b)) => compare_float(*b, a.integer()?).map(Ordering::reverse),
            (a, b) => Some(a.integer()?.cmp(&b.integer()?)),
        }
    }

    /// The value of an integer.
    pub(super) fn integer(&self) -> Option<i128> {
        match self {
            CelValue::Int(value) => Some((*value).into()),
            CelValue::Uint(value) => Some((*value).into()),
            _ => None,
        }
    }

    /// The value of a field that has these values in a message.
    pub(crate) fn of_field(
        tree: &Tree,
        field: Field<'_>,
        values: &mut dyn DoubleEndedIterator<Item = &'v Value>,
    ) -> CelValue<'v> {
        match field.cardinality() {
            Cardinality::Singular => match values.next_back() {
                Some(value) => CelValue::of_value(tree, field, value),
                None => CelValue::default_of_field(field),
            },
            Cardinality::Repeated => {
                CelValue::List(values.map(|it| CelValue::of_value(tree, field, it)).collect())
            }
            Cardinality::Map => CelValue::map(tree, field, values),
        }
    }

    fn map(tree: &Tree, field: Field<'_>, values: impl Iterator<Item = &'v Value>) -> CelValue<'v> {
        let mut pairs: Vec<(CelValue<'v>, CelValue<'v>)> = Vec::new();
        let entry = field.message_type();
        let parts = entry.and_then(|it| Some((it.field_numbered(1)?, it.field_numbered(2)?)));
        let Some((key_field, value_field)) = parts else { return CelValue::Map(pairs.into()) };
        let mut places = std::collections::HashMap::new();
        for pair in values.filter_map(Value::as_message) {
            let part = |field: Field<'_>| {
                CelValue::of_field(tree, field, &mut pair.entries_of(field.id).map(|it| &it.value))
            };
            let (key, value) = (part(key_field), part(value_field));
            // Keys are scalars, which their notation tells apart.
            let at = *places.entry(format!("{key:?}")).or_insert(pairs.len());
            match pairs.get_mut(at) {
                Some(known) => known.1 = value,
                None => pairs.push((key, value)),
            }
        }
        CelValue::Map(pairs.into())
    }

    /// One value of a field.
    pub(crate) fn of_value(tree: &Tree, field: Field<'_>, value: &'v Value) -> CelValue<'v> {
        match value {
            Value::Bool(value) => CelValue::Bool(*value),
            Value::I32(value) | Value::Enum(value) => CelValue::Int((*value).into()),
            Value::I64(value) => CelValue::Int(*value),
            Value::U32(value) => CelValue::Uint((*value).into()),
            Value::U64(value) => CelValue::Uint(*value),
            Value::F32(value) => CelValue::Double((*value).into()),
            Value::F64(value) => CelValue::Double(*value),
            Value::String(text) => CelValue::text(&**text),
            Value::Bytes(bytes) if field.ty() == Type::Scalar(Scalar::String) => {
                CelValue::text(String::from_utf8_lossy(bytes))
            }
            Value::Bytes(bytes) => CelValue::Bytes((&**bytes).into()),
            Value::Message(message) => CelValue::of_message(tree, message),
        }
    }

    /// A message; well-known ones are what they stand for.
    pub(crate) fn of_message(tree: &Tree, message: &'v value::Message) -> CelValue<'v> {
        let view = tree.message(message.ty);
        let only = |number: i32| {
            let entry = message.find_by_number(tree, number);
            entry.map(|it| CelValue::of_value(tree, tree.field(it.field), &it.value))
        };
        match CelType::of_message(view) {
            CelType::Duration => CelValue::Duration(read_nanos(tree, message)),
            CelType::Timestamp => CelValue::Timestamp(read_nanos(tree, message)),
            CelType::Wrapper(_) => only(1).unwrap_or_else(|| {
                view.field_numbered(1).map_or(CelValue::Null, CelValue::default_of_field)
            }),
            CelType::Map(..) => read_only_field(tree, message),
            CelType::List(_) => read_only_field(tree, message),
            CelType::Dyn if view.name() == "Value" => match message.entries.last() {
                Some(entry) if tree.field(entry.field).number() == 1 => CelValue::Null,
                Some(entry) => CelValue::of_value(tree, tree.field(entry.field), &entry.value),
                None => CelValue::Null,
            },
            CelType::Dyn => match &message.content {
                Some(content) => CelValue::of_message(tree, content),
                None => CelValue::Message(Held::Borrowed(message)),
            },
            _ => CelValue::Message(Held::Borrowed(message)),
        }
    }

    /// The value of a singular field that is not set.
    fn default_of_field(field: Field<'_>) -> CelValue<'v> {
        let Some(message) = field.message_type() else {
            let value = default_of(field);
            return match value {
                Some(Value::Bool(value)) => CelValue::Bool(value),
                Some(Value::String(text)) => CelValue::text(&*text),
                Some(Value::Bytes(bytes)) => CelValue::Bytes((&*bytes).into()),
                Some(Value::F32(value)) => CelValue::Double(value.into()),
                Some(Value::F64(value)) => CelValue::Double(value),
                Some(Value::U32(value)) => CelValue::Uint(value.into()),
                Some(Value::U64(value)) => CelValue::Uint(value),
                Some(value) => value.as_i64().map_or(CelValue::Null, CelValue::Int),
                None => CelValue::Null,
            };
        };
        match CelType::of_message(message) {
            CelType::Duration => CelValue::Duration(0),
            CelType::Timestamp => CelValue::Timestamp(0),
            CelType::Wrapper(_) | CelType::Dyn => CelValue::Null,
            CelType::Map(..) => CelValue::Map(Rc::default()),
            CelType::List(_) => CelValue::List(Rc::default()),
            _ => CelValue::Message(Held::Made(Rc::new(value::Message::new(message.id)))),
        }
    }

    /// The field of a message with a name, or the value of a map with a key; `None` if there is
    /// none.
    pub(crate) fn find_member(&self, tree: &Tree, name: &str) -> Option<CelValue<'v>> {
        match self {
            CelValue::Message(held) => {
                let field = tree.message(held.message().ty).field_named(name)?;
                Some(match held {
                    Held::Borrowed(message) => {
                        let values = &mut message.entries_of(field.id).map(|it| &it.value);
                        CelValue::of_field(tree, field, values)
                    }
                    Held::Made(message) => {
                        let values = &mut message.entries_of(field.id).map(|it| &it.value);
                        CelValue::of_field(tree, field, values).made()
                    }
                })
            }
            CelValue::Map(pairs) => {
                let found = pairs
                    .iter()
                    .find(|(key, _)| matches!(key, CelValue::String(key) if **key == *name));
                found.map(|(_, value)| value.clone())
            }
            CelValue::Host(value) => value.find_member(name),
            _ => None,
        }
    }

    /// Returns true if a field of a message is set, or a map has a key; `None` if it has no such
    /// field.
    pub(super) fn has(&self, tree: &Tree, name: &str) -> Option<bool> {
        match self {
            CelValue::Message(held) => {
                let message = held.message();
                let field = tree.message(message.ty).field_named(name)?;
                Some(is_set(message, field.id, field.presence() == Presence::Implicit))
            }
            CelValue::Map(_) => Some(self.find_member(tree, name).is_some()),
            CelValue::Host(value) => value.has_member(name),
            _ => None,
        }
    }

    /// The same value, held by itself. No message holds a value of the program.
    fn made<'o>(self) -> CelValue<'o> {
        match self {
            CelValue::Host(_) => CelValue::Null,
            CelValue::Null => CelValue::Null,
            CelValue::Bool(value) => CelValue::Bool(value),
            CelValue::Int(value) => CelValue::Int(value),
            CelValue::Uint(value) => CelValue::Uint(value),
            CelValue::Double(value) => CelValue::Double(value),
            CelValue::String(text) => CelValue::String(text),
            CelValue::Bytes(bytes) => CelValue::Bytes(bytes),
            CelValue::Duration(nanos) => CelValue::Duration(nanos),
            CelValue::Timestamp(nanos) => CelValue::Timestamp(nanos),
            CelValue::Type(name) => CelValue::Type(name),
            CelValue::List(items) => {
                CelValue::List(items.iter().map(|it| it.clone().made()).collect())
            }
            CelValue::Map(pairs) => {
                let pair = |(key, value): &(CelValue<'_>, CelValue<'_>)| {
                    (key.clone().made(), value.clone().made())
                };
                CelValue::Map(pairs.iter().map(pair).collect())
            }
            CelValue::Message(held) => CelValue::Message(Held::Made(match held {
                Held::Borrowed(message) => Rc::new(message.clone()),
                Held::Made(message) => message,
            })),
        }
    }
}

/// Returns true if a message holds a NaN, which equals nothing.
fn holds_nan(message: &value::Message) -> bool {
    message.entries.iter().any(|entry| match &entry.value {
        Value::F32(value) => value.is_nan(),
        Value::F64(value) => value.is_nan(),
        Value::Message(inner) => holds_nan(inner),
        _ => false,
    })
}

/// The value of the only field of a Struct or a list of values.
fn read_only_field<'v>(tree: &Tree, message: &'v value::Message) -> CelValue<'v> {
    match tree.message(message.ty).field_numbered(1) {
        Some(field) => {
            CelValue::of_field(tree, field, &mut message.entries_of(field.id).map(|it| &it.value))
        }
        None => CelValue::Null,
    }
}

fn is_set(message: &value::Message, field: FieldId, is_implicit: bool) -> bool {
    message.entries_of(field).next_back().is_some_and(|it| !is_implicit || !it.value.is_zero())
}

fn read_nanos(tree: &Tree, message: &value::Message) -> i128 {
    let seconds = message.get_i64(tree, "seconds").unwrap_or_default();
    let nanos = message.get_i64(tree, "nanos").unwrap_or_default();
    i128::from(seconds) * NANOS + i128::from(nanos)
}

/// The order of a float and an integer, without rounding the integer.
fn compare_float(float: f64, integer: i128) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Every integer here has at most 64 bits.
    let whole = float.trunc().clamp(-1e30, 1e30) as i128;
    let rest = float.fract().partial_cmp(&0.0)?;
    Some(whole.cmp(&integer).then(if float.is_finite() { rest } else { Ordering::Equal }))
}

/// A message that an expression writes with its fields.
pub(super) fn construct_message<'v>(
    tree: &Tree,
    ty: MessageId,
    fields: Vec<(FieldId, CelValue<'v>)>,
) -> Result<CelValue<'v>, String> {
    let mut message = value::Message::new(ty);
    for (id, given) in fields {
        let field = tree.field(id);
        let unfit = || format!("a value does not fit `{}`", field.name());
        let given: Vec<CelValue<'_>> = match (field.cardinality(), given) {
            (Cardinality::Repeated, CelValue::List(items)) => items.to_vec(),
            (Cardinality::Singular, CelValue::Null) => Vec::new(),
            (Cardinality::Singular, value) => vec![value],
            _ => return Err("an expression makes a message with a map".to_owned()),
        };
        for value in given {
            let value = match (value, field.ty()) {
                (CelValue::Bool(value), Type::Scalar(Scalar::Bool)) => Value::Bool(value),
                (CelValue::String(text), Type::Scalar(Scalar::String)) => {
                    Value::String((&*text).into())
                }
                (CelValue::Bytes(bytes), Type::Scalar(Scalar::Bytes)) => {
                    Value::Bytes((&*bytes).into())
                }
                (CelValue::Double(value), Type::Scalar(Scalar::Double)) => Value::F64(value),
                (CelValue::Double(value), Type::Scalar(Scalar::Float)) => Value::F32(value as f32),
                (CelValue::Int(value), Type::Enum(_)) => {
                    Value::Enum(value.try_into().map_err(|_| unfit())?)
                }
                (CelValue::Int(value), Type::Scalar(scalar)) => match scalar {
                    Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(value),
                    _ => Value::I32(value.try_into().map_err(|_| unfit())?),
                },
                (CelValue::Uint(value), Type::Scalar(scalar)) => match scalar {
                    Scalar::Uint64 | Scalar::Fixed64 => Value::U64(value),
                    _ => Value::U32(value.try_into().map_err(|_| unfit())?),
                },
                (CelValue::Message(held), Type::Message(_)) => {
                    Value::Message(Box::new(held.message().clone()))
                }
                _ => return Err(unfit()),
            };
            message.entries.push(value::Entry::new(id, value));
        }
    }
    Ok(CelValue::Message(Held::Made(Rc::new(message))))
}
