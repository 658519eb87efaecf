//! A value without what an older release of its API does not know.

use abide_schema::Tree;
use abide_schema::value::{Codec, Entry, MAX_NESTING, Message, Value};

/// The value without the fields that `theirs` does not declare, whose names are
/// added to `dropped`.
///
/// # Errors
/// What cannot be dropped without another meaning: a type in an Any, a value of an
/// enum and a member of a oneof that `theirs` does not declare. One phrase.
pub(super) fn cap(
    newest: &Tree,
    theirs: &Tree,
    message: &Message,
    dropped: &mut Vec<String>,
) -> Result<Message, String> {
    Cap { newest, theirs, dropped }.message(message, 0)
}

struct Cap<'a> {
    newest: &'a Tree,
    theirs: &'a Tree,
    dropped: &'a mut Vec<String>,
}

impl Cap<'_> {
    fn message(&mut self, message: &Message, depth: u32) -> Result<Message, String> {
        if depth > MAX_NESTING {
            return Err("messages nest too deeply".to_owned());
        }
        let name = self.newest.message(message.ty).full_name();
        if name == "google.protobuf.Any" {
            return self.any(message, depth);
        }
        let Some(known) = self.theirs.message_named(&name) else {
            return Err(format!("these clients do not know the type `{name}`"));
        };
        let mut capped = Message::new(message.ty);
        capped.unknown = message.unknown.clone();
        for entry in &message.entries {
            let field = self.newest.field(entry.field);
            let number = field.number();
            let is_known = field.is_extension() || known.fields().any(|it| it.number() == number);
            if !is_known && field.real_oneof().is_some() {
                return Err(format!("these clients do not know `{}`", field.full_name()));
            }
            if !is_known {
                self.dropped.push(field.full_name());
                continue;
            }
            if let (Value::Enum(number), Some(item)) = (&entry.value, field.enum_type()) {
                let value = item.value_numbered(*number);
                let has = |it: abide_schema::Enum<'_>| it.value_numbered(*number).is_some();
                let theirs = known.fields().find(|it| it.number() == field.number());
                if let (Some(value), Some(theirs)) = (value, theirs.and_then(|it| it.enum_type()))
                    && !has(theirs)
                {
                    return Err(format!("these clients do not know `{}`", value.full_name()));
                }
            }
            let value = match &entry.value {
                Value::Message(inner) => Value::Message(Box::new(self.message(inner, depth + 1)?)),
                value => value.clone(),
            };
            capped.entries.push(Entry { value, ..*entry });
        }
        Ok(capped)
    }

    fn any(&mut self, message: &Message, depth: u32) -> Result<Message, String> {
        let url = message.str(self.newest, "type_url").unwrap_or_default();
        let name = url.rsplit('/').next().unwrap_or(url);
        let Some(ty) = self.newest.message_named(name) else { return Ok(message.clone()) };
        let codec = Codec::new(self.newest);
        let bytes = message.get(self.newest, "value").and_then(|it| it.value.as_bytes());
        let content = codec.decode(ty.id, bytes.unwrap_or_default());
        let content = content.map_err(|error| format!("an Any holds no `{name}`: {error}"))?;
        let content = self.message(&content, depth + 1)?;
        let mut capped = message.clone();
        capped.content = None;
        for entry in &mut capped.entries {
            if self.newest.field(entry.field).name() == "value" {
                entry.value = Value::Bytes(codec.encode(&content).into());
            }
        }
        Ok(capped)
    }
}
