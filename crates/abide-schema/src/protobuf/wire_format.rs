//! The protobuf wire format over byte slices.
//!
//! Source: "Encoding" in the protobuf documentation. Offsets and spans count
//! from the beginning of the whole buffer, also inside nested messages, so
//! that an error and a kept part of it say where they stand.

use std::fmt;

use abide_syntax::Span;

/// Groups and messages may nest this deep, as in the protobuf runtimes.
pub(crate) const MAX_DEPTH: u32 = 100;

/// Bytes that are not the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The offset of the first byte that is wrong.
    pub offset: u32,
    /// One lower-case phrase.
    pub message: &'static str,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)
    }
}

impl std::error::Error for WireError {}

/// One field of a serialised message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireRecord {
    /// The field number.
    pub(crate) number: u32,
    /// Its value.
    pub(crate) payload: WirePayload,
    /// From the tag to the end of the value.
    pub(crate) span: Span,
}

/// The value of a [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WirePayload {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2: where the bytes stand, without their length.
    Bytes(Span),
    /// Wire types 3 and 4: where the fields of the group stand.
    Group(Span),
    /// Wire type 5.
    Fixed32(u32),
}

/// Reads the fields of a message one after the other.
#[derive(Clone, Debug)]
pub(crate) struct WireReader<'b> {
    bytes: &'b [u8],
    at: usize,
    end: usize,
}

impl<'b> WireReader<'b> {
    /// Over the part of `bytes` that holds a message.
    pub(crate) fn new(bytes: &'b [u8], span: Span) -> WireReader<'b> {
        let end = (span.end as usize).min(bytes.len());
        WireReader { bytes, at: (span.start as usize).min(end), end }
    }

    /// The next field; `None` at the end of the message.
    ///
    /// # Errors
    /// Truncated values, field number 0, wire types 6 and 7, groups that do
    /// not end or nest deeper than [`MAX_DEPTH`].
    pub(crate) fn next_record(&mut self) -> Result<Option<WireRecord>, WireError> {
        self.record(MAX_DEPTH)
    }

    /// The next number without a tag, as in a packed field; `None` at the end.
    ///
    /// # Errors
    /// A number that is cut off or longer than ten bytes.
    pub(crate) fn next_varint(&mut self) -> Result<Option<u64>, WireError> {
        if self.at == self.end { Ok(None) } else { self.read_varint().map(Some) }
    }

    fn record(&mut self, depth: u32) -> Result<Option<WireRecord>, WireError> {
        if self.at == self.end {
            return Ok(None);
        }
        let start = self.at;
        let (number, wire_type) = self.read_tag()?;
        let payload = match wire_type {
            0 => WirePayload::Varint(self.read_varint()?),
            1 => WirePayload::Fixed64(u64::from_le_bytes(self.read_fixed()?)),
            2 => {
                let at = self.at;
                let length = self.read_varint()?;
                let left = (self.end - self.at) as u64;
                if length > left {
                    return Err(self.error(at, "the length is past the end"));
                }
                let from = self.at;
                self.at += length as usize;
                WirePayload::Bytes(to_span(from, self.at))
            }
            3 => WirePayload::Group(self.group(start, number, depth)?),
            4 => return Err(self.error(start, "the end of a group that was not started")),
            5 => WirePayload::Fixed32(u32::from_le_bytes(self.read_fixed()?)),
            _ => return Err(self.error(start, "unknown wire type")),
        };
        Ok(Some(WireRecord { number, payload, span: to_span(start, self.at) }))
    }

    /// Passes the fields of a group and its end.
    fn group(&mut self, opening: usize, number: u32, depth: u32) -> Result<Span, WireError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error(opening, "groups nest too deep"));
        };
        let from = self.at;
        loop {
            if self.at == self.end {
                return Err(self.error(opening, "the group is not closed"));
            }
            let at = self.at;
            let (closed, wire_type) = self.read_tag()?;
            if wire_type == 4 {
                if closed != number {
                    return Err(self.error(at, "the end of a different group"));
                }
                return Ok(to_span(from, at));
            }
            self.at = at;
            self.record(depth)?;
        }
    }

    fn read_tag(&mut self) -> Result<(u32, u32), WireError> {
        let start = self.at;
        let Ok(tag) = u32::try_from(self.read_varint()?) else {
            return Err(self.error(start, "the field number is too large"));
        };
        if tag >> 3 == 0 {
            return Err(self.error(start, "the field number is 0"));
        }
        Ok((tag >> 3, tag & 7))
    }

    fn read_varint(&mut self) -> Result<u64, WireError> {
        let start = self.at;
        let mut value = 0;
        for (index, &byte) in self.bytes[start..self.end].iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.at = start + index + 1;
                return Ok(value);
            }
        }
        Err(self.error(start, "the number is truncated or too long"))
    }

    fn read_fixed<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.bytes[self.at..self.end].first_chunk() {
            Some(&chunk) => {
                self.at += N;
                Ok(chunk)
            }
            None => Err(self.error(self.at, "the number is truncated")),
        }
    }

    fn error(&self, offset: usize, message: &'static str) -> WireError {
        WireError { offset: offset as u32, message }
    }
}

/// The last value of a field that holds a number.
///
/// # Errors
/// Bytes that are not the wire format.
pub(crate) fn find_last_varint(
    bytes: &[u8],
    message: Span,
    number: u32,
) -> Result<Option<u64>, WireError> {
    let mut reader = WireReader::new(bytes, message);
    let mut last = None;
    while let Some(record) = reader.next_record()? {
        if let (true, WirePayload::Varint(value)) = (record.number == number, record.payload) {
            last = Some(value);
        }
    }
    Ok(last)
}

fn to_span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

/// Appends fields to a message that is being serialised.
#[derive(Clone, Debug, Default)]
pub(crate) struct WireWriter {
    bytes: Vec<u8>,
}

impl WireWriter {
    /// With room for so many bytes.
    pub(crate) fn with_capacity(capacity: usize) -> WireWriter {
        WireWriter { bytes: Vec::with_capacity(capacity) }
    }

    /// The serialised message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A number without a tag, as in a packed field.
    #[inline]
    pub(crate) fn write_raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Fields that are serialised already.
    pub(crate) fn write_raw(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(fields);
    }

    fn write_tag(&mut self, number: u32, wire_type: u32) {
        self.write_raw_varint(u64::from(number << 3 | wire_type));
    }

    /// An unsigned number, or a bool, or a number that is zigzag-encoded.
    pub(crate) fn write_varint(&mut self, number: u32, value: u64) {
        self.write_tag(number, 0);
        self.write_raw_varint(value);
    }

    /// An `int32`, an `int64` or an enum: negative numbers take ten bytes.
    pub(crate) fn write_int(&mut self, number: u32, value: impl Into<i64>) {
        self.write_varint(number, value.into() as u64);
    }

    /// Eight bytes.
    pub(crate) fn write_fixed64(&mut self, number: u32, value: u64) {
        self.write_tag(number, 1);
        self.write_raw(&value.to_le_bytes());
    }

    /// Four bytes.
    pub(crate) fn write_fixed32(&mut self, number: u32, value: u32) {
        self.write_tag(number, 5);
        self.write_raw(&value.to_le_bytes());
    }

    /// A string or bytes.
    pub(crate) fn write_bytes(&mut self, number: u32, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        self.write_tag(number, 2);
        self.write_raw_varint(value.len() as u64);
        self.write_raw(value);
    }

    /// A message, or the elements of a packed field, written by `fill`.
    #[inline]
    pub(crate) fn write_message(&mut self, number: u32, fill: impl FnOnce(&mut WireWriter)) {
        self.write_tag(number, 2);
        // Most messages are short: a byte is left for the length, and the message moves only if
        // that needs more.
        let start = self.bytes.len();
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - start - 1;
        match length < 0x80 {
            true => self.bytes[start] = length as u8,
            false => self.set_long_length(start, length),
        }
    }

    /// Writes a length that takes more than the byte that is left for it at `start`.
    #[inline(never)]
    fn set_long_length(&mut self, start: usize, mut length: usize) {
        let more = length.ilog2() as usize / 7;
        let end = self.bytes.len();
        self.bytes.resize(end + more, 0);
        self.bytes.copy_within(start + 1..end, start + 1 + more);
        for byte in &mut self.bytes[start..start + more] {
            *byte = length as u8 | 0x80;
            length >>= 7;
        }
        self.bytes[start + more] = length as u8;
    }

    /// Takes back all but the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// Returns the written bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A group, or a message in delimited encoding, written by `fill`.
    pub(crate) fn group(&mut self, number: u32, fill: impl FnOnce(&mut WireWriter)) {
        self.write_tag(number, 3);
        fill(self);
        self.write_tag(number, 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(bytes: &[u8]) -> Result<Vec<WireRecord>, WireError> {
        let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
        let mut records = Vec::new();
        while let Some(record) = reader.next_record()? {
            records.push(record);
        }
        Ok(records)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut writer = WireWriter::default();
        writer.write_int(1, -1);
        writer.write_varint(2, 300);
        writer.write_fixed32(3, 7);
        writer.write_fixed64(536_870_911, u64::MAX);
        writer.write_bytes(5, "text");
        writer.write_message(6, |inner| (0..200).for_each(|_| inner.write_raw_varint(1)));
        writer.group(7, |inner| inner.group(7, |inner| inner.write_varint(1, 0)));
        let bytes = writer.into_bytes();
        let payloads: Vec<_> =
            records(&bytes).unwrap().into_iter().map(|record| record.payload).collect();
        assert_eq!(payloads[0], WirePayload::Varint(u64::MAX));
        assert_eq!(payloads[1], WirePayload::Varint(300));
        assert_eq!(payloads[2], WirePayload::Fixed32(7));
        assert_eq!(payloads[3], WirePayload::Fixed64(u64::MAX));
        let WirePayload::Bytes(text) = payloads[4] else { panic!("bytes") };
        assert_eq!(text.of(&bytes), b"text");
        let WirePayload::Bytes(packed) = payloads[5] else { panic!("packed") };
        let mut reader = WireReader::new(&bytes, packed);
        let mut sum = 0;
        while let Some(value) = reader.next_varint().unwrap() {
            sum += value;
        }
        assert_eq!(sum, 200);
        let WirePayload::Group(group) = payloads[6] else { panic!("group") };
        assert_eq!(group.of(&bytes), [0x3b, 0x08, 0, 0x3c]);
    }

    #[test]
    fn malformed_bytes_are_refused_with_their_offset() {
        let cases: [(&[u8], u32); 10] = [
            (&[0x08], 1),
            (&[0x08, 0x80], 1),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 1),
            (&[0x00, 0x00], 0),
            (&[0x0a, 0x02, 0x00], 1),
            (&[0x0d, 0x00, 0x00], 1),
            (&[0x08, 0x00, 0x0c], 2),
            (&[0x0b, 0x08, 0x00], 0),
            (&[0x0b, 0x14], 1),
            (&[0x0f], 0),
        ];
        for (bytes, offset) in cases {
            assert_eq!(records(bytes).map_err(|error| error.offset), Err(offset), "{bytes:?}");
        }
    }

    #[test]
    fn groups_nest_only_so_deep() {
        let deep = |depth: usize| [vec![0x0b; depth], vec![0x0c; depth]].concat();
        assert!(records(&deep(MAX_DEPTH as usize)).is_ok());
        assert_eq!(
            records(&deep(MAX_DEPTH as usize + 1)).unwrap_err().message,
            "groups nest too deep"
        );
        assert!(records(&deep(1_000_000)).is_err());
    }
}
