//! The binary notation. Source: "Encoding" of the protobuf documentation.

use abide_syntax::Span;

use super::codec::Codec;
use super::error::DecodeError;
use super::facts::{can_hold_unknown_values, is_message_set, is_set};
use super::normalize::{collect_messages, merge_entries};
use crate::decl::Scalar;
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
use crate::ids::MessageId;
use crate::protobuf::{WirePayload, WireReader, WireRecord, WireWriter};
use crate::tree::{Cardinality, Field, Tree, Type};

/// Field numbers of an item of a message set, which is a group.
mod item {
    pub(super) const GROUP: u32 = 1;
    pub(super) const TYPE: u32 = 2;
    pub(super) const MESSAGE: u32 = 3;
}

impl Codec<'_> {
    /// Reads a serialised message.
    ///
    /// Fields of the wrong wire type, and values that a closed enum does not
    /// declare, are kept as unknown fields.
    ///
    /// # Errors
    /// Truncated or malformed bytes, nesting deeper than [`MAX_NESTING`], and
    /// invalid UTF-8 where the features of a string field refuse it.
    pub fn decode(self, ty: MessageId, bytes: &[u8]) -> Result<Message, DecodeError> {
        let mut decoder = WireDecoder { tree: self.tree, bytes };
        decoder.read_message(ty, Span::new(0, bytes.len() as u32), 0)
    }

    /// The canonical serialisation, as C++ protobuf writes a generated message.
    /// Fields and extensions come by number, the elements of repeated fields and
    /// maps in their order, and unknown fields last. Several occurrences of a
    /// singular message are merged. Fields without presence that hold zero are
    /// left out.
    pub fn encode(self, message: &Message) -> Vec<u8> {
        let mut writer = WireWriter::default();
        message.write(self.tree, &mut writer);
        writer.into_bytes()
    }
}

impl Message {
    /// Appends the canonical serialisation.
    pub(crate) fn write(&self, tree: &Tree, out: &mut WireWriter) {
        write_merged(tree, &[self], out);
    }
}

/// Writes the merge of several occurrences of one message.
fn write_merged(tree: &Tree, parts: &[&Message], out: &mut WireWriter) {
    let Some(first) = parts.first() else { return };
    let ty = tree.message(first.ty);
    let rows = merge_entries(tree, parts);
    if ty.is_map_entry() {
        // Both fields of an entry are always written.
        for field in ty.fields() {
            let found = rows.iter().rev().find(|(_, entry)| entry.field == field.id);
            let zero = Value::new_zero(tree, field.ty());
            if let Some(value) = found.map(|(_, entry)| &entry.value).or(zero.as_ref()) {
                write_value(tree, field, value, out);
            }
        }
    } else {
        let message_set = is_message_set(ty);
        for rows in rows.chunk_by(|a, b| a.0 == b.0) {
            let field = tree.field(rows[0].1.field);
            if message_set && matches!(field.ty(), Type::Message(_)) {
                out.group(item::GROUP, |out| {
                    out.write_varint(item::TYPE, rows[0].0 as u64);
                    out.write_message(item::MESSAGE, |out| {
                        write_merged(tree, &collect_messages(rows), out)
                    });
                });
            } else {
                write_field(tree, field, rows, out);
            }
        }
    }
    for part in parts {
        out.write_raw(&part.unknown);
    }
}

fn write_field(tree: &Tree, field: Field<'_>, rows: &[(i32, &Entry)], out: &mut WireWriter) {
    let [.., (_, last)] = rows else { return };
    match field.cardinality() {
        Cardinality::Singular if matches!(last.value, Value::Message(_)) => {
            write_message(tree, field, &collect_messages(rows), out);
        }
        Cardinality::Singular if is_set(field, &last.value) => {
            write_value(tree, field, &last.value, out);
        }
        Cardinality::Singular => {}
        Cardinality::Repeated if is_packed(field) => {
            out.write_message(field.number() as u32, |out| {
                rows.iter().for_each(|(_, entry)| match to_payload(field.ty(), &entry.value) {
                    WirePayload::Fixed64(value) => out.write_raw(&value.to_le_bytes()),
                    WirePayload::Fixed32(value) => out.write_raw(&value.to_le_bytes()),
                    WirePayload::Varint(value) => out.write_raw_varint(value),
                    WirePayload::Bytes(_) | WirePayload::Group(_) => {}
                });
            })
        }
        Cardinality::Repeated | Cardinality::Map => {
            rows.iter().for_each(|(_, entry)| write_value(tree, field, &entry.value, out));
        }
    }
}

/// Returns true if a field is packed when it is written.
fn is_packed(field: Field<'_>) -> bool {
    field.features().packed
        && match field.ty() {
            Type::Scalar(scalar) => !matches!(scalar, Scalar::String | Scalar::Bytes),
            Type::Enum(_) => true,
            Type::Message(_) | Type::Unresolved => false,
        }
}

fn write_value(tree: &Tree, field: Field<'_>, value: &Value, out: &mut WireWriter) {
    let tag = field.number() as u32;
    match value {
        Value::Message(message) => write_message(tree, field, &[message], out),
        Value::String(text) => out.write_bytes(tag, text.as_bytes()),
        Value::Bytes(bytes) => out.write_bytes(tag, bytes),
        _ => match to_payload(field.ty(), value) {
            WirePayload::Fixed64(value) => out.write_fixed64(tag, value),
            WirePayload::Fixed32(value) => out.write_fixed32(tag, value),
            WirePayload::Varint(value) => out.write_varint(tag, value),
            WirePayload::Bytes(_) | WirePayload::Group(_) => {}
        },
    }
}

fn write_message(tree: &Tree, field: Field<'_>, parts: &[&Message], out: &mut WireWriter) {
    let number = field.number() as u32;
    if field.features().delimited {
        out.group(number, |out| write_merged(tree, parts, out));
    } else {
        out.write_message(number, |out| write_merged(tree, parts, out));
    }
}

/// The wire form of a number, a bool or an enum value.
fn to_payload(ty: Type, value: &Value) -> WirePayload {
    let fixed = matches!(
        ty,
        Type::Scalar(Scalar::Fixed32 | Scalar::Fixed64 | Scalar::Sfixed32 | Scalar::Sfixed64)
    );
    let zigzag = matches!(ty, Type::Scalar(Scalar::Sint32 | Scalar::Sint64));
    match *value {
        Value::F32(value) => WirePayload::Fixed32(value.to_bits()),
        Value::F64(value) => WirePayload::Fixed64(value.to_bits()),
        Value::I32(value) if fixed => WirePayload::Fixed32(value as u32),
        Value::U32(value) if fixed => WirePayload::Fixed32(value),
        Value::I64(value) if fixed => WirePayload::Fixed64(value as u64),
        Value::U64(value) if fixed => WirePayload::Fixed64(value),
        Value::I32(value) if zigzag => {
            WirePayload::Varint(((value << 1) ^ (value >> 31)) as u32 as u64)
        }
        Value::I64(value) if zigzag => WirePayload::Varint(((value << 1) ^ (value >> 63)) as u64),
        // Negative numbers are extended to 64 bits.
        Value::I32(value) | Value::Enum(value) => WirePayload::Varint(i64::from(value) as u64),
        Value::I64(value) => WirePayload::Varint(value as u64),
        Value::U32(value) => WirePayload::Varint(value.into()),
        Value::U64(value) => WirePayload::Varint(value),
        Value::Bool(value) => WirePayload::Varint(value.into()),
        Value::String(_) | Value::Bytes(_) | Value::Message(_) => WirePayload::Varint(0),
    }
}

struct WireDecoder<'t, 'b> {
    tree: &'t Tree,
    bytes: &'b [u8],
}

type Decoded<T> = Result<T, DecodeError>;

impl<'t> WireDecoder<'t, '_> {
    fn read_message(&mut self, ty: MessageId, span: Span, depth: u32) -> Decoded<Message> {
        if depth > MAX_NESTING {
            let message = format!("messages nest deeper than {MAX_NESTING} levels");
            return Err(DecodeError { offset: span.start as usize, message });
        }
        let view = self.tree.message(ty);
        let message_set = is_message_set(view);
        let mut message = Message::new(ty);
        let mut unknown = Vec::new();
        let mut reader = WireReader::new(self.bytes, span);
        while let Some(record) = reader.next_record()? {
            let known = match record.payload {
                WirePayload::Group(group) if message_set && record.number == item::GROUP => {
                    self.read_message_set_item(&mut message, group, depth)?
                }
                _ => match view.any_field_numbered(record.number as i32) {
                    Some(field) => {
                        self.read_field(&mut message, &mut unknown, field, record, depth)?
                    }
                    None => false,
                },
            };
            if !known {
                unknown.extend_from_slice(record.span.of(self.bytes));
            }
        }
        message.unknown = unknown.into();
        Ok(message)
    }

    /// Reads the value of a field; false if its wire type is wrong or a closed
    /// enum does not declare it.
    fn read_field(
        &mut self,
        message: &mut Message,
        unknown: &mut Vec<u8>,
        field: Field<'t>,
        record: WireRecord,
        depth: u32,
    ) -> Decoded<bool> {
        let value = match (field.ty(), record.payload) {
            (Type::Message(id), WirePayload::Group(span)) if field.features().delimited => {
                Value::Message(Box::new(self.read_message(id, span, depth + 1)?))
            }
            (Type::Message(id), WirePayload::Bytes(span)) if !field.features().delimited => {
                let inner = self.read_message(id, span, depth + 1)?;
                // If a closed enum does not declare the value of a map entry,
                // the whole entry is unknown.
                if field.is_map() && has_undeclared_value(self.tree, &inner) {
                    return Ok(false);
                }
                Value::Message(Box::new(inner))
            }
            (Type::Message(_) | Type::Unresolved, _) => return Ok(false),
            (Type::Scalar(Scalar::Bytes), WirePayload::Bytes(span)) => {
                Value::Bytes(span.of(self.bytes).into())
            }
            (Type::Scalar(Scalar::String), WirePayload::Bytes(span)) => {
                let value = Value::string(span.of(self.bytes).into());
                if matches!(value, Value::Bytes(_)) && field.features().utf8_validated {
                    let message = format!("`{}` is not valid UTF-8", field.full_name());
                    return Err(DecodeError { offset: span.start as usize, message });
                }
                value
            }
            (ty, WirePayload::Bytes(span)) if field.cardinality() == Cardinality::Repeated => {
                return self.read_packed(message, unknown, field, ty, span);
            }
            (ty, payload) => match from_number(ty, payload) {
                Some(value) => value,
                None => return Ok(false),
            },
        };
        if !self.is_declared(field, &value) {
            return Ok(false);
        }
        message.entries.push(Entry::new(field.id, value));
        Ok(true)
    }

    /// Reads a packed field. Each value that a closed enum does not declare is
    /// kept as an unknown field.
    fn read_packed(
        &mut self,
        message: &mut Message,
        unknown: &mut Vec<u8>,
        field: Field<'t>,
        ty: Type,
        span: Span,
    ) -> Decoded<bool> {
        let width = match Value::new_zero(self.tree, ty).map(|zero| to_payload(ty, &zero)) {
            Some(WirePayload::Fixed64(_)) => 8,
            Some(WirePayload::Fixed32(_)) => 4,
            _ => 0,
        };
        let bytes = span.of(self.bytes);
        if width > 0 {
            if !bytes.len().is_multiple_of(width) {
                let message = "the number is truncated".to_owned();
                return Err(DecodeError { offset: span.end as usize, message });
            }
            let payloads = bytes.chunks_exact(width).map(|chunk| match *chunk {
                [a, b, c, d] => WirePayload::Fixed32(u32::from_le_bytes([a, b, c, d])),
                [a, b, c, d, e, f, g, h] => {
                    WirePayload::Fixed64(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
                }
                _ => WirePayload::Varint(0),
            });
            let values = payloads.filter_map(|payload| from_number(ty, payload));
            message.entries.extend(values.map(|value| Entry::new(field.id, value)));
            return Ok(true);
        }
        let mut reader = WireReader::new(self.bytes, span);
        while let Some(bits) = reader.next_varint()? {
            let Some(value) = from_number(ty, WirePayload::Varint(bits)) else { return Ok(false) };
            if self.is_declared(field, &value) {
                message.entries.push(Entry::new(field.id, value));
            } else {
                let mut record = WireWriter::default();
                record.write_varint(field.number() as u32, bits);
                unknown.extend(record.into_bytes());
            }
        }
        Ok(true)
    }

    fn is_declared(&mut self, field: Field<'t>, value: &Value) -> bool {
        match (value, field.enum_type()) {
            (Value::Enum(number), Some(item)) => {
                can_hold_unknown_values(field) || item.value_numbered(*number).is_some()
            }
            _ => true,
        }
    }

    /// Reads an item of a message set; false if its type is unknown or a part is
    /// missing.
    fn read_message_set_item(
        &mut self,
        message: &mut Message,
        group: Span,
        depth: u32,
    ) -> Decoded<bool> {
        let mut number = None;
        let mut body = None;
        let mut reader = WireReader::new(self.bytes, group);
        while let Some(record) = reader.next_record()? {
            match (record.number, record.payload) {
                (item::TYPE, WirePayload::Varint(value)) => number = i32::try_from(value).ok(),
                (item::MESSAGE, WirePayload::Bytes(span)) => body = Some(span),
                _ => {}
            }
        }
        let (Some(number), Some(body)) = (number, body) else { return Ok(false) };
        let view = self.tree.message(message.ty);
        let Some(field) = view.any_field_numbered(number) else { return Ok(false) };
        let Type::Message(id) = field.ty() else { return Ok(false) };
        let value = Value::Message(Box::new(self.read_message(id, body, depth + 1)?));
        message.entries.push(Entry::new(field.id, value));
        Ok(true)
    }
}

/// Returns true if the value of a map entry is not declared by its closed enum.
fn has_undeclared_value(tree: &Tree, entry: &Message) -> bool {
    const VALUE: u32 = 2;
    let value = tree.message(entry.ty).field_numbered(VALUE as i32);
    if value.and_then(Field::enum_type).is_none() {
        return false;
    }
    let mut unknown = WireReader::new(&entry.unknown, Span::new(0, entry.unknown.len() as u32));
    while let Ok(Some(record)) = unknown.next_record() {
        if record.number == VALUE && matches!(record.payload, WirePayload::Varint(_)) {
            return true;
        }
    }
    false
}

/// A number, a bool or an enum value from its wire form; `None` if the type has
/// another wire form.
fn from_number(ty: Type, payload: WirePayload) -> Option<Value> {
    let scalar = match (ty, payload) {
        (Type::Enum(_), WirePayload::Varint(bits)) => return Some(Value::Enum(bits as i32)),
        (Type::Scalar(scalar), _) => scalar,
        _ => return None,
    };
    Some(match (scalar, payload) {
        (Scalar::Double, WirePayload::Fixed64(bits)) => Value::F64(f64::from_bits(bits)),
        (Scalar::Float, WirePayload::Fixed32(bits)) => Value::F32(f32::from_bits(bits)),
        (Scalar::Fixed64, WirePayload::Fixed64(bits)) => Value::U64(bits),
        (Scalar::Sfixed64, WirePayload::Fixed64(bits)) => Value::I64(bits as i64),
        (Scalar::Fixed32, WirePayload::Fixed32(bits)) => Value::U32(bits),
        (Scalar::Sfixed32, WirePayload::Fixed32(bits)) => Value::I32(bits as i32),
        (Scalar::Int64, WirePayload::Varint(bits)) => Value::I64(bits as i64),
        (Scalar::Uint64, WirePayload::Varint(bits)) => Value::U64(bits),
        (Scalar::Int32, WirePayload::Varint(bits)) => Value::I32(bits as i32),
        (Scalar::Uint32, WirePayload::Varint(bits)) => Value::U32(bits as u32),
        (Scalar::Bool, WirePayload::Varint(bits)) => Value::Bool(bits != 0),
        (Scalar::Sint32, WirePayload::Varint(bits)) => {
            let bits = bits as u32;
            Value::I32((bits >> 1) as i32 ^ -((bits & 1) as i32))
        }
        (Scalar::Sint64, WirePayload::Varint(bits)) => {
            Value::I64((bits >> 1) as i64 ^ -((bits & 1) as i64))
        }
        _ => return None,
    })
}
