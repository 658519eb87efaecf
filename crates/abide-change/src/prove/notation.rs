//! Values written and read in each notation, as a runtime would.

use abide_schema::value::{self, Codec, Entry, UndeclaredPolicy, Value};
use abide_schema::{FieldId, MessageId, Tree};

use crate::surface::Surface;

pub(super) fn write(surface: Surface, tree: &Tree, value: &value::Message) -> Option<Vec<u8>> {
    match surface {
        Surface::Wire => Some(Codec::new(tree).encode(value)),
        Surface::Json => Codec::new(tree).to_json(value).ok().map(String::into_bytes),
        _ => Some(Codec::new(tree).to_text(value).into_bytes()),
    }
}

/// Reads a value like a runtime that enforces required fields.
pub(super) fn read(
    surface: Surface,
    tree: &Tree,
    ty: MessageId,
    bytes: &[u8],
) -> Result<value::Message, Rejection> {
    let message = parse(surface, tree, ty, bytes)?;
    match message.find_missing_required(tree) {
        Some(field) => Err(Rejection::Missing(field.id)),
        None => Ok(message),
    }
}

/// Reads a value whose required fields may be missing.
pub(super) fn parse(
    surface: Surface,
    tree: &Tree,
    ty: MessageId,
    bytes: &[u8],
) -> Result<value::Message, Rejection> {
    let read = match surface {
        Surface::Wire => Codec::new(tree).decode(ty, bytes),
        Surface::Json => {
            Codec::new(tree).read_json(ty, bytes, UndeclaredPolicy::Refuse).into_result()
        }
        _ => Codec::new(tree).read_text(ty, bytes, UndeclaredPolicy::Refuse).into_result(),
    };
    let message = read.map_err(|error| Rejection::Malformed(error.message))?;
    Ok(message.normalize(tree))
}

/// The reason for which a reader rejects a value.
pub(super) enum Rejection {
    Malformed(String),
    /// A required field.
    Missing(FieldId),
}

impl Rejection {
    pub(super) fn reason(self, tree: &Tree) -> String {
        match self {
            Rejection::Malformed(reason) => reason,
            Rejection::Missing(field) => {
                format!("the required field `{}` is missing", tree.field(field).name())
            }
        }
    }
}

/// The same value without source places.
pub(super) fn remove_spans(message: &value::Message) -> value::Message {
    let entries = message.entries.iter().map(|entry| {
        let value = match &entry.value {
            Value::Message(inner) => Value::Message(Box::new(remove_spans(inner))),
            value => value.clone(),
        };
        Entry::new(entry.field, value)
    });
    value::Message {
        entries: entries.collect(),
        unknown: message.unknown.clone(),
        ..value::Message::new(message.ty)
    }
}

/// Text with one name replaced by another; `None` if the first does not occur.
pub(super) fn replace_name(text: &[u8], printed: &str, name: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let at = text.rfind(printed)?;
    Some([&text[..at], name, &text[at + printed.len()..]].concat().into_bytes())
}
