//! A set of facts about one thing, and how each is written.

use abide_schema::value::Value;
use abide_schema::{File, Message, Parent, Type};
use sha2::{Digest, Sha256};

use super::SemanticHash;

/// The facts of one thing as they come, in one buffer that is used again for
/// the next thing.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// All lines, in the order they came, without line feeds.
    text: String,
    /// Where each line ends in it.
    ends: Vec<u32>,
    /// What stands before the next option: its holder, then its path.
    pub(super) path: String,
    order: Vec<Line>,
    sorted: Vec<u8>,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Its first bytes as a number: in the order of the lines, where they differ.
    begin: u64,
    start: u32,
    end: u32,
}

impl Line {
    fn of(text: &[u8], start: u32, end: u32) -> Line {
        let line = &text[start as usize..end as usize];
        let mut begin = [0; 8];
        let length = line.len().min(8);
        begin[..length].copy_from_slice(&line[..length]);
        Line { begin: u64::from_be_bytes(begin), start, end }
    }
}

impl Facts {
    /// Forgets all facts and keeps the room.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Writes a part of the line that is open.
    pub(super) fn push(&mut self, text: &str) -> &mut Facts {
        self.text.push_str(text);
        self
    }

    /// Writes a number.
    pub(super) fn number(&mut self, number: i64) -> &mut Facts {
        push_number(&mut self.text, number);
        self
    }

    /// Writes a text in quotes.
    pub(super) fn quoted(&mut self, text: &[u8]) -> &mut Facts {
        push_quoted(&mut self.text, text, std::str::from_utf8(text).is_err());
        self
    }

    /// Writes what is no text in full.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut String)) -> &mut Facts {
        write(&mut self.text);
        self
    }

    /// Writes the path of an option, which is the begin of its line.
    pub(super) fn push_path(&mut self) -> &mut Facts {
        self.text.push_str(&self.path);
        self
    }

    /// Ends the line.
    pub(super) fn end(&mut self) {
        self.ends.push(self.text.len() as u32);
    }

    /// The facts in the order they came.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.text[start as usize..end as usize])
    }

    /// The title and the facts, as they are hashed.
    pub(super) fn finish(&mut self, title: &str) -> &[u8] {
        let text = self.text.as_bytes();
        let mut start = 0;
        self.order.clear();
        self.order.extend(
            self.ends.iter().map(|&end| Line::of(text, std::mem::replace(&mut start, end), end)),
        );
        let line = |line: &Line| &text[line.start as usize..line.end as usize];
        self.order
            .sort_unstable_by(|a, b| a.begin.cmp(&b.begin).then_with(|| line(a).cmp(line(b))));
        self.order.dedup_by(|a, b| a.begin == b.begin && line(a) == line(b));
        self.sorted.clear();
        self.sorted.extend_from_slice(title.as_bytes());
        for at in &self.order {
            self.sorted.push(b'\n');
            self.sorted.extend_from_slice(line(at));
        }
        self.sorted.push(b'\n');
        &self.sorted
    }

    /// The hash of the title and the facts.
    pub(super) fn hash(&mut self, title: &str) -> SemanticHash {
        SemanticHash(Sha256::digest(self.finish(title)).into())
    }
}

/// Appends a decimal number.
pub(super) fn push_number(out: &mut String, number: i64) {
    let mut digits = [0; 20];
    let mut rest = number.unsigned_abs();
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

fn push_hex(out: &mut String, bytes: impl IntoIterator<Item = u8>) {
    for byte in bytes {
        let digits = super::hex(byte);
        out.extend(digits.map(char::from));
    }
}

/// Appends the digits of a hash.
pub(super) fn push_hash(out: &mut String, hash: SemanticHash) {
    out.push_str(hash.digits(&mut [0; 64]));
}

/// Appends bytes as a hexadecimal number.
pub(super) fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.push_str("0x");
    push_hex(out, bytes.iter().copied());
}

/// Appends a text in quotes; `ascii` also escapes all that lies beyond.
fn push_quoted(out: &mut String, text: &[u8], ascii: bool) {
    out.push('"');
    let escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || ascii && byte >= 0x7f;
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.iter().position(|&byte| escaped(byte)).unwrap_or(rest.len());
        // Only where all of it is escaped is anything not UTF-8.
        out.push_str(std::str::from_utf8(&rest[..plain]).unwrap_or_default());
        rest = &rest[plain..];
        if let Some((&byte, behind)) = rest.split_first() {
            match byte {
                b'"' | b'\\' => {
                    out.push('\\');
                    out.push(byte.into());
                }
                _ => {
                    out.push_str("\\x");
                    push_hex(out, [byte]);
                }
            }
            rest = behind;
        }
    }
    out.push('"');
}

/// Appends a value that is no message.
pub(super) fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::I32(value) | Value::Enum(value) => push_number(out, (*value).into()),
        Value::I64(value) => push_number(out, *value),
        Value::U32(value) => push_number(out, (*value).into()),
        Value::U64(value) => match i64::try_from(*value) {
            Ok(value) => push_number(out, value),
            Err(_) => out.push_str(&value.to_string()),
        },
        Value::F32(value) => {
            let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
            push_bytes(out, &bits.to_be_bytes());
        }
        Value::F64(value) => {
            let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
            push_bytes(out, &bits.to_be_bytes());
        }
        Value::String(value) => push_quoted(out, value.as_bytes(), false),
        Value::Bytes(value) => push_quoted(out, value, true),
        Value::Message(_) => out.push_str("{}"),
    }
}

/// Appends the full name of what is declared in a scope of a file.
pub(super) fn push_full_name(
    out: &mut String,
    file: File<'_>,
    scope: Option<Message<'_>>,
    name: &str,
) {
    let start = out.len();
    match scope {
        Some(message) => push_full_name(out, file, message.parent(), message.name()),
        None => out.push_str(file.package().name()),
    }
    if out.len() > start {
        out.push('.');
    }
    out.push_str(name);
}

/// Appends the full name of a message.
pub(super) fn push_message_name(out: &mut String, message: Message<'_>) {
    push_full_name(out, message.file(), message.parent(), message.name());
}

/// Appends the full name of a message or an enum with its noun, or a scalar.
pub(super) fn push_type(out: &mut String, file: File<'_>, ty: Type, written: &str) {
    match ty {
        Type::Scalar(scalar) => out.push_str(scalar.keyword()),
        Type::Message(id) => {
            out.push_str("message ");
            push_message_name(out, file.tree.message(id));
        }
        Type::Enum(id) => {
            let item = file.tree.enumeration(id);
            out.push_str("enum ");
            push_full_name(out, item.file(), item.parent(), item.name());
        }
        Type::Unresolved => {
            out.push_str("unresolved ");
            out.push_str(written.trim_start_matches('.'));
        }
    }
}

/// What encloses a declaration of a file.
pub(super) fn scope(file: File<'_>, parent: Parent) -> Option<Message<'_>> {
    match parent {
        Parent::File => None,
        Parent::Message(index) => {
            Some(file.tree.message(abide_schema::MessageId { file: file.id, index }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_specified() {
        for (value, written) in [
            (Value::Bool(true), "true"),
            (Value::I64(i64::MIN), "-9223372036854775808"),
            (Value::U64(u64::MAX), "18446744073709551615"),
            (Value::I32(0), "0"),
            (Value::Enum(-7), "-7"),
            (Value::F32(1.0), "0x3f800000"),
            (Value::F32(-f32::NAN), "0x7fc00000"),
            (Value::F64(-0.0), "0x8000000000000000"),
            (Value::F64(f64::NAN), "0x7ff8000000000000"),
            (Value::String("a\"b\\c\n\u{7f}é".into()), "\"a\\\"b\\\\c\\x0a\u{7f}é\""),
            (Value::Bytes((*b"a\x00\x7f\xff").into()), "\"a\\x00\\x7f\\xff\""),
        ] {
            let mut out = String::new();
            push_value(&mut out, &value);
            assert_eq!(out, written);
        }
    }

    #[test]
    fn facts_are_a_sorted_set() {
        let mut facts = Facts::default();
        for fact in ["b", "a\u{1}", "a", "b", ""] {
            facts.push(fact).end();
        }
        assert_eq!(facts.finish("t"), b"t\n\na\na\x01\nb\n");
        facts.clear();
        assert_eq!(facts.finish("t"), b"t\n");
    }
}
