//! Decodes the protobuf wire format, with names for fields.
//!
//! The oracle has its own decoder, so that it does not repeat mistakes of Abide's.

use std::collections::BTreeMap;

use abide_harness::Result;

/// One value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// The bytes between the start and the end of a group.
    Group(&'a [u8]),
    Fixed32(u32),
}

impl<'a> Value<'a> {
    /// The content of a string, bytes, message or group.
    pub(crate) fn content(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) | Value::Group(bytes) => Some(bytes),
            Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => None,
        }
    }
}

/// Splits a message into its fields, in wire order.
pub(crate) fn read_fields(mut bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = read_varint(&mut bytes)?;
        out.push((u32::try_from(key >> 3)?, read_value(key, &mut bytes)?));
    }
    Ok(out)
}

fn read_value<'a>(key: u64, bytes: &mut &'a [u8]) -> Result<Value<'a>> {
    Ok(match key & 7 {
        0 => Value::Varint(read_varint(bytes)?),
        1 => Value::Fixed64(u64::from_le_bytes(take(bytes, 8)?.try_into()?)),
        2 => {
            let length = usize::try_from(read_varint(bytes)?)?;
            Value::Bytes(take(bytes, length)?)
        }
        3 => {
            let start = *bytes;
            loop {
                let end = start.len() - bytes.len();
                match read_varint(bytes)? {
                    inner if inner == key + 1 => return Ok(Value::Group(&start[..end])),
                    inner => read_value(inner, bytes)?,
                };
            }
        }
        5 => Value::Fixed32(u32::from_le_bytes(take(bytes, 4)?.try_into()?)),
        wire_type => return Err(format!("unexpected wire type {wire_type}").into()),
    })
}

fn read_varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut out = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        out |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(out);
        }
    }
    Err("a varint is longer than ten bytes".into())
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (head, tail) =
        bytes.split_at_checked(length).ok_or("a value is shorter than its length")?;
    *bytes = tail;
    Ok(head)
}

/// All varints of a packed field.
pub(crate) fn read_packed(mut bytes: &[u8]) -> Result<Vec<u64>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        out.push(read_varint(&mut bytes)?);
    }
    Ok(out)
}

/// The only string with that number, or nothing.
pub(crate) fn read_string(message: &[u8], number: u32) -> Result<Option<&str>> {
    read_strings(message, number).map(|all| all.last().copied())
}

/// All strings with that number.
pub(crate) fn read_strings(message: &[u8], number: u32) -> Result<Vec<&str>> {
    read_messages(message, number)?
        .into_iter()
        .map(|bytes| Ok(std::str::from_utf8(bytes)?))
        .collect()
}

/// The content of all length-delimited fields with that number.
pub(crate) fn read_messages(message: &[u8], number: u32) -> Result<Vec<&[u8]>> {
    let named = read_fields(message)?.into_iter().filter(|(found, _)| *found == number);
    Ok(named.filter_map(|(_, value)| value.content()).collect())
}

/// A field from a descriptor.
pub(crate) struct Field {
    /// The name; that of an extension is in parentheses, as in an option.
    pub(crate) name: String,
    pub(crate) repeated: bool,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Scalar,
    /// Varints in one length-delimited value.
    Packed,
    /// The full name of the message type.
    Message(String),
}

/// The fields of every message that a set of descriptors defines, by number.
#[derive(Default)]
pub(crate) struct Schema {
    messages: BTreeMap<String, BTreeMap<u32, Field>>,
}

impl Schema {
    /// Adds the messages and extensions of a FileDescriptorProto.
    ///
    /// The numbers are those of `google/protobuf/descriptor.proto`, from which
    /// everything else gets its names.
    pub(crate) fn add_file(&mut self, file: &[u8]) -> Result<()> {
        let package = read_string(file, 2)?.unwrap_or_default();
        for message in read_messages(file, 4)? {
            self.add_message(package, message)?;
        }
        self.add_extensions(package, read_messages(file, 7)?)
    }

    fn add_message(&mut self, scope: &str, message: &[u8]) -> Result<()> {
        let name = qualify_name(scope, read_string(message, 1)?.unwrap_or_default());
        for field in read_messages(message, 2)? {
            let (number, field) = describe_field(field, None)?;
            self.messages.entry(name.clone()).or_default().insert(number, field);
        }
        for nested in read_messages(message, 3)? {
            self.add_message(&name, nested)?;
        }
        self.add_extensions(&name, read_messages(message, 6)?)
    }

    fn add_extensions(&mut self, scope: &str, extensions: Vec<&[u8]>) -> Result<()> {
        for extension in extensions {
            let extendee = read_string(extension, 2)?.unwrap_or_default().trim_start_matches('.');
            let (number, field) = describe_field(extension, Some(scope))?;
            self.messages.entry(extendee.to_owned()).or_default().insert(number, field);
        }
        Ok(())
    }

    pub(crate) fn field(&self, message: &str, number: u32) -> Option<&Field> {
        self.messages.get(message)?.get(&number)
    }
}

/// A field from a FieldDescriptorProto; the scope is set for an extension.
fn describe_field(field: &[u8], extension_scope: Option<&str>) -> Result<(u32, Field)> {
    const LABEL_REPEATED: u64 = 3;
    const TYPE_GROUP: u64 = 10;
    const TYPE_MESSAGE: u64 = 11;
    /// double, float, fixed64, fixed32, sfixed32, sfixed64
    const FIXED: [u64; 6] = [1, 2, 6, 7, 15, 16];
    let (mut number, mut label, mut kind, mut is_packed) = (0, 0, 0, false);
    for (field, value) in read_fields(field)? {
        match (field, value) {
            (3, Value::Varint(value)) => number = u32::try_from(value)?,
            (4, Value::Varint(value)) => label = value,
            (5, Value::Varint(value)) => kind = value,
            (8, Value::Bytes(options)) => {
                is_packed = read_fields(options)?.contains(&(2, Value::Varint(1)));
            }
            _ => {}
        }
    }
    let name = read_string(field, 1)?.unwrap_or_default();
    let type_name = read_string(field, 6)?.unwrap_or_default().trim_start_matches('.');
    let field = Field {
        name: extension_scope
            .map_or(name.to_owned(), |scope| format!("({})", qualify_name(scope, name))),
        repeated: label == LABEL_REPEATED,
        kind: match kind {
            TYPE_GROUP | TYPE_MESSAGE => Kind::Message(type_name.to_owned()),
            _ if is_packed && !FIXED.contains(&kind) => Kind::Packed,
            _ => Kind::Scalar,
        },
    };
    Ok((number, field))
}

fn qualify_name(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::{Value, read_fields, read_packed};

    #[test]
    fn every_wire_type_is_split() {
        let bytes = [
            0x08, 0x96, 0x01, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x1a, 2, b'h', b'i', 0x23, 0x08, 1,
            0x24, 0x2d, 7, 0, 0, 0,
        ];
        let expected = [
            (1, Value::Varint(150)),
            (2, Value::Fixed64(1)),
            (3, Value::Bytes(b"hi")),
            (4, Value::Group(&[0x08, 1])),
            (5, Value::Fixed32(7)),
        ];
        assert_eq!(read_fields(&bytes).unwrap(), expected);
        assert_eq!(read_packed(&[4, 0x80, 1]).unwrap(), [4, 128]);
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for bytes in [&[0x08][..], &[0x1a, 5, 1], &[0x23, 0x08, 1], &[0x0f], &[0xff; 11]] {
            assert!(read_fields(bytes).is_err(), "{bytes:?}");
        }
    }
}
