//! A set of facts about one element, and how facts are written.

use std::cmp::Ordering;
use std::ops::Range;

use abide_schema::value::Value;
use abide_schema::{File, Message, Parent};
use sha2::{Digest, Sha256};

use crate::hash::{SemanticHash, to_hex};

/// The facts of one element in the order they are added, in a buffer that is
/// reused for the next element.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The title, and all lines in the order they were added, with line feeds.
    text: Vec<u8>,
    /// The start of the first line.
    head: u32,
    /// The start of the open line.
    open: u32,
    lines: Vec<FactLine>,
    /// True if some line does not sort after all lines before it.
    is_mixed: bool,
    /// The text before the next option: its holder, then its path.
    pub(crate) path: Vec<u8>,
    sorted: Vec<u8>,
}

/// The place of a line, with its line feed.
#[derive(Clone, Copy, Debug)]
struct FactLine {
    /// Its first bytes as a number, which sorts like the lines if they differ.
    begin: u128,
    start: u32,
    end: u32,
}

impl FactLine {
    fn of(text: &[u8], start: u32, end: u32) -> FactLine {
        let line = &text[start as usize..end as usize - 1];
        let begin = match line.first_chunk() {
            Some(begin) => *begin,
            None => {
                let mut begin = [0; 16];
                begin[..line.len()].copy_from_slice(line);
                begin
            }
        };
        FactLine { begin: u128::from_be_bytes(begin), start, end }
    }

    /// Without the line feed.
    fn text(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize - 1]
    }

    fn compare(self, other: FactLine, text: &[u8]) -> Ordering {
        self.begin.cmp(&other.begin).then_with(|| self.text(text).cmp(other.text(text)))
    }
}

impl Facts {
    /// Clears all facts, keeps the capacity, and begins those of another element.
    pub(crate) fn begin_block(&mut self, title: &str) {
        self.text.clear();
        push(&mut self.text, title);
        self.text.push(b'\n');
        self.head = self.text.len() as u32;
        self.open = self.head;
        self.lines.clear();
        self.is_mixed = false;
    }

    /// Writes a part of the open line.
    pub(crate) fn push(&mut self, text: &str) -> &mut Facts {
        push(&mut self.text, text);
        self
    }

    /// Writes a whole line that was a fact elsewhere.
    pub(crate) fn push_line(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.end();
    }

    /// Writes a number.
    pub(crate) fn append_number(&mut self, number: i64) -> &mut Facts {
        push_number(&mut self.text, number);
        self
    }

    /// Writes a text in quotes.
    pub(crate) fn append_quoted(&mut self, text: &str) -> &mut Facts {
        push_quoted(&mut self.text, text.as_bytes(), false);
        self
    }

    /// Writes bytes in quotes, which may be text.
    pub(crate) fn append_quoted_bytes(&mut self, text: &[u8]) -> &mut Facts {
        push_quoted(&mut self.text, text, std::str::from_utf8(text).is_err());
        self
    }

    /// Writes a part with a function.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Facts {
        write(&mut self.text);
        self
    }

    /// Writes the path of an option, which begins its line.
    pub(crate) fn push_path(&mut self) -> &mut Facts {
        self.text.extend_from_slice(&self.path);
        self
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) {
        let last = self.lines.last().copied();
        let line = self.close();
        self.is_mixed |= last.is_some_and(|last| last.compare(line, &self.text).is_ge());
        self.lines.push(line);
    }

    /// Ends the text of the open line.
    fn close(&mut self) -> FactLine {
        self.text.push(b'\n');
        let end = self.text.len() as u32;
        FactLine::of(&self.text, std::mem::replace(&mut self.open, end), end)
    }

    /// The number of lines.
    pub(crate) fn count(&self) -> usize {
        self.lines.len()
    }

    /// Joins lines from the `from`-th on for which `is_one` is true, in the order of
    /// their bytes. The first `holder` bytes, which they share, are written once.
    /// Such lines must be adjacent when sorted.
    pub(crate) fn join(
        &mut self,
        from: usize,
        holder: usize,
        is_one: impl Fn(&[u8], &[u8]) -> bool,
    ) {
        let text = &self.text;
        self.lines[from..].sort_unstable_by(|a, b| a.compare(*b, text));
        let (mut kept, mut at) = (from, from);
        while let Some(&first) = self.lines.get(at) {
            let mut next = at + 1;
            let text = |line: FactLine| &line.text(&self.text)[holder..];
            while self.lines.get(next).is_some_and(|it| is_one(text(first), text(*it))) {
                next += 1;
            }
            self.lines[kept] =
                if next == at + 1 { first } else { self.join_lines(at..next, holder) };
            kept += 1;
            at = next;
        }
        self.lines.truncate(kept);
    }

    /// Joins several sorted lines into one.
    fn join_lines(&mut self, range: Range<usize>, holder: usize) -> FactLine {
        // Their old text stays in the buffer, but no line refers to it.
        self.is_mixed = true;
        let mut last: Option<FactLine> = None;
        for at in range {
            let line = self.lines[at];
            let start = match last {
                None => line.start as usize,
                Some(last) if last.compare(line, &self.text).is_eq() => continue,
                Some(_) => {
                    push(&mut self.text, "; ");
                    line.start as usize + holder
                }
            };
            self.text.extend_from_within(start..line.end as usize - 1);
            last = Some(line);
        }
        self.close()
    }

    /// The facts in the order they were added, unless they were sorted.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| line.text(&self.text))
    }

    /// The title and the facts as hashed, a line for each.
    pub(crate) fn finish(&mut self) -> &[u8] {
        if !self.is_mixed {
            return &self.text;
        }
        let text = &self.text;
        // Facts are added in sorted runs, which a stable sort merges.
        self.lines.sort_by(|a, b| a.compare(*b, text));
        self.lines.dedup_by(|a, b| a.compare(*b, text).is_eq());
        self.sorted.clear();
        self.sorted.extend_from_slice(&text[..self.head as usize]);
        for line in &self.lines {
            self.sorted.extend_from_slice(&text[line.start as usize..line.end as usize]);
        }
        &self.sorted
    }

    /// The title and the facts as hashed, as text.
    pub(crate) fn print(&mut self) -> String {
        String::from_utf8_lossy(self.finish()).into_owned()
    }

    /// The hash of the title and the facts.
    pub(crate) fn hash(&mut self) -> SemanticHash {
        hash(self.finish())
    }
}

/// The hash of a title and of sorted facts, a line for each.
pub(crate) fn hash(text: &[u8]) -> SemanticHash {
    SemanticHash::new(Sha256::digest(text).into())
}

/// Appends a text.
pub(crate) fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Appends a decimal number.
pub(crate) fn push_number(out: &mut Vec<u8>, number: i64) {
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
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the digits of a hash.
pub(crate) fn push_hash(out: &mut Vec<u8>, hash: SemanticHash) {
    out.extend_from_slice(&hash.to_hex_digits());
}

/// Appends bytes as a hexadecimal number.
pub(crate) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push(out, "0x");
    out.extend(bytes.iter().flat_map(|&byte| to_hex(byte)));
}

/// Appends a text in quotes; `ascii` also escapes bytes that are not ASCII.
fn push_quoted(out: &mut Vec<u8>, text: &[u8], ascii: bool) {
    out.push(b'"');
    let escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || ascii && byte >= 0x7f;
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| escaped(byte)) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => out.extend([b'\\', byte]),
            byte => {
                push(out, "\\x");
                out.extend(to_hex(byte));
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a value that is not a message.
pub(crate) fn push_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Bool(value) => push(out, if *value { "true" } else { "false" }),
        Value::I32(value) | Value::Enum(value) => push_number(out, (*value).into()),
        Value::I64(value) => push_number(out, *value),
        Value::U32(value) => push_number(out, (*value).into()),
        Value::U64(value) => match i64::try_from(*value) {
            Ok(value) => push_number(out, value),
            Err(_) => push(out, &value.to_string()),
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
        Value::Message(_) => push(out, "{}"),
    }
}

/// The parts of the full name of an element declared in a scope of a file.
pub(crate) fn for_each_name_part(
    file: File<'_>,
    scope: Option<Message<'_>>,
    name: &str,
    put: &mut impl FnMut(&str),
) {
    match scope {
        Some(message) => {
            for_each_name_part(file, message.parent(), message.name(), put);
            put(".");
        }
        None if file.package().name().is_empty() => {}
        None => {
            put(file.package().name());
            put(".");
        }
    }
    put(name);
}

/// Appends the full name of an element declared in a scope of a file.
pub(crate) fn push_full_name(
    out: &mut Vec<u8>,
    file: File<'_>,
    scope: Option<Message<'_>>,
    name: &str,
) {
    for_each_name_part(file, scope, name, &mut |part| push(out, part));
}

/// Appends the full name of a message.
pub(crate) fn push_message_name(out: &mut Vec<u8>, message: Message<'_>) {
    push_full_name(out, message.file(), message.parent(), message.name());
}

/// The message that encloses a declaration of a file.
pub(crate) fn enclosing_message(file: File<'_>, parent: Parent) -> Option<Message<'_>> {
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
            let mut out = Vec::new();
            push_value(&mut out, &value);
            assert_eq!(String::from_utf8_lossy(&out), written);
        }
    }

    #[test]
    fn facts_are_a_sorted_set() {
        let mut facts = Facts::default();
        facts.begin_block("t");
        for fact in ["b", "a\u{1}", "a", "b", ""] {
            facts.push(fact).end();
        }
        assert_eq!(facts.print(), "t\n\na\na\u{1}\nb\n");
        facts.begin_block("title");
        assert_eq!(facts.print(), "title\n");
        for fact in ["a", "a\u{1}", "b"] {
            facts.push(fact).end();
        }
        assert_eq!(facts.print(), "title\na\na\u{1}\nb\n");
    }

    #[test]
    fn facts_that_belong_together_are_one() {
        let joined = |all: &[&str]| {
            let mut facts = Facts::default();
            facts.begin_block("t");
            facts.push("x: b0").end();
            let from = facts.count();
            for fact in all {
                facts.push("x: ").push(fact).end();
            }
            facts.join(from, "x: ".len(), |a, b| a.first() == b.first());
            facts.push("a").end();
            facts.print()
        };
        assert_eq!(joined(&[]), "t\na\nx: b0\n");
        assert_eq!(joined(&["b2", "c", "b1", "b2", "a"]), "t\na\nx: a\nx: b0\nx: b1; b2\nx: c\n");
        assert_eq!(joined(&["c", "c"]), "t\na\nx: b0\nx: c\n");
        assert_eq!(joined(&["c1", "c2"]), "t\na\nx: b0\nx: c1; c2\n");
    }
}
