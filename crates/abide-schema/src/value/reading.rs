//! The result of reading a value from a text.

use abide_syntax::Span;

use super::error::DecodeError;
use crate::dynamic::{Message, Value};
use crate::ids::{EnumId, FieldId, MessageId};

/// A value that was read from a text, and all that is wrong with the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The value, as far as it could be read. Its entries have the places of keys and values, in
    /// the order of the text; zeros that the text sets are among them, also of
    /// fields without presence, and what an Any holds is in
    /// [`content`](Message::content).
    pub message: Message,
    /// The errors, in the order of the text.
    pub errors: Vec<ReadError>,
    /// The leniencies, which only the reader that was asked for accepts, in the order of the text:
    /// no errors, but other readers refuse it.
    pub leniencies: Vec<ReadError>,
    /// The names that the tree does not declare, in the order of the text,
    /// whether they are refused or passed over.
    pub undeclared: Vec<UndeclaredName>,
}

impl Reading {
    /// A value that was read without an error.
    pub fn from_message(message: Message) -> Reading {
        let (errors, liberties, undeclared) = (Vec::new(), Vec::new(), Vec::new());
        Reading { message, errors, leniencies: liberties, undeclared }
    }

    /// Moves every place to where it stands in another text.
    pub fn move_spans(&mut self, place: &dyn Fn(Span) -> Span) {
        move_message_spans(&mut self.message, place);
        for error in self.errors.iter_mut().chain(&mut self.leniencies) {
            error.move_spans(place);
        }
        for name in &mut self.undeclared {
            name.key = place(name.key);
            name.value = place(name.value);
        }
    }

    /// The value, as a reader has it that refuses what has any error.
    ///
    /// # Errors
    /// The first error: of the syntax, else of a value.
    pub fn into_result(self) -> Result<Message, DecodeError> {
        let syntax = self.errors.iter().find(|error| error.kind == ReadErrorKind::Syntax);
        match syntax.or(self.errors.first()) {
            None => Ok(self.message),
            Some(error) => {
                let help = error.help.iter().map(|help| format!("; {help}"));
                let message = std::iter::once(error.message.clone()).chain(help).collect();
                Err(DecodeError { offset: error.span.start as usize, message })
            }
        }
    }
}

fn move_message_spans(message: &mut Message, place: &dyn Fn(Span) -> Span) {
    for entry in &mut message.entries {
        entry.key = place(entry.key);
        entry.span = place(entry.span);
        if let Value::Message(inner) = &mut entry.value {
            move_message_spans(inner, place);
        }
    }
    if let Some(content) = &mut message.content {
        move_message_spans(content, place);
    }
}

/// Something in a text that is no value of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The kind of the error.
    pub kind: ReadErrorKind,
    /// Its place.
    pub span: Span,
    /// One lower-case phrase.
    pub message: String,
    /// Advice on how to mend it.
    pub help: Option<String>,
    /// Another place that explains it, and what is there.
    pub related: Option<(Span, String)>,
    /// The field whose value it is in; `None` outside of all fields.
    pub field: Option<FieldId>,
}

impl ReadError {
    /// Moves its places to where they stand in another text.
    pub fn move_spans(&mut self, place: &dyn Fn(Span) -> Span) {
        self.span = place(self.span);
        if let Some((other, _)) = &mut self.related {
            *other = place(*other);
        }
    }

    /// An error without help and another place.
    pub fn new(kind: ReadErrorKind, span: Span, message: impl Into<String>) -> ReadError {
        ReadError { kind, span, message: message.into(), help: None, related: None, field: None }
    }
}

/// The kind of an error in a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadErrorKind {
    /// It is malformed whatever its type is.
    Syntax,
    /// A key or the name of an extension that the type does not have.
    UnknownField,
    /// A name or number that an enum does not declare.
    UnknownEnumValue,
    /// A value of another type.
    WrongType,
    /// A value of the right type that is malformed or out of its range.
    InvalidValue,
    /// A field or key that is set twice, or a second member of a oneof.
    Duplicate,
    /// An Any whose type is not known.
    TypeNotFound,
    /// A required field that is missing.
    MissingRequired,
    /// Messages that nest too deeply.
    TooDeep,
    /// No error: what only a lenient reader takes.
    Leniency,
}

/// A name in a text that the tree does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredName {
    /// The type that lacks it.
    pub lacked_by: UnknownName,
    /// The name as it is written; of an extension, with its brackets in JSON
    /// and without them in text format.
    pub name: String,
    /// The place of the name.
    pub key: Span,
    /// The place of the value that it names; for an enum value, of the name.
    pub value: Span,
}

/// A type that lacks a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named as the type it holds")]
pub enum UnknownName {
    Message(MessageId),
    Enum(EnumId),
}
