//! The binary notation. Source: "Encoding" of the protobuf documentation.

use std::fmt;

use super::{
    Entry, Lookup, MAX_NESTING, Message, Value, is_message_set, is_set, keeps_unknown_values,
    merged, messages,
};
use crate::decl::Scalar;
use crate::ids::MessageId;
use crate::tree::{Cardinality, Field, Tree, Type};
use crate::wire::WireError;

/// Why bytes are not a value of a message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// One lower-case phrase.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)
    }
}

impl std::error::Error for DecodeError {}

impl From<WireError> for DecodeError {
    fn from(error: WireError) -> DecodeError {
        DecodeError { offset: error.offset as usize, message: error.message.to_owned() }
    }
}

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

const fn wire_type(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::Double | Scalar::Fixed64 | Scalar::Sfixed64 => FIXED64,
        Scalar::Float | Scalar::Fixed32 | Scalar::Sfixed32 => FIXED32,
        Scalar::String | Scalar::Bytes => LENGTH,
        _ => VARINT,
    }
}

impl Message {
    /// Reads a serialised message.
    ///
    /// Fields of the wrong wire type and values that a closed enum does not
    /// declare are kept among the unknown fields.
    ///
    /// # Errors
    /// Truncated or malformed bytes, nesting deeper than [`MAX_NESTING`], and
    /// invalid UTF-8 where the features of a string field refuse it.
    pub fn decode(tree: &Tree, ty: MessageId, bytes: &[u8]) -> Result<Message, DecodeError> {
        let mut decoder = Decoder { tree, lookup: Lookup::default(), bytes, at: 0 };
        decoder.message(ty, bytes.len(), None, 0)
    }

    /// The canonical serialisation, as C++ protobuf writes a message that it
    /// knows: fields by number, extensions among them, the elements of
    /// repeated fields and maps in their order, unknown fields last. Several
    /// occurrences of a singular message are merged, and fields without
    /// presence that hold zero are left out.
    pub fn encode(&self, tree: &Tree) -> Vec<u8> {
        let mut out = Vec::new();
        encode_merged(tree, &[self], &mut out);
        out
    }
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_tag(number: i32, wire: u8, out: &mut Vec<u8>) {
    put_varint(u64::from(number as u32) << 3 | u64::from(wire), out);
}

/// Writes what `body` writes, with its length before it.
fn put_length_delimited(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(0);
    body(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
        return;
    }
    let mut prefix = Vec::with_capacity(10);
    put_varint(length as u64, &mut prefix);
    out.splice(start..=start, prefix);
}

/// Writes the merge of several occurrences of one message.
fn encode_merged(tree: &Tree, parts: &[&Message], out: &mut Vec<u8>) {
    let Some(first) = parts.first() else { return };
    let ty = tree.message(first.ty);
    let rows = merged(tree, parts);
    if ty.is_map_entry() {
        // Both fields of an entry are always written.
        for field in ty.fields() {
            let found = rows.iter().rev().find(|(_, entry)| entry.field == field.id);
            let zero = Value::zero(tree, field.ty());
            if let Some(value) = found.map(|(_, entry)| &entry.value).or(zero.as_ref()) {
                encode_one(tree, field, value, out);
            }
        }
    } else {
        let message_set = is_message_set(ty);
        for rows in rows.chunk_by(|a, b| a.0 == b.0) {
            let field = tree.field(rows[0].1.field);
            if message_set && matches!(field.ty(), Type::Message(_)) {
                put_tag(1, START_GROUP, out);
                put_tag(2, VARINT, out);
                put_varint(rows[0].0 as u64, out);
                put_tag(3, LENGTH, out);
                put_length_delimited(out, |out| encode_merged(tree, &messages(rows), out));
                put_tag(1, END_GROUP, out);
            } else {
                encode_field(tree, field, rows, out);
            }
        }
    }
    for part in parts {
        out.extend_from_slice(&part.unknown);
    }
}

fn encode_field(tree: &Tree, field: Field<'_>, rows: &[(i32, &Entry)], out: &mut Vec<u8>) {
    let [.., (_, last)] = rows else { return };
    match field.cardinality() {
        Cardinality::Singular if matches!(last.value, Value::Message(_)) => {
            encode_message(tree, field, &messages(rows), out);
        }
        Cardinality::Singular if is_set(field, &last.value) => {
            encode_one(tree, field, &last.value, out);
        }
        Cardinality::Singular => {}
        Cardinality::Repeated if is_packed(field) => {
            put_tag(field.number(), LENGTH, out);
            put_length_delimited(out, |out| {
                rows.iter().for_each(|(_, entry)| put_scalar(field.ty(), &entry.value, out));
            });
        }
        Cardinality::Repeated | Cardinality::Map => {
            rows.iter().for_each(|(_, entry)| encode_one(tree, field, &entry.value, out));
        }
    }
}

fn is_packed(field: Field<'_>) -> bool {
    field.features().packed
        && match field.ty() {
            Type::Scalar(scalar) => wire_type(scalar) != LENGTH,
            Type::Enum(_) => true,
            Type::Message(_) | Type::Unresolved => false,
        }
}

fn encode_one(tree: &Tree, field: Field<'_>, value: &Value, out: &mut Vec<u8>) {
    match (field.ty(), value) {
        (_, Value::Message(message)) => encode_message(tree, field, &[message], out),
        (Type::Scalar(Scalar::String | Scalar::Bytes), _) => {
            let bytes = value.as_bytes().unwrap_or_default();
            put_tag(field.number(), LENGTH, out);
            put_varint(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        (ty, _) => {
            let wire = match ty {
                Type::Scalar(scalar) => wire_type(scalar),
                _ => VARINT,
            };
            put_tag(field.number(), wire, out);
            put_scalar(ty, value, out);
        }
    }
}

fn encode_message(tree: &Tree, field: Field<'_>, parts: &[&Message], out: &mut Vec<u8>) {
    if field.features().delimited {
        put_tag(field.number(), START_GROUP, out);
        encode_merged(tree, parts, out);
        put_tag(field.number(), END_GROUP, out);
    } else {
        put_tag(field.number(), LENGTH, out);
        put_length_delimited(out, |out| encode_merged(tree, parts, out));
    }
}

fn put_scalar(ty: Type, value: &Value, out: &mut Vec<u8>) {
    let fixed = matches!(
        ty,
        Type::Scalar(Scalar::Fixed32 | Scalar::Fixed64 | Scalar::Sfixed32 | Scalar::Sfixed64)
    );
    let zigzag = matches!(ty, Type::Scalar(Scalar::Sint32 | Scalar::Sint64));
    match *value {
        Value::Bool(value) => put_varint(value.into(), out),
        Value::I32(value) if fixed => out.extend(value.to_le_bytes()),
        Value::I64(value) if fixed => out.extend(value.to_le_bytes()),
        Value::U32(value) if fixed => out.extend(value.to_le_bytes()),
        Value::U64(value) if fixed => out.extend(value.to_le_bytes()),
        Value::I32(value) if zigzag => {
            put_varint(((value << 1) ^ (value >> 31)) as u32 as u64, out)
        }
        Value::I64(value) if zigzag => put_varint(((value << 1) ^ (value >> 63)) as u64, out),
        // Negative numbers are extended to 64 bits.
        Value::I32(value) | Value::Enum(value) => put_varint(i64::from(value) as u64, out),
        Value::I64(value) => put_varint(value as u64, out),
        Value::U32(value) => put_varint(value.into(), out),
        Value::U64(value) => put_varint(value, out),
        Value::F32(value) => out.extend(value.to_le_bytes()),
        Value::F64(value) => out.extend(value.to_le_bytes()),
        Value::String(_) | Value::Bytes(_) | Value::Message(_) => {}
    }
}

struct Decoder<'t, 'b> {
    tree: &'t Tree,
    lookup: Lookup<'t>,
    bytes: &'b [u8],
    at: usize,
}

type Decoded<T> = Result<T, DecodeError>;

impl<'t> Decoder<'t, '_> {
    fn error<T>(&self, message: impl Into<String>) -> Decoded<T> {
        Err(DecodeError { offset: self.at, message: message.into() })
    }

    fn varint(&mut self, end: usize) -> Decoded<u64> {
        let start = self.at;
        let mut value = 0;
        for (index, &byte) in self.bytes[start..end].iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.at = start + index + 1;
                return Ok(value);
            }
        }
        if end - start < 10 {
            self.error("a number ends too early")
        } else {
            self.error("a number has more than ten bytes")
        }
    }

    fn take<const N: usize>(&mut self, end: usize) -> Decoded<[u8; N]> {
        match self.bytes[self.at..end].first_chunk() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => self.error("a number ends too early"),
        }
    }

    /// The end of what a length stands before.
    fn length(&mut self, end: usize) -> Decoded<usize> {
        let start = self.at;
        let length = self.varint(end)?;
        match usize::try_from(length).ok().and_then(|length| self.at.checked_add(length)) {
            Some(stop) if stop <= end => Ok(stop),
            _ => {
                self.at = start;
                self.error(format!("a length of {length} bytes reaches beyond the end"))
            }
        }
    }

    fn tag(&mut self, end: usize) -> Decoded<(i32, u8)> {
        let start = self.at;
        let tag = self.varint(end)?;
        match i32::try_from(tag >> 3) {
            Ok(number) if (1..1 << 29).contains(&number) => Ok((number, tag as u8 & 7)),
            _ => {
                self.at = start;
                self.error(format!("{} is not a field number", tag >> 3))
            }
        }
    }

    /// Reads up to `end`, or to the end of `group`.
    fn message(
        &mut self,
        ty: MessageId,
        end: usize,
        group: Option<i32>,
        depth: u32,
    ) -> Decoded<Message> {
        if depth > MAX_NESTING {
            return self.error(format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        let view = self.tree.message(ty);
        let message_set = is_message_set(view);
        let mut message = Message::new(ty);
        loop {
            if self.at == end {
                return match group {
                    Some(_) => self.error("a group has no end"),
                    None => Ok(message),
                };
            }
            let start = self.at;
            let (number, wire) = self.tag(end)?;
            if wire == END_GROUP {
                if group == Some(number) {
                    return Ok(message);
                }
                self.at = start;
                return self.error("a group ends that did not begin");
            }
            let read = if message_set && number == 1 && wire == START_GROUP {
                self.message_set_item(&mut message, end, depth)?
            } else {
                match self.lookup.field_numbered(view, number) {
                    Some(field) => self.field(&mut message, field, wire, end, depth)?,
                    None => false,
                }
            };
            if !read {
                self.at = start;
                self.tag(end)?;
                self.skip(number, wire, end, depth)?;
                message.unknown.extend_from_slice(&self.bytes[start..self.at]);
            }
        }
    }

    /// Reads the value of a field; false where its wire type is another.
    fn field(
        &mut self,
        message: &mut Message,
        field: Field<'t>,
        wire: u8,
        end: usize,
        depth: u32,
    ) -> Decoded<bool> {
        let expected = match field.ty() {
            Type::Scalar(scalar) => wire_type(scalar),
            Type::Enum(_) => VARINT,
            Type::Message(id) => {
                let value = match (wire, field.features().delimited) {
                    (START_GROUP, true) => {
                        self.message(id, end, Some(field.number()), depth + 1)?
                    }
                    (LENGTH, false) => {
                        let stop = self.length(end)?;
                        self.message(id, stop, None, depth + 1)?
                    }
                    _ => return Ok(false),
                };
                message.entries.push(Entry::new(field.id, Value::Message(Box::new(value))));
                return Ok(true);
            }
            Type::Unresolved => return Ok(false),
        };
        if wire == expected {
            let start = self.at;
            let value = self.scalar(field, end)?;
            if self.keeps(field, &value) {
                message.entries.push(Entry::new(field.id, value));
                return Ok(true);
            }
            self.at = start;
            return Ok(false);
        }
        if wire == LENGTH && expected != LENGTH && field.cardinality() == Cardinality::Repeated {
            let stop = self.length(end)?;
            while self.at < stop {
                let start = self.at;
                let value = self.scalar(field, stop)?;
                if self.keeps(field, &value) {
                    message.entries.push(Entry::new(field.id, value));
                } else {
                    put_tag(field.number(), VARINT, &mut message.unknown);
                    message.unknown.extend_from_slice(&self.bytes[start..self.at]);
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn keeps(&mut self, field: Field<'t>, value: &Value) -> bool {
        match (value, field.enum_type()) {
            (Value::Enum(number), Some(item)) => {
                keeps_unknown_values(field) || self.lookup.has_number(item, *number)
            }
            _ => true,
        }
    }

    fn scalar(&mut self, field: Field<'t>, end: usize) -> Decoded<Value> {
        let Type::Scalar(scalar) = field.ty() else {
            return Ok(Value::Enum(self.varint(end)? as i32));
        };
        Ok(match scalar {
            Scalar::Double => Value::F64(f64::from_le_bytes(self.take(end)?)),
            Scalar::Float => Value::F32(f32::from_le_bytes(self.take(end)?)),
            Scalar::Fixed64 => Value::U64(u64::from_le_bytes(self.take(end)?)),
            Scalar::Fixed32 => Value::U32(u32::from_le_bytes(self.take(end)?)),
            Scalar::Sfixed64 => Value::I64(i64::from_le_bytes(self.take(end)?)),
            Scalar::Sfixed32 => Value::I32(i32::from_le_bytes(self.take(end)?)),
            Scalar::Int64 => Value::I64(self.varint(end)? as i64),
            Scalar::Uint64 => Value::U64(self.varint(end)?),
            Scalar::Int32 => Value::I32(self.varint(end)? as i32),
            Scalar::Uint32 => Value::U32(self.varint(end)? as u32),
            Scalar::Bool => Value::Bool(self.varint(end)? != 0),
            Scalar::Sint32 => {
                let value = self.varint(end)? as u32;
                Value::I32((value >> 1) as i32 ^ -((value & 1) as i32))
            }
            Scalar::Sint64 => {
                let value = self.varint(end)?;
                Value::I64((value >> 1) as i64 ^ -((value & 1) as i64))
            }
            Scalar::String | Scalar::Bytes => {
                let stop = self.length(end)?;
                let bytes = &self.bytes[self.at..stop];
                let value = match scalar {
                    Scalar::Bytes => Value::Bytes(bytes.into()),
                    _ => Value::string(bytes.into()),
                };
                if scalar == Scalar::String
                    && matches!(value, Value::Bytes(_))
                    && field.features().utf8_validated
                {
                    return self.error(format!("`{}` is not valid UTF-8", field.full_name()));
                }
                self.at = stop;
                value
            }
        })
    }

    /// Reads an item of a message set; false where its type is unknown or it
    /// lacks a part.
    fn message_set_item(&mut self, message: &mut Message, end: usize, depth: u32) -> Decoded<bool> {
        let mut field = None;
        let mut body = None;
        loop {
            if self.at == end {
                return self.error("a group has no end");
            }
            match self.tag(end)? {
                (1, END_GROUP) => break,
                (2, VARINT) => field = i32::try_from(self.varint(end)?).ok(),
                (3, LENGTH) => {
                    let stop = self.length(end)?;
                    body = Some((self.at, stop));
                    self.at = stop;
                }
                (number, wire) => self.skip(number, wire, end, depth)?,
            }
        }
        let after = self.at;
        let known = field
            .and_then(|number| self.lookup.field_numbered(self.tree.message(message.ty), number));
        let (Some(field), Some((start, stop))) = (known, body) else { return Ok(false) };
        let Type::Message(id) = field.ty() else { return Ok(false) };
        self.at = start;
        let value = self.message(id, stop, None, depth + 1)?;
        self.at = after;
        message.entries.push(Entry::new(field.id, Value::Message(Box::new(value))));
        Ok(true)
    }

    /// Passes the value of an unknown field.
    fn skip(&mut self, number: i32, wire: u8, end: usize, depth: u32) -> Decoded<()> {
        match wire {
            VARINT => self.varint(end).map(drop),
            FIXED64 => self.take::<8>(end).map(drop),
            FIXED32 => self.take::<4>(end).map(drop),
            LENGTH => {
                self.at = self.length(end)?;
                Ok(())
            }
            START_GROUP => {
                if depth >= MAX_NESTING {
                    return self.error(format!("groups nest deeper than {MAX_NESTING} levels"));
                }
                loop {
                    if self.at == end {
                        return self.error("a group has no end");
                    }
                    match self.tag(end)? {
                        (inner, END_GROUP) if inner == number => return Ok(()),
                        (_, END_GROUP) => return self.error("a group ends that did not begin"),
                        (inner, wire) => self.skip(inner, wire, end, depth + 1)?,
                    }
                }
            }
            _ => self.error(format!("{wire} is not a wire type")),
        }
    }
}
