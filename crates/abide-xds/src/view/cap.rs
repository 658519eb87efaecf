//! A value without what some clients do not know.

use abide_instance::{Direction, VersionConverter};
use abide_schema::value::{Codec, Entry, MAX_NESTING, Message, Value};
use abide_schema::{Field, Tree};

use crate::negotiation::ClientProfile;

/// Leaves out what some clients do not know.
pub(super) struct UnknownFieldFilter<'a> {
    pub(super) newest: &'a Tree,
    /// The API of their release.
    pub(super) theirs: &'a Tree,
    pub(super) terms: &'a ClientProfile,
    pub(super) translator: &'a VersionConverter<'a>,
    /// The full names of what was left out.
    pub(super) dropped: &'a mut Vec<String>,
}

/// Something without which a value has another meaning.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct UnknownElement {
    /// Its full name.
    element: String,
    /// An explanation why these clients cannot have it, one phrase.
    reason: String,
}

impl UnknownElement {
    fn new(element: String) -> UnknownElement {
        let reason = format!("these clients do not know `{element}`");
        UnknownElement { element, reason }
    }
}

impl UnknownFieldFilter<'_> {
    /// The value without the fields that these clients do not know.
    ///
    /// # Errors
    /// An element that cannot be left out without another meaning: a type in an Any, a value of an
    /// enum and a member of a oneof.
    pub(super) fn filter(mut self, message: &Message) -> Result<Message, UnknownElement> {
        self.filter_message(message, 0)
    }

    fn filter_message(&mut self, message: &Message, depth: u32) -> Result<Message, UnknownElement> {
        let name = self.newest.message(message.ty).full_name();
        if depth > MAX_NESTING {
            let reason = "messages nest too deeply".to_owned();
            return Err(UnknownElement { element: name, reason });
        }
        if name == "google.protobuf.Any" {
            return self.filter_any(message, depth);
        }
        let Some(known) = self.theirs.message_named(&name) else {
            let reason = format!("these clients do not know the type `{name}`");
            return Err(UnknownElement { element: name, reason });
        };
        let mut capped = Message::new(message.ty);
        capped.unknown = message.unknown.clone();
        for entry in &message.entries {
            let field = self.newest.field(entry.field);
            let theirs = known.field_numbered(field.number());
            if !field.is_extension() && theirs.is_none() {
                if field.real_oneof().is_some() {
                    return Err(UnknownElement::new(field.full_name()));
                }
                self.dropped.push(field.full_name());
                continue;
            }
            let before = self.dropped.len();
            match self.filter_value(entry, field, theirs, depth) {
                Ok(value) => capped.entries.push(Entry { value, ..*entry }),
                Err(unknown) if is_optional(self.newest, &entry.value) => {
                    self.dropped.truncate(before);
                    self.dropped.push(unknown.element);
                }
                Err(unknown) => return Err(unknown),
            }
        }
        Ok(capped)
    }

    /// The value of a field that these clients know.
    fn filter_value(
        &mut self,
        entry: &Entry,
        field: Field<'_>,
        theirs: Option<Field<'_>>,
        depth: u32,
    ) -> Result<Value, UnknownElement> {
        match &entry.value {
            Value::Message(inner) => {
                Ok(Value::Message(Box::new(self.filter_message(inner, depth + 1)?)))
            }
            Value::Enum(number) => {
                let value = field.enum_type().and_then(|it| it.value_numbered(*number));
                let theirs = theirs.and_then(Field::enum_type);
                match (value, theirs) {
                    (Some(value), Some(theirs)) if theirs.value_numbered(*number).is_none() => {
                        Err(UnknownElement::new(value.full_name()))
                    }
                    _ => Ok(entry.value.clone()),
                }
            }
            value => Ok(value.clone()),
        }
    }

    fn filter_any(&mut self, message: &Message, depth: u32) -> Result<Message, UnknownElement> {
        let url = message.get_str(self.newest, "type_url").unwrap_or_default();
        let (prefix, name) = url.rsplit_once('/').unwrap_or(("type.googleapis.com", url));
        let Some(ty) = self.newest.message_named(name) else { return Ok(message.clone()) };
        let codec = Codec::new(self.newest);
        let bytes = message.get(self.newest, "value").and_then(|it| it.value.as_bytes());
        let content =
            codec.decode(ty.id, bytes.unwrap_or_default()).map_err(|error| UnknownElement {
                element: name.to_owned(),
                reason: format!("an Any holds no `{name}`: {error}"),
            })?;
        let content = match self.terms.lacks(ty) {
            true => self.convert_to_older(&content)?,
            false => content,
        };
        let content = self.filter_message(&content, depth + 1)?;
        let mut capped = message.clone();
        capped.content = None;
        for entry in &mut capped.entries {
            match self.newest.field(entry.field).name() {
                "value" => entry.value = Value::Bytes(codec.encode(&content).into()),
                "type_url" if content.ty != ty.id => {
                    let name = self.newest.message(content.ty).full_name();
                    entry.value = Value::String(format!("{prefix}/{name}").into());
                }
                _ => {}
            }
        }
        Ok(capped)
    }

    /// The configuration of an extension in the newest major that these clients have.
    fn convert_to_older(&mut self, content: &Message) -> Result<Message, UnknownElement> {
        let mut older = content.clone();
        while let Some(major) = self.translator.find_previous_major(older.ty) {
            let translated = self.translator.convert(&older, &Direction::Down(major), false);
            if translated.message.ty == older.ty {
                break;
            }
            self.dropped.extend(translated.losses.into_iter().map(|it| it.element));
            older = translated.message;
            let is_complete = self.translator.is_known(&older);
            if self.terms.claims_extension(self.newest.message(older.ty)) && is_complete {
                return Ok(older);
            }
        }
        let element = self.newest.message(content.ty).full_name();
        let reason = format!("these clients do not have the extension of `{element}`");
        Err(UnknownElement { element, reason })
    }
}

/// Returns true if a value says itself that readers may go on without it.
fn is_optional(tree: &Tree, value: &Value) -> bool {
    value.as_message().is_some_and(|it| it.get_bool(tree, "is_optional") == Some(true))
}
