//! The text notation. Source: "Text Format Language Specification" of the
//! protobuf documentation, and where that leaves a choice, the C++ runtime.

use std::borrow::Cow;

use abide_syntax::{Ast, Lexer, Span, SyntaxError, TokenKind, ValueKind};

use super::aggregate::{AggregateReader, URL_PREFIXES, is_any, is_group_like};
use super::codec::Codec;
use super::error::{DecodeError, Undeclared};
use super::facts::is_set;
use super::names::TreeNames;
use super::shortest::shortest;
use crate::decl::Text;
use crate::dynamic::{MAX_NESTING, Message, Value};
use crate::ids::MessageId;
use crate::tree::Tree;
use crate::view::{self, Cardinality};
use crate::wire::{Payload, WireReader};

/// What makes a text the value of an option, which the parser of proto files
/// reads.
const HEAD: &[u8] = b"option(x)={";
const TAIL: &[u8] = b"\n};";

/// A text that is parsed.
pub(crate) struct TextNode {
    text: Text,
    ast: Ast,
}

fn fail<T>(span: Span, message: impl Into<String>) -> Result<T, DecodeError> {
    let offset = (span.start as usize).saturating_sub(HEAD.len());
    Err(DecodeError { offset, message: message.into() })
}

/// Parses a text as the fields of a message.
pub(crate) fn parse(text: &[u8]) -> Result<TextNode, DecodeError> {
    if text.len() > u32::MAX as usize - HEAD.len() - TAIL.len() {
        return fail(Span::default(), "texts of more than four gigabytes are not read");
    }
    let mut whole = [HEAD, text, TAIL].concat();
    blank_what_is_text_only(&mut whole);
    let (ast, errors) = abide_syntax::parse(&whole);
    if let Some(SyntaxError { span, message, .. }) = errors.into_iter().next() {
        // What is missing at the end is missed behind it.
        let end = (HEAD.len() + text.len()) as u32;
        return fail(Span::at(span.start.min(end)), message);
    }
    // The option must end where the text does, and nowhere before.
    match (ast.options.as_slice(), ast.decls.as_slice()) {
        ([option], [_]) => {
            let value = ast.values[option.value as usize];
            let end = (whole.len() - 1) as u32;
            if value.kind == ValueKind::Message && value.span.end == end {
                return Ok(TextNode { text: whole.into(), ast });
            }
            fail(Span::at(value.span.end), "a brace is closed that was not opened")
        }
        ([first, ..], _) => {
            let end = ast.values[first.value as usize].span.end;
            fail(Span::at(end.saturating_sub(1)), "a brace is closed that was not opened")
        }
        ([], _) => fail(Span::default(), "the text holds no fields"),
    }
}

/// Replaces what proto files do not know by spaces: comments from `#` on and
/// the `f` behind a number.
fn blank_what_is_text_only(text: &mut [u8]) {
    let mut at = HEAD.len() as u32;
    loop {
        let token = Lexer::new(text, at).next_token();
        at = token.span.end;
        match token.kind {
            TokenKind::End => return,
            TokenKind::Symbol(b'#') => {
                let rest = &mut text[token.span.start as usize..];
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                rest[..length].fill(b' ');
            }
            TokenKind::NumberTouchesIdent => {
                if let [number @ .., last @ (b'f' | b'F')] = &mut text[token.span.range()]
                    && !number.iter().any(|byte| matches!(byte, b'a'..=b'd' | b'f'..=b'z' | b'_'))
                {
                    *last = b' ';
                }
            }
            _ => {}
        }
    }
}

impl Codec<'_> {
    /// Reads a message in text format. Required fields may be missing, as on
    /// the wire.
    ///
    /// # Errors
    /// Malformed text, values that do not fit their fields, singular fields
    /// and oneofs that are set twice, nesting deeper than [`MAX_NESTING`].
    pub fn read_text(
        self,
        ty: MessageId,
        text: &[u8],
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        self.read_text_node(ty, &parse(text)?, undeclared)
    }

    /// Reads a message from text that is parsed already.
    pub(crate) fn read_text_node(
        self,
        ty: MessageId,
        node: &TextNode,
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        let mut reader = AggregateReader {
            tree: self.tree,
            ast: &node.ast,
            text: &node.text,
            finder: TreeNames(self.tree),
            ignore_undeclared: undeclared == Undeclared::Ignore,
            faults: Vec::new(),
        };
        let Some(option) = node.ast.options.first() else { return Ok(Message::new(ty)) };
        let mut message = reader.message(option.value, ty);
        match reader.faults.into_iter().next() {
            Some(fault) => {
                let help = fault.help.map(|help| format!("; {help}")).unwrap_or_default();
                fail(fault.span, format!("{}{help}", fault.message))
            }
            None => {
                shift(&mut message);
                Ok(message)
            }
        }
    }

    /// The message in text format, one field on each line: fields by number,
    /// extensions in brackets, values of `google.protobuf.Any` spelled out
    /// where their type is known, and unknown fields by their numbers, which
    /// cannot be read back.
    pub fn to_text(self, message: &Message) -> String {
        let mut printer = TextPrinter { tree: self.tree, out: String::new() };
        printer.fields(&message.normalized(self.tree), 0);
        printer.out
    }
}

/// Moves places to where they are in the text without [`HEAD`].
fn shift(message: &mut Message) {
    let moved = |span: Span| {
        let back = |at: u32| at.saturating_sub(HEAD.len() as u32);
        Span::new(back(span.start), back(span.end))
    };
    for entry in &mut message.entries {
        (entry.key, entry.span) = (moved(entry.key), moved(entry.span));
        if let Value::Message(inner) = &mut entry.value {
            shift(inner);
        }
    }
}

struct TextPrinter<'t> {
    tree: &'t Tree,
    out: String,
}

impl<'t> TextPrinter<'t> {
    fn indent(&mut self, depth: u32) {
        (0..depth).for_each(|_| self.out.push_str("  "));
    }

    /// Prints `key { … }`.
    fn block(&mut self, key: &str, depth: u32, fill: impl FnOnce(&mut Self)) {
        self.indent(depth);
        self.out.push_str(key);
        self.out.push_str(" {\n");
        fill(self);
        self.indent(depth);
        self.out.push_str("}\n");
    }

    fn line(&mut self, key: &str, depth: u32, value: &str) {
        self.indent(depth);
        self.out.extend([key, ": ", value, "\n"]);
    }

    /// Prints the fields of a message that is normalized.
    fn fields(&mut self, message: &Message, depth: u32) {
        let tree = self.tree;
        let view = tree.message(message.ty);
        if is_any(view)
            && let Some((key, content)) = self.any(message, depth)
        {
            self.block(&key, depth, |it| it.fields(&content, depth + 1));
            return;
        }
        for entry in &message.entries {
            let field = tree.field(entry.field);
            let singular = field.cardinality() == Cardinality::Singular && !view.is_map_entry();
            if singular && !is_set(field, &entry.value) {
                continue;
            }
            let key = match field.message_type() {
                _ if field.is_extension() => Cow::Owned(format!("[{}]", field.full_name())),
                Some(group) if is_group_like(field) => Cow::Borrowed(group.name()),
                _ => Cow::Borrowed(field.name()),
            };
            match &entry.value {
                Value::Message(inner) => self.block(&key, depth, |it| it.fields(inner, depth + 1)),
                value => {
                    let value = self.scalar(field, value);
                    self.line(&key, depth, &value);
                }
            }
        }
        self.unknown(&message.unknown, depth, 0);
    }

    /// What an Any holds, behind its type URL, where that can be read back.
    fn any(&mut self, message: &Message, depth: u32) -> Option<(String, Message)> {
        let tree = self.tree;
        if depth >= MAX_NESTING || !message.unknown.is_empty() {
            return None;
        }
        let url = message.numbered(tree, 1)?.value.as_str()?;
        let ty = TreeNames(tree).of_url(url)?;
        let host = &url[..=url.rfind('/')?];
        let bytes = message.numbered(tree, 2).and_then(|entry| entry.value.as_bytes());
        let content = Codec::new(tree).decode(ty, bytes.unwrap_or_default()).ok()?;
        URL_PREFIXES.contains(&host).then(|| (format!("[{url}]"), content.normalized(tree)))
    }

    fn scalar(&mut self, field: view::Field<'t>, value: &Value) -> String {
        match value {
            Value::Bool(value) => value.to_string(),
            Value::I32(value) => value.to_string(),
            Value::I64(value) => value.to_string(),
            Value::U32(value) => value.to_string(),
            Value::U64(value) => value.to_string(),
            Value::F32(value) if value.is_finite() => shortest(value),
            Value::F64(value) if value.is_finite() => shortest(value),
            Value::F32(value) => non_finite((*value).into()).to_owned(),
            Value::F64(value) => non_finite(*value).to_owned(),
            Value::String(text) => quote(text.as_bytes(), true),
            Value::Bytes(bytes) => quote(bytes, false),
            Value::Enum(number) => {
                let item = field.enum_type();
                match item.and_then(|item| item.value_numbered(*number)) {
                    Some(value) => value.name().to_owned(),
                    None => number.to_string(),
                }
            }
            Value::Message(_) => String::new(),
        }
    }

    /// Prints serialised fields; bytes that are themselves fields count as a
    /// message, as in the C++ runtime.
    fn unknown(&mut self, bytes: &[u8], depth: u32, level: u32) {
        let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
        while let Ok(Some(record)) = reader.next_record() {
            let key = record.number.to_string();
            match record.payload {
                Payload::Varint(value) => self.line(&key, depth, &value.to_string()),
                Payload::Fixed32(value) => self.line(&key, depth, &format!("{value:#010x}")),
                Payload::Fixed64(value) => self.line(&key, depth, &format!("{value:#018x}")),
                Payload::Group(span) if level < MAX_NESTING => {
                    self.block(&key, depth, |it| it.unknown(span.of(bytes), depth + 1, level + 1));
                }
                Payload::Bytes(span) if level < MAX_NESTED_GUESSES && is_fields(span.of(bytes)) => {
                    self.block(&key, depth, |it| it.unknown(span.of(bytes), depth + 1, level + 1));
                }
                Payload::Bytes(span) | Payload::Group(span) => {
                    self.line(&key, depth, &quote(span.of(bytes), false));
                }
            }
        }
    }
}

/// Bytes are guessed to be messages this deep, as in the C++ runtime.
const MAX_NESTED_GUESSES: u32 = 10;

/// Whether bytes may well be a serialised message.
fn is_fields(bytes: &[u8]) -> bool {
    let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
    while let Ok(record) = reader.next_record() {
        if record.is_none() {
            return !bytes.is_empty();
        }
    }
    false
}

fn non_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}

/// Bytes in quotes; those of UTF-8 as they are where they are text.
fn quote(bytes: &[u8], utf8: bool) -> String {
    let mut quoted: Vec<u8> = vec![b'"'];
    for &byte in bytes {
        match byte {
            b'\n' => quoted.extend(b"\\n"),
            b'\r' => quoted.extend(b"\\r"),
            b'\t' => quoted.extend(b"\\t"),
            b'"' | b'\'' | b'\\' => quoted.extend([b'\\', byte]),
            b' '..=b'~' => quoted.push(byte),
            0x80.. if utf8 => quoted.push(byte),
            _ => quoted.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    quoted.push(b'"');
    String::from_utf8_lossy(&quoted).into_owned()
}
