//! A value without what some clients do not know.

use abide_instance::{Translator, Way};
use abide_schema::value::{Codec, Entry, MAX_NESTING, Message, Value};
use abide_schema::{Field, Tree};

use crate::negotiation::ClientProfile;

/// Leaves out what some clients do not know.
pub(super) struct UnknownFieldFilter<'a> {
    pub(super) newest: &'a Tree,
    /// The API of their release.
    pub(super) theirs: &'a Tree,
    pub(super) terms: &'a ClientProfile,
    pub(super) translator: &'a Translator<'a>,
    /// The full names of what was left out.
    pub(super) dropped: &'a mut Vec<String>,
}

/// Something without which a value has another meaning.
struct Unknown {
    /// Its full name.
    element: String,
    /// The reason why these clients cannot have it, one phrase.
    reason: String,
}

impl Unknown {
    fn of(element: String) -> Unknown {
        let reason = format!("these clients do not know `{element}`");
        Unknown { element, reason }
    }
}

impl UnknownFieldFilter<'_> {
    /// The value without the fields that these clients do not know.
    ///
    /// # Errors
    /// What cannot be left out without another meaning: a type in an Any, a value of an enum and a
    /// member of a oneof. One phrase.
    pub(super) fn of(mut self, message: &Message) -> Result<Message, String> {
        self.message(message, 0).map_err(|it| it.reason)
    }

    fn message(&mut self, message: &Message, depth: u32) -> Result<Message, Unknown> {
        let name = self.newest.message(message.ty).full_name();
        if depth > MAX_NESTING {
            let reason = "messages nest too deeply".to_owned();
            return Err(Unknown { element: name, reason });
        }
        if name == "google.protobuf.Any" {
            return self.any(message, depth);
        }
        let Some(known) = self.theirs.message_named(&name) else {
            let reason = format!("these clients do not know the type `{name}`");
            return Err(Unknown { element: name, reason });
        };
        let mut capped = Message::new(message.ty);
        capped.unknown = message.unknown.clone();
        for entry in &message.entries {
            let field = self.newest.field(entry.field);
            let theirs = known.field_numbered(field.number());
            if !field.is_extension() && theirs.is_none() {
                if field.real_oneof().is_some() {
                    return Err(Unknown::of(field.full_name()));
                }
                self.dropped.push(field.full_name());
                continue;
            }
            let before = self.dropped.len();
            match self.value(entry, field, theirs, depth) {
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
    fn value(
        &mut self,
        entry: &Entry,
        field: Field<'_>,
        theirs: Option<Field<'_>>,
        depth: u32,
    ) -> Result<Value, Unknown> {
        match &entry.value {
            Value::Message(inner) => Ok(Value::Message(Box::new(self.message(inner, depth + 1)?))),
            Value::Enum(number) => {
                let value = field.enum_type().and_then(|it| it.value_numbered(*number));
                let theirs = theirs.and_then(Field::enum_type);
                match (value, theirs) {
                    (Some(value), Some(theirs)) if theirs.value_numbered(*number).is_none() => {
                        Err(Unknown::of(value.full_name()))
                    }
                    _ => Ok(entry.value.clone()),
                }
            }
            value => Ok(value.clone()),
        }
    }

    fn any(&mut self, message: &Message, depth: u32) -> Result<Message, Unknown> {
        let url = message.get_str(self.newest, "type_url").unwrap_or_default();
        let (prefix, name) = url.rsplit_once('/').unwrap_or(("type.googleapis.com", url));
        let Some(ty) = self.newest.message_named(name) else { return Ok(message.clone()) };
        let codec = Codec::new(self.newest);
        let bytes = message.get(self.newest, "value").and_then(|it| it.value.as_bytes());
        let content = codec.decode(ty.id, bytes.unwrap_or_default()).map_err(|error| Unknown {
            element: name.to_owned(),
            reason: format!("an Any holds no `{name}`: {error}"),
        })?;
        let content = match self.terms.lacks(ty) {
            true => self.older(&content)?,
            false => content,
        };
        let content = self.message(&content, depth + 1)?;
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
    fn older(&mut self, content: &Message) -> Result<Message, Unknown> {
        let mut older = content.clone();
        while let Some(major) = self.translator.major_before(older.ty) {
            let translated = self.translator.translate(&older, &Way::Down(major), false);
            if translated.message.ty == older.ty {
                break;
            }
            self.dropped.extend(translated.losses.into_iter().map(|it| it.element));
            older = translated.message;
            let is_complete = self.translator.is_known(&older);
            if self.terms.has(self.newest.message(older.ty)) && is_complete {
                return Ok(older);
            }
        }
        let element = self.newest.message(content.ty).full_name();
        let reason = format!("these clients do not have the extension of `{element}`");
        Err(Unknown { element, reason })
    }
}

/// Returns true if a value says itself that readers may go on without it.
fn is_optional(tree: &Tree, value: &Value) -> bool {
    value.as_message().is_some_and(|it| it.get_bool(tree, "is_optional") == Some(true))
}
