//! The text notation. Source: "Text Format Language Specification" of the
//! protobuf documentation; where it leaves a choice, the C++ runtime.

use std::borrow::Cow;

use abide_syntax::{Ast, Lexer, Span, SyntaxError, TokenKind, ValueId, ValueKind, parse_fields};

use super::aggregate::{AggregateReader, URL_PREFIXES, is_any, is_group_like};
use super::codec::Codec;
use super::error::UndeclaredPolicy;
use super::facts::is_set;
use super::names::TreeNames;
use super::reading::{ReadError, ReadErrorKind, Reading};
use super::shortest::shortest;
use crate::decl::FileText;
use crate::dynamic::{MAX_NESTING, Message, Value};
use crate::ids::MessageId;
use crate::protobuf::{WirePayload, WireReader};
use crate::tree::view;
use crate::tree::{Cardinality, Tree};

/// A text that is parsed.
pub(crate) struct TextNode {
    text: FileText,
    ast: Ast,
    errors: Vec<ReadError>,
}

impl TextNode {
    /// The messages that a message holds in the field with this name.
    fn find_messages<'n>(
        &'n self,
        message: ValueId,
        name: &'n str,
    ) -> impl Iterator<Item = ValueId> + 'n {
        let ast = &self.ast;
        let kind = |value: ValueId| ast.values[value as usize].kind;
        let fields = ast.value_children(message).filter(move |field| match kind(*field) {
            ValueKind::Field { key, .. } => key.str(&self.text) == name,
            _ => false,
        });
        let values = fields.flat_map(move |field| {
            let value = field + 1;
            let elements = (kind(value) == ValueKind::List).then(|| ast.value_children(value));
            let alone = elements.is_none().then_some(value);
            alone.into_iter().chain(elements.into_iter().flatten())
        });
        values.filter(move |value| kind(*value) == ValueKind::Message)
    }
}

/// Parses a text as the fields of a message.
pub(crate) fn parse(text: &[u8]) -> TextNode {
    if text.len() > u32::MAX as usize {
        let message = "texts over four gigabytes are not supported";
        let errors = vec![ReadError::new(ReadErrorKind::Syntax, Span::default(), message)];
        return TextNode { text: Vec::new().into(), ast: Ast::default(), errors };
    }
    let mut text = text.to_vec();
    let foreign = strip_comments(&mut text).foreign;
    let (ast, errors) = parse_fields(&text);
    let error = |error: SyntaxError| ReadError {
        help: error.help.map(str::to_owned),
        related: error.related.map(|(span, text)| (span, text.to_owned())),
        ..ReadError::new(ReadErrorKind::Syntax, error.span, error.message)
    };
    let comments = foreign.into_iter().map(|span| ReadError {
        help: Some("begin the comment with `#`".to_owned()),
        ..ReadError::new(ReadErrorKind::Syntax, span, "text format has no such comments")
    });
    let errors = errors.into_iter().map(error).chain(comments).collect();
    TextNode { text: text.into(), ast, errors }
}

/// The comments of a text, in their order, with the sign that begins them.
pub fn find_comments(text: &[u8]) -> Vec<Span> {
    strip_comments(&mut text.to_vec()).own
}

/// The places of the comments of a text.
#[derive(Default)]
struct TextComments {
    own: Vec<Span>,
    /// Those of proto files, which text format does not have.
    foreign: Vec<Span>,
}

/// Replaces what proto files do not have: comments that start with `#`, and the `f`
/// after a number. Returns the comments.
fn strip_comments(text: &mut [u8]) -> TextComments {
    let mut comments = TextComments::default();
    let mut at = 0;
    loop {
        let token = Lexer::new(text, at).next_token();
        let gap = &text[at as usize..token.span.start as usize];
        if let Some(slash) = memchr::memchr(b'/', gap) {
            comments.foreign.push(Span::new(at + slash as u32, token.span.start));
        }
        at = token.span.end;
        match token.kind {
            TokenKind::End => return comments,
            TokenKind::Symbol(b'#') => {
                let rest = &mut text[token.span.start as usize..];
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                rest[..length].fill(b' ');
                comments.own.push(Span::new(token.span.start, token.span.start + length as u32));
            }
            TokenKind::NumberTouchesIdent => {
                if let [number @ .., last @ (b'f' | b'F')] = &mut text[token.span.range()]
                    && !number.iter().any(|byte| matches!(byte, b'a'..=b'd' | b'f'..=b'z' | b'_'))
                {
                    // What looks like an integer is a float all the same.
                    let is_integer = number.iter().all(u8::is_ascii_digit);
                    *last = if is_integer { b'.' } else { b' ' };
                }
            }
            _ => {}
        }
    }
}

impl Codec<'_> {
    /// Reads a message in text format. Required fields may be missing, as on
    /// the wire, but not inside of an Any, as in the C++ runtime.
    ///
    /// All errors of values are found, and those of the syntax up to
    /// [`MAX_ERRORS`](abide_syntax::MAX_ERRORS): a malformed field is left out
    /// and reading goes on behind it.
    pub fn read_text(self, ty: MessageId, text: &[u8], undeclared: UndeclaredPolicy) -> Reading {
        self.read_text_node(ty, &parse(text), undeclared)
    }

    /// Reads the messages that stand at a path of field names, each as a value of `ty`, whatever the
    /// type around them is; names have dots between them, and a repeated field stands for all its
    /// elements. With the place of each; errors of the syntax are in the first.
    pub fn read_text_at(
        self,
        ty: MessageId,
        text: &[u8],
        path: &str,
        undeclared: UndeclaredPolicy,
    ) -> Vec<(Span, Reading)> {
        let node = parse(text);
        let mut found: Vec<ValueId> = node.ast.values.first().map(|_| 0).into_iter().collect();
        for name in path.split('.').filter(|it| !it.is_empty()) {
            found = found.iter().flat_map(|value| node.find_messages(*value, name)).collect();
        }
        let mut readings: Vec<(Span, Reading)> = Vec::new();
        for value in found {
            let span = node.ast.values[value as usize].span;
            readings.push((span, self.read_text_value(ty, &node, value, undeclared)));
        }
        if let Some((_, first)) = readings.first_mut() {
            first.errors.splice(..0, node.errors);
        }
        readings
    }

    /// Reads a message from text that is parsed already.
    pub(crate) fn read_text_node(
        self,
        ty: MessageId,
        node: &TextNode,
        undeclared: UndeclaredPolicy,
    ) -> Reading {
        let mut reading = self.read_text_value(ty, node, 0, undeclared);
        reading.errors.extend(node.errors.iter().cloned());
        reading.errors.sort_by_key(|error| error.span.start);
        reading
    }

    fn read_text_value(
        self,
        ty: MessageId,
        node: &TextNode,
        value: ValueId,
        undeclared: UndeclaredPolicy,
    ) -> Reading {
        let mut reader = AggregateReader {
            tree: self.tree,
            ast: &node.ast,
            text: &node.text,
            finder: TreeNames(self.tree),
            ignore_undeclared: undeclared == UndeclaredPolicy::Ignore,
            as_written: true,
            faults: Vec::new(),
            max_faults: usize::MAX,
            undeclared: Vec::new(),
        };
        let message = match node.ast.values.get(value as usize) {
            Some(_) => reader.read_message(value, ty),
            None => Message::new(ty),
        };
        let faults = reader.faults.into_iter().map(|fault| ReadError {
            help: fault.help,
            related: fault.label,
            field: fault.field,
            ..ReadError::new(fault.reason, fault.span, fault.message)
        });
        let errors = faults.collect();
        Reading { errors, undeclared: reader.undeclared, ..Reading::from_message(message) }
    }

    /// The message in text format, one field on each line: fields by number,
    /// extensions in brackets, values of `google.protobuf.Any` spelled out
    /// where their type is known, and unknown fields by their numbers, which
    /// cannot be read back.
    pub fn to_text(self, message: &Message) -> String {
        let mut printer = TextPrinter { tree: self.tree, out: String::new() };
        printer.write_fields(&message.normalize(self.tree), 0);
        printer.out
    }
}

struct TextPrinter<'t> {
    tree: &'t Tree,
    out: String,
}

impl<'t> TextPrinter<'t> {
    fn write_indent(&mut self, depth: u32) {
        (0..depth).for_each(|_| self.out.push_str("  "));
    }

    /// Prints `key { … }`.
    fn write_block(&mut self, key: &str, depth: u32, fill: impl FnOnce(&mut Self)) {
        self.write_indent(depth);
        self.out.push_str(key);
        self.out.push_str(" {\n");
        fill(self);
        self.write_indent(depth);
        self.out.push_str("}\n");
    }

    fn write_line(&mut self, key: &str, depth: u32, value: &str) {
        self.write_indent(depth);
        self.out.extend([key, ": ", value, "\n"]);
    }

    /// Prints the fields of a message that is normalized.
    fn write_fields(&mut self, message: &Message, depth: u32) {
        let tree = self.tree;
        let view = tree.message(message.ty);
        if is_any(view)
            && let Some((key, content)) = self.read_any(message, depth)
        {
            self.write_block(&key, depth, |it| it.write_fields(&content, depth + 1));
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
                Value::Message(inner) => {
                    self.write_block(&key, depth, |it| it.write_fields(inner, depth + 1))
                }
                value => {
                    let value = self.format_scalar(field, value);
                    self.write_line(&key, depth, &value);
                }
            }
        }
        self.write_unknown(&message.unknown, depth, 0);
    }

    /// The type URL and the content of an Any, if they can be read back.
    fn read_any(&mut self, message: &Message, depth: u32) -> Option<(String, Message)> {
        let tree = self.tree;
        if depth >= MAX_NESTING || !message.unknown.is_empty() {
            return None;
        }
        let url = message.find_by_number(tree, 1)?.value.as_str()?;
        let ty = TreeNames(tree).find_by_url(url)?;
        let host = &url[..=url.rfind('/')?];
        let bytes = message.find_by_number(tree, 2).and_then(|entry| entry.value.as_bytes());
        let content = Codec::new(tree).decode(ty, bytes.unwrap_or_default()).ok()?;
        URL_PREFIXES.contains(&host).then(|| (format!("[{url}]"), content.normalize(tree)))
    }

    fn format_scalar(&mut self, field: view::Field<'t>, value: &Value) -> String {
        match value {
            Value::Bool(value) => value.to_string(),
            Value::I32(value) => value.to_string(),
            Value::I64(value) => value.to_string(),
            Value::U32(value) => value.to_string(),
            Value::U64(value) => value.to_string(),
            Value::F32(value) if value.is_finite() => shortest(value),
            Value::F64(value) if value.is_finite() => shortest(value),
            Value::F32(value) => format_non_finite((*value).into()).to_owned(),
            Value::F64(value) => format_non_finite(*value).to_owned(),
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

    /// Prints serialised fields. Bytes that can be read as fields are printed as
    /// a message, as in the C++ runtime.
    fn write_unknown(&mut self, bytes: &[u8], depth: u32, level: u32) {
        let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
        while let Ok(Some(record)) = reader.next_record() {
            let key = record.number.to_string();
            match record.payload {
                WirePayload::Varint(value) => self.write_line(&key, depth, &value.to_string()),
                WirePayload::Fixed32(value) => {
                    self.write_line(&key, depth, &format!("{value:#010x}"))
                }
                WirePayload::Fixed64(value) => {
                    self.write_line(&key, depth, &format!("{value:#018x}"))
                }
                WirePayload::Group(span) if level < MAX_NESTING => {
                    self.write_block(&key, depth, |it| {
                        it.write_unknown(span.of(bytes), depth + 1, level + 1)
                    });
                }
                WirePayload::Bytes(span)
                    if level < MAX_NESTED_GUESSES && is_fields(span.of(bytes)) =>
                {
                    self.write_block(&key, depth, |it| {
                        it.write_unknown(span.of(bytes), depth + 1, level + 1)
                    });
                }
                WirePayload::Bytes(span) | WirePayload::Group(span) => {
                    self.write_line(&key, depth, &quote(span.of(bytes), false));
                }
            }
        }
    }
}

/// The depth down to which bytes are guessed to be messages, as in the C++ runtime.
const MAX_NESTED_GUESSES: u32 = 10;

/// Returns true if bytes look like a serialised message.
fn is_fields(bytes: &[u8]) -> bool {
    let mut reader = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
    while let Ok(record) = reader.next_record() {
        if record.is_none() {
            return !bytes.is_empty();
        }
    }
    false
}

fn format_non_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}

/// Bytes in quotes; UTF-8 text is not escaped.
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
