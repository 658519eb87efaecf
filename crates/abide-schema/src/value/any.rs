//! Opens what a `google.protobuf.Any` holds as bytes.

use super::aggregate::is_any;
use super::codec::Codec;
use super::names::TreeNames;
use super::reading::{ReadError, ReadErrorKind, Reading};
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};

impl Codec<'_> {
    /// Reads the values that each `google.protobuf.Any` of a reading holds as bytes into its
    /// [`content`](Message::content), at any depth. Of those that cannot be read, the reading has
    /// an error in the place of the Any's type.
    pub fn open_any(self, reading: &mut Reading) {
        self.open(&mut reading.message, 0, &mut reading.errors);
    }

    fn open(self, message: &mut Message, depth: u32, errors: &mut Vec<ReadError>) {
        if depth > 2 * MAX_NESTING {
            return;
        }
        if is_any(self.tree.message(message.ty)) && message.content.is_none() {
            match self.read_content(message) {
                Ok(content) => message.content = content.map(Box::new),
                Err(error) => errors.push(error),
            }
        }
        if let Some(content) = &mut message.content {
            self.open(content, depth + 1, errors);
            return;
        }
        for entry in &mut message.entries {
            if let Value::Message(inner) = &mut entry.value {
                let before = errors.len();
                self.open(inner, depth + 1, errors);
                let found = errors.iter_mut().skip(before).filter(|it| it.field.is_none());
                found.for_each(|error| error.field = Some(entry.field));
            }
        }
    }

    /// The value in an Any; nothing if it is empty.
    fn read_content(self, any: &Message) -> Result<Option<Message>, ReadError> {
        let Some(url) = any.find_by_number(self.tree, 1) else { return Ok(None) };
        let name = url.value.as_str().unwrap_or_default();
        let Some(ty) = TreeNames(self.tree).find_by_url(name) else {
            let text = format!("`{name}` is not a known message type");
            return Err(ReadError::new(ReadErrorKind::TypeNotFound, url.span, text));
        };
        let bytes = any.find_by_number(self.tree, 2);
        let (place, bytes) = match bytes {
            Some(Entry { span, value, .. }) => (*span, value.as_bytes().unwrap_or_default()),
            None => (url.span, &[][..]),
        };
        let content = self.decode(ty, bytes).map_err(|error| {
            let text = format!("the value of a `{name}` is malformed: {}", error.message);
            ReadError::new(ReadErrorKind::InvalidValue, place, text)
        })?;
        Ok(Some(content))
    }
}
