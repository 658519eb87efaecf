//! Chooses the values that are tried in a field, and their order.

use abide_schema::value::{Entry, Value, default_of};
use abide_schema::{self as schema, Cardinality, Enum, Field, MessageId, Openness, Scalar, Type};

use super::crossing::Transfer;
use super::smallest::{
    DEPTH, build_first, build_minimal, build_pair, list_scalar_values, replace_values,
};
use crate::element::collect_first_names;

/// The number of values of an enum that are tried if the enum itself did not change.
const FEW: usize = 3;

/// The most values of a type that are tried for a reader with another type.
const MANY: usize = 1000;

/// The length of a string whose length takes two bytes on the wire.
const LONG: usize = 128;

/// The lists of values to try in a field: those for which two readings of it can
/// differ. Changes inside a type that both sides have are changes of that type,
/// and are left out here.
pub(super) fn list_occurrences<'t>(
    crossing: Transfer<'_, 't>,
    field: Field<'t>,
    reader: Option<Field<'t>>,
) -> Vec<Vec<Value>> {
    build_lists(crossing, field, reader, &mut Vec::new())
}

/// The pairs of types that are being compared.
type Seen = Vec<(MessageId, MessageId)>;

fn build_lists<'t>(
    crossing: Transfer<'_, 't>,
    field: Field<'t>,
    reader: Option<Field<'t>>,
    seen: &mut Seen,
) -> Vec<Vec<Value>> {
    if field.cardinality() == Cardinality::Map {
        return build_entries(crossing, field, reader, seen);
    }
    let mut values = probe_type(crossing, field, reader, seen);
    let defaults = reader.into_iter().chain([field]).filter_map(default_of);
    for default in defaults {
        let kind = values.first().map(std::mem::discriminant);
        if kind == Some(std::mem::discriminant(&default)) && !values.contains(&default) {
            values.push(default);
        }
    }
    let mut lists: Vec<Vec<Value>> = values.iter().map(|value| vec![value.clone()]).collect();
    if field.cardinality() == Cardinality::Repeated
        && let [first, rest @ ..] = values.as_slice()
    {
        let second = rest.first().unwrap_or(first);
        lists.push(vec![first.clone(), second.clone()]);
        // A map would read this as one entry twice.
        if let Value::Message(_) = first {
            let other = rest.iter().find(|it| *it != first).unwrap_or(first);
            lists.push(vec![other.clone(), first.clone(), other.clone()]);
        }
    }
    lists
}

/// Maps of one entry and of two entries.
fn build_entries<'t>(
    crossing: Transfer<'_, 't>,
    field: Field<'t>,
    reader: Option<Field<'t>>,
    seen: &mut Seen,
) -> Vec<Vec<Value>> {
    let parts = |field: Field<'t>| {
        let entry = field.message_type()?;
        Some((entry, entry.field_numbered(1)?, entry.field_numbered(2)?))
    };
    let Some((entry, key, value)) = parts(field) else { return Vec::new() };
    let reader = reader.filter(|it| it.is_map()).and_then(parts);
    let keys = probe_type(crossing, key, reader.map(|it| it.1), seen);
    let values = probe_type(crossing, value, reader.map(|it| it.2), seen);
    let (Some(first_key), Some(first_value)) = (keys.first(), values.first()) else {
        return Vec::new();
    };
    let pair = |key: &Value, held: &Value| build_pair(entry, key.clone(), value, held.clone());
    let by_key = keys.iter().map(|key| vec![pair(key, first_value)]);
    let by_value = values.iter().skip(1).map(|value| vec![pair(first_key, value)]);
    let two =
        keys.get(1).map(|second| vec![pair(first_key, first_value), pair(second, first_value)]);
    by_key.chain(by_value).chain(two).collect()
}

/// Values of the type of a field that a reader's field may read differently.
fn probe_type<'t>(
    crossing: Transfer<'_, 't>,
    field: Field<'t>,
    reader: Option<Field<'t>>,
    seen: &mut Seen,
) -> Vec<Value> {
    let same = reader.is_some_and(|reader| crossing.is_same_type(field, reader));
    match field.ty() {
        Type::Scalar(scalar) => list_scalar_values(scalar, field.features().utf8_validated),
        Type::Enum(id) => {
            let twin = reader.filter(|_| same).and_then(Field::enum_type);
            probe_enum(field.tree.enumeration(id), twin)
        }
        Type::Message(id) => {
            let message = field.tree.message(id);
            let other = reader.filter(|_| !same).and_then(Field::message_type);
            let mut values = match other {
                Some(other) => probe_differing(crossing, message, other, seen),
                None => probe_message(crossing, message, same),
            };
            // Short values are also tried as text.
            if reader.is_some_and(|it| it.ty() == Type::Scalar(Scalar::String)) {
                values.extend(build_long_text(message));
                values.extend(probe_each_field(crossing, message, seen));
            }
            values
        }
        Type::Unresolved => Vec::new(),
    }
}

/// Every declared number, and an undeclared number of each sign, which a closed
/// enum does not keep. For an enum that the reader has too, only a few that have
/// the same name on both sides.
fn probe_enum(item: Enum<'_>, twin: Option<Enum<'_>>) -> Vec<Value> {
    let (ours, theirs) = (collect_first_names(item), twin.map(collect_first_names));
    let mut numbers: Vec<i32> = ours.keys().copied().collect();
    // Zero comes last: without presence it is not written.
    numbers.sort_by_key(|number| (*number == 0, number.unsigned_abs(), *number));
    if let Some(theirs) = &theirs {
        numbers.retain(|number| ours.get(number) == theirs.get(number));
        numbers.truncate(FEW);
    }
    let open = |item: Enum<'_>| item.features().openness == Openness::Open;
    if open(item) && twin.is_none_or(open) {
        let free = |number: &i32| {
            let known = theirs.as_ref().is_some_and(|it| it.contains_key(number));
            !known && !ours.contains_key(number)
        };
        numbers.extend((1..).find(free));
        numbers.extend((1..).map(|number: i32| -number).find(free));
    }
    numbers.into_iter().map(Value::Enum).collect()
}

/// The smallest value, and one for each field. For a type that the reader has too,
/// only the first field that is equal on both sides.
fn probe_message<'t>(
    crossing: Transfer<'_, 't>,
    message: schema::Message<'t>,
    same: bool,
) -> Vec<Value> {
    let Some(smallest) = build_minimal(message.tree, message.id, 0) else { return Vec::new() };
    let mut values = vec![Value::Message(Box::new(smallest.clone()))];
    let fields = message.fields().filter(|&field| !same || crossing.is_kept(field));
    for field in fields.take(if same { 1 } else { usize::MAX }) {
        let larger = replace_values(smallest.clone(), field, build_first(field, 1));
        let value = Value::Message(Box::new(larger));
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Values of a type for a reader with another type in its place, which matches
/// fields by number or by name: for each field, the lists that the two types may
/// read differently.
fn probe_differing<'t>(
    crossing: Transfer<'_, 't>,
    message: schema::Message<'t>,
    other: schema::Message<'t>,
    seen: &mut Seen,
) -> Vec<Value> {
    if seen.contains(&(message.id, other.id)) || seen.len() >= DEPTH as usize {
        return probe_message(crossing, message, false);
    }
    let Some(smallest) = build_minimal(message.tree, message.id, 0) else { return Vec::new() };
    seen.push((message.id, other.id));
    let mut values = vec![Value::Message(Box::new(smallest.clone()))];
    for field in message.fields() {
        let numbered = other.field_numbered(field.number());
        let named = other.field_named(field.name()).filter(|it| Some(*it) != numbered);
        let twins: Vec<Option<Field<'t>>> = match (numbered, named) {
            (None, None) => vec![None],
            _ => numbered.into_iter().chain(named).map(Some).collect(),
        };
        for twin in twins {
            let all = build_lists(crossing, field, twin, seen);
            // A field that the reader does not have is lost, whatever its value.
            let enough = if twin.is_some() { usize::MAX } else { 1 };
            for list in all.into_iter().take(enough) {
                let value = Value::Message(Box::new(replace_values(smallest.clone(), field, list)));
                if values.len() < MANY && !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    }
    seen.pop();
    values
}

/// Values of a type with all values to try in one field at a time.
fn probe_each_field<'t>(
    crossing: Transfer<'_, 't>,
    message: schema::Message<'t>,
    seen: &mut Seen,
) -> Vec<Value> {
    let Some(smallest) = build_minimal(message.tree, message.id, 0) else { return Vec::new() };
    let scalars = message.fields().filter(|field| matches!(field.ty(), Type::Scalar(_)));
    scalars
        .flat_map(|field| {
            build_lists(crossing, field, None, seen).into_iter().map(move |it| (field, it))
        })
        .take(MANY)
        .map(|(field, list)| {
            Value::Message(Box::new(replace_values(smallest.clone(), field, list)))
        })
        .collect()
}

/// A value with a text so long that its length byte is not a character.
fn build_long_text(message: schema::Message<'_>) -> Option<Value> {
    let mut value = build_minimal(message.tree, message.id, 0)?;
    let texts = [Type::Scalar(Scalar::String), Type::Scalar(Scalar::Bytes)];
    let field = message.fields().find(|it| texts.contains(&it.ty()))?;
    let text = vec![b'a'; LONG];
    value.entries.push(Entry::new(
        field.id,
        match field.ty() {
            Type::Scalar(Scalar::Bytes) => Value::Bytes(text.into()),
            _ => Value::String(String::from_utf8(text).ok()?.into()),
        },
    ));
    Some(Value::Message(Box::new(value)))
}
