//! Compares the meaning of a value that was read with that of the one that was written.

use abide_schema::value::{self, Codec, Value, default_of};
use abide_schema::{Cardinality, Enum, EnumId, EnumValue, Field, FieldId, Tree, Type};
use rustc_hash::FxHashMap;

use super::Prover;
use super::crossing::{Probed, Transfer};
use crate::show::format_values;
use crate::surface::{Direction, Surface};
use crate::value_words::find_shared_prefix;

impl<'t> Prover<'_, 't> {
    /// Returns true if an old and a new value of a field have the same kind but a different
    /// meaning.
    pub fn has_other_meaning(
        self,
        fields: (Field<'t>, Field<'t>),
        was: &Value,
        is: &Value,
    ) -> bool {
        let kind = |value: &Value| (read_number(value).is_some(), value.as_bytes().is_some());
        let crossing = self.start_transfer(Direction::Backward);
        kind(was) == kind(is) && !crossing.is_equal(fields.0.ty(), fields.1.ty(), was, is)
    }
}

impl<'t> Transfer<'_, 't> {
    /// Returns how the reader's value differs in meaning from the writer's.
    pub(super) fn describe_difference(
        self,
        wrote: &value::Message,
        read: &value::Message,
        probed: Probed<'t>,
    ) -> Option<String> {
        let (writer, reader) = (self.writer(), self.reader());
        let mut pairs: Vec<(Option<Field<'t>>, Field<'t>)> = Vec::new();
        for entry in &wrote.entries {
            let field = writer.field(entry.field);
            // A field that the reader does not have is skipped, which is not a break.
            if let Some(twin) = self.find_reader_field(field) {
                pairs.push((Some(field), twin));
            }
        }
        for entry in &read.entries {
            let field = reader.field(entry.field);
            pairs.push((self.find_writer_field(field), field));
        }
        if let (Some(from), Some(to)) = probed {
            pairs.push((Some(from), to));
        }
        pairs.sort_by_key(|(_, reader)| reader.number());
        pairs.dedup_by_key(|(_, reader)| reader.id);
        let (wrote, read) = (group_by_field(wrote), group_by_field(read));
        pairs.into_iter().find_map(|(from, to)| {
            let was = from.and_then(|it| wrote.get(&it.id)).map_or(&[][..], Vec::as_slice);
            let is = read.get(&to.id).map_or(&[][..], Vec::as_slice);
            self.compare_values(from, to, was, is)
        })
    }

    pub(super) fn compare_values(
        self,
        from: Option<Field<'t>>,
        to: Field<'t>,
        was: &[&Value],
        is: &[&Value],
    ) -> Option<String> {
        let name = to.name();
        let reader = self.direction.reader();
        let Some(from) = from else {
            let value = format_values(to, is);
            return Some(format!("the {reader} reader reads it as `{name}` = {value}"));
        };
        let (before, after) = (normalize_values(from, was), normalize_values(to, is));
        // A message has no default, and the zeros of two types are equal; but the zero
        // of an enum may have another name.
        let nothing = |values: &[Value]| values.is_empty() || is_zero(values);
        let enums = matches!((&before[..], &after[..]), ([Value::Enum(_)], [Value::Enum(_)]));
        if was.is_empty() && is.is_empty() && !enums && nothing(&before) && nothing(&after) {
            return None;
        }
        let singular = |field: Field<'_>| field.cardinality() == Cardinality::Singular;
        // If only one side is repeated, an absent zero is not a value.
        if singular(from) != singular(to) && nothing(&before) && nothing(&after) {
            return None;
        }
        if self.has_equal_lists(from, to, &before, &after) {
            return None;
        }
        let refs = |field: Field<'t>, values: &[Value]| -> String {
            format_values(field, &values.iter().collect::<Vec<_>>())
        };
        Some(match (is.is_empty(), was.is_empty()) {
            (true, false) => format!("`{name}` is lost: the {reader} reader does not see it"),
            _ if matches!((&before[..], &after[..]), ([Value::F64(_)], [Value::F32(_)])) => {
                let wrote = refs(from, &before);
                format!("the {reader} reader reads `{name}` as the nearest float to {wrote}")
            }
            _ => format!(
                "the {reader} reader reads `{name}` as {} instead of {}",
                refs(to, &after),
                refs(from, &before),
            ),
        })
    }

    /// Returns true if the values of a field mean the same, in order; the order of map
    /// entries does not count.
    fn has_equal_lists(
        self,
        from: Field<'t>,
        to: Field<'t>,
        before: &[Value],
        after: &[Value],
    ) -> bool {
        let equal = |was: &Value, is: &Value| self.is_equal(from.ty(), to.ty(), was, is);
        if before.len() != after.len() {
            return false;
        }
        if !from.is_map() && !to.is_map() {
            return before.iter().zip(after).all(|(was, is)| equal(was, is));
        }
        let mut left: Vec<&Value> = after.iter().collect();
        before.iter().all(|was| {
            let found = left.iter().position(|is| equal(was, is));
            found.map(|at| left.remove(at)).is_some()
        })
    }

    /// Returns true if two values of two types mean the same.
    pub(super) fn is_equal(self, from: Type, to: Type, was: &Value, is: &Value) -> bool {
        match (was, is) {
            (Value::Message(was), Value::Message(is)) => {
                // Fields of two types that are not paired are matched by number.
                let twin = self.find_message(self.writer().message(was.ty));
                if twin.is_some_and(|it| it.id == is.ty) {
                    self.describe_difference(was, is, (None, None)).is_none()
                } else {
                    self.has_equal_fields(was, is)
                }
            }
            (Value::Enum(was), Value::Enum(is)) => self.is_equal_enum(from, to, *was, *is),
            (Value::Message(message), other) => {
                let wrapped = unwrap_wrapper(self.writer(), message);
                wrapped.is_some_and(|(ty, was)| self.is_equal(ty, to, &was, other))
                    || other
                        .as_bytes()
                        .is_some_and(|it| Codec::new(self.writer()).encode(message) == it)
            }
            (other, Value::Message(message)) => {
                let wrapped = unwrap_wrapper(self.reader(), message);
                let decoded = |bytes| Codec::new(self.reader()).decode(message.ty, bytes);
                wrapped.is_some_and(|(ty, is)| self.is_equal(from, ty, other, &is))
                    || other
                        .as_bytes()
                        .is_some_and(|it| decoded(it).is_ok_and(|it| it == **message))
            }
            // A float and a double with the same shortest decimal are equal.
            (Value::F32(was), Value::F64(is)) => was.to_bits() == (*is as f32).to_bits(),
            _ => match (read_number(was), read_number(is)) {
                (Some(was), Some(is)) => was == is,
                (None, None) => match (was.as_bytes(), is.as_bytes()) {
                    (Some(was), Some(is)) => was == is,
                    _ => false,
                },
                _ => false,
            },
        }
    }

    /// The same for values of two types that are not paired. Fields are matched by
    /// number, or by name in encodings that write names.
    fn has_equal_fields(self, was: &value::Message, is: &value::Message) -> bool {
        let (from, to) = (self.writer().message(was.ty), self.reader().message(is.ty));
        let twin = |field: Field<'t>| match self.is_by_name() {
            true => to.field_named(field.name()),
            false => to.field_numbered(field.number()),
        };
        fn list_field_values<'m>(message: &'m value::Message, field: Field<'_>) -> Vec<&'m Value> {
            message.entries_of(field.id).map(|entry| &entry.value).collect()
        }
        let mut shared = false;
        for field in from.fields() {
            // A field that the reader's type does not have is skipped.
            let Some(twin) = twin(field) else { continue };
            shared = true;
            let (was, is) = (list_field_values(was, field), list_field_values(is, twin));
            if self.compare_values(Some(field), twin, &was, &is).is_some() {
                return false;
            }
        }
        // Without a common field, the whole value is lost.
        let nothing = |message: &value::Message| message.entries.is_empty();
        shared || nothing(was) == nothing(is)
    }

    /// Returns true if two enum values mean the same. A value that both sides have is the
    /// same; a number that only one side declares keeps its meaning.
    fn is_equal_enum(self, from: Type, to: Type, was: i32, is: i32) -> bool {
        let (Type::Enum(from), Type::Enum(to)) = (from, to) else { return was == is };
        let values = self.writer().enumeration(from).values_numbered(was);
        let mut paired = values
            .filter_map(|it| match self.direction {
                Direction::Backward => self.diff.new_value(it),
                Direction::Forward => self.diff.old_value(it),
            })
            .filter(|it| it.parent().id == to)
            .peekable();
        match paired.peek() {
            // If a number has several names, it is not known which one is meant.
            Some(_) => paired.any(|it| it.number() == is),
            // In JSON and text, values of other enums are equal if their names are.
            None if self.surface.is_some_and(|it| it != Surface::Wire)
                && self.has_shared_name(from, to, was, is) =>
            {
                true
            }
            None if was != is => false,
            // Another value may have this number now.
            None if self.are_paired(Type::Enum(from), Type::Enum(to)) => {
                !self.has_moved_name(from, to, is)
            }
            None => self.has_same_meaning(from, to, is),
        }
    }

    /// Returns true if a number means the same in two enums that are not paired: both have a
    /// common name for it, ignoring the prefix that all names of an enum share. A
    /// number that only one of them declares keeps its meaning, and so does zero, as
    /// long as none of its names is that of another number on the other side.
    fn has_same_meaning(self, from: EnumId, to: EnumId, number: i32) -> bool {
        let was = collect_short_names(self.writer().enumeration(from), number);
        let is = collect_short_names(self.reader().enumeration(to), number);
        let shared = was.is_empty() || is.is_empty() || was.iter().any(|it| is.contains(it));
        shared || number == 0 && !self.has_zero_elsewhere(from, to)
    }

    /// Returns true if a name of zero in one of two enums is that of another number in the
    /// other.
    fn has_zero_elsewhere(self, from: EnumId, to: EnumId) -> bool {
        let (from, to) = (self.writer().enumeration(from), self.reader().enumeration(to));
        let elsewhere = |of: Enum<'t>, other: Enum<'t>| {
            let zeros = of.values().filter(|it| it.number() == 0);
            let mut names = zeros.map(EnumValue::name);
            names.any(|name| other.values().any(|it| it.number() != 0 && it.name() == name))
        };
        elsewhere(from, to) || elsewhere(to, from)
    }

    /// Returns true if a value of the writer's enum and one of the reader's have a common
    /// name.
    fn has_shared_name(self, from: EnumId, to: EnumId, was: i32, is: i32) -> bool {
        let of = |tree: &'t Tree, id, number| tree.enumeration(id).values_numbered(number);
        of(self.writer(), from, was)
            .any(|was| of(self.reader(), to, is).any(|is| is.name() == was.name()))
    }

    /// Returns true if the reader's value for a number has another number on the writing
    /// side.
    fn has_moved_name(self, from: EnumId, to: EnumId, number: i32) -> bool {
        let mut values = self.reader().enumeration(to).values_numbered(number);
        let paired = match self.direction {
            Direction::Backward => values.find_map(|it| self.diff.old_value(it)),
            Direction::Forward => values.find_map(|it| self.diff.new_value(it)),
        };
        paired.is_some_and(|it| it.parent().id == from && it.number() != number)
    }
}

/// The values of each field, in order.
fn group_by_field(message: &value::Message) -> FxHashMap<FieldId, Vec<&Value>> {
    let mut values: FxHashMap<FieldId, Vec<&Value>> = FxHashMap::default();
    for entry in &message.entries {
        values.entry(entry.field).or_default().push(&entry.value);
    }
    values
}

/// The effective values of a field: the default of an absent singular field, and
/// the last of the map entries with the same key.
fn normalize_values(field: Field<'_>, values: &[&Value]) -> Vec<Value> {
    match field.cardinality() {
        Cardinality::Singular if values.is_empty() => default_of(field).into_iter().collect(),
        Cardinality::Singular | Cardinality::Repeated => {
            values.iter().map(|it| (*it).clone()).collect()
        }
        Cardinality::Map => {
            let mut pairs: Vec<(Option<Value>, Value)> = Vec::new();
            for &value in values {
                let key = value.as_message().and_then(|it| it.find_by_number(field.tree, 1));
                let key = key.map(|entry| entry.value.clone());
                pairs.retain(|(known, _)| *known != key);
                pairs.push((key, value.clone()));
            }
            pairs.into_iter().map(|(_, value)| value).collect()
        }
    }
}

/// The type and the value in a wrapper such as `google.protobuf.Int32Value`. In
/// JSON the value is written without the wrapper.
fn unwrap_wrapper(tree: &Tree, message: &value::Message) -> Option<(Type, Value)> {
    let ty = tree.message(message.ty);
    let name = ty.full_name();
    let of = name.strip_prefix("google.protobuf.")?.strip_suffix("Value")?;
    let scalars =
        ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];
    let field = ty.field_numbered(1).filter(|_| scalars.contains(&of))?;
    let held = message.entries_of(field.id).next_back().map(|entry| entry.value.clone());
    Some((field.ty(), held.or_else(|| default_of(field))?))
}

/// The names for one number of an enum, without the prefix that all its names
/// share.
fn collect_short_names(item: Enum<'_>, number: i32) -> Vec<&str> {
    let prefix = find_shared_prefix(item);
    item.values_numbered(number).map(|it| &it.name()[prefix..]).collect()
}

/// A value as a number, if it is one; booleans count as 0 and 1.
fn read_number(value: &Value) -> Option<Number> {
    Some(match *value {
        Value::Bool(value) => Number::Whole(value.into()),
        Value::I32(value) | Value::Enum(value) => Number::Whole(value.into()),
        Value::I64(value) => Number::Whole(value.into()),
        Value::U32(value) => Number::Whole(value.into()),
        Value::U64(value) => Number::Whole(value.into()),
        Value::F32(value) => Number::of(value.into()),
        Value::F64(value) => Number::of(value),
        Value::String(_) | Value::Bytes(_) | Value::Message(_) => return None,
    })
}

#[derive(PartialEq)]
enum Number {
    Whole(i128),
    /// The bits of a double that is not a whole number, NaN included.
    Other(u64),
}

impl Number {
    fn of(value: f64) -> Number {
        // A double over 2^100 is compared by its bits.
        if value.fract() == 0.0 && value.abs() < 1e30 && !(value == 0.0 && value.is_sign_negative())
        {
            Number::Whole(value as i128)
        } else {
            Number::Other(value.to_bits())
        }
    }
}

fn is_zero(values: &[Value]) -> bool {
    matches!(values, [value] if read_number(value) == Some(Number::Whole(0))
        || value.as_bytes().is_some_and(<[u8]>::is_empty))
}
