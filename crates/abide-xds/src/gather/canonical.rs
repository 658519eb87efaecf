//! One serialisation for each meaning, so that equal resources have equal versions.

use abide_schema::value::{Codec, Entry, MAX_NESTING, Message, Value};
use abide_schema::{Cardinality, Tree};

/// An error of a value that has no canonical form.
#[derive(Debug, thiserror::Error)]
pub(super) enum CanonicalizeError {
    #[error("messages nest too deeply")]
    TooDeep,
    #[error("an Any does not hold a `{type_name}`: {reason}")]
    NotOfItsType { type_name: String, reason: String },
}

/// The same value, with the pairs of maps in the order of their bytes and whatever
/// is in an Any spelled out and serialised anew: two values that mean the same have
/// the same bytes.
///
/// # Errors
/// Messages that nest too deeply, and bytes in an Any that are no value of its type.
pub(super) fn canonicalize(tree: &Tree, message: &Message) -> Result<Message, CanonicalizeError> {
    canonicalize_message(tree, &message.normalize(tree), 0)
}

fn canonicalize_message(
    tree: &Tree,
    message: &Message,
    depth: u32,
) -> Result<Message, CanonicalizeError> {
    if depth > MAX_NESTING {
        return Err(CanonicalizeError::TooDeep);
    }
    if &*tree.message(message.ty).full_name() == "google.protobuf.Any" {
        return canonicalize_any(tree, message, depth);
    }
    let codec = Codec::new(tree);
    let mut settled = Message::new(message.ty);
    settled.unknown = message.unknown.clone();
    for entry in &message.entries {
        let value = match &entry.value {
            Value::Message(inner) => {
                Value::Message(Box::new(canonicalize_message(tree, inner, depth + 1)?))
            }
            value => value.clone(),
        };
        settled.entries.push(Entry { value, ..*entry });
    }
    let is_map = |entry: &Entry| tree.field(entry.field).cardinality() == Cardinality::Map;
    for run in settled.entries.chunk_by_mut(|a, b| a.field == b.field) {
        if run.first().is_some_and(is_map) {
            run.sort_by_cached_key(|it| it.value.as_message().map(|pair| codec.encode(pair)));
        }
    }
    Ok(settled)
}

/// Serialises the content of an Any anew. Its bytes may be any serialisation of it: protobuf
/// promises no canonical one, and programs in other languages order fields and maps differently.
fn canonicalize_any(
    tree: &Tree,
    message: &Message,
    depth: u32,
) -> Result<Message, CanonicalizeError> {
    let codec = Codec::new(tree);
    let ty = message.content.as_ref().map(|it| it.ty).or_else(|| {
        let url = message.get_str(tree, "type_url")?;
        Some(tree.message_named(url.rsplit('/').next()?)?.id)
    });
    let Some(ty) = ty else { return Ok(message.clone()) };
    let content = match &message.content {
        Some(content) => content.normalize(tree),
        None => {
            let bytes = message.get(tree, "value").and_then(|it| it.value.as_bytes());
            let decoded = codec.decode(ty, bytes.unwrap_or_default());
            decoded.map_err(|error| CanonicalizeError::NotOfItsType {
                type_name: tree.message(ty).full_name(),
                reason: error.to_string(),
            })?
        }
    };
    let content = canonicalize_message(tree, &content, depth + 1)?;
    let bytes = codec.encode(&content);
    let mut settled = message.clone();
    settled.entries.retain(|entry| tree.field(entry.field).name() != "value");
    if !bytes.is_empty() {
        let value = tree.message(message.ty).fields().find(|field| field.name() == "value");
        settled.entries.extend(value.map(|it| Entry::new(it.id, Value::Bytes(bytes.into()))));
    }
    settled.content = Some(Box::new(content));
    Ok(settled)
}
