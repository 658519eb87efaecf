//! What a value says, as a text that is the same for the same value.

use std::collections::BTreeMap;
use std::fmt::Write;

use abide_schema::value::{Codec, Message, Value};
use abide_schema::{Cardinality, Presence, Tree};

/// The fields of a value by number, maps by key, and of an Any what it holds.
pub(super) fn render_facts(tree: &Tree, message: &Message) -> String {
    let mut out = String::new();
    write(tree, &message.normalize(tree), &mut out);
    out
}

fn write(tree: &Tree, message: &Message, out: &mut String) {
    let codec = Codec::new(tree);
    let view = tree.message(message.ty);
    if view.full_name() == "google.protobuf.Any"
        && let Some(url) = message.get_str(tree, "type_url")
        && let Some(ty) = url.rsplit('/').next().and_then(|name| tree.message_named(name))
        && let Ok(content) = codec.decode(ty.id, any_bytes(tree, message))
    {
        let _ = write!(out, "({url})");
        write(tree, &content.normalize(tree), out);
        return;
    }
    out.push('{');
    for entries in message.entries.chunk_by(|a, b| a.field == b.field) {
        let field = tree.field(entries[0].field);
        // Bytes can hold the zero of a field without presence.
        if field.cardinality() == Cardinality::Singular
            && field.presence() == Presence::Implicit
            && entries.iter().all(|entry| entry.value.is_zero())
        {
            continue;
        }
        let _ = write!(out, "{}:", field.number());
        if field.cardinality() == Cardinality::Map {
            let pairs = entries.iter().filter_map(|entry| entry.value.as_message()).map(|pair| {
                let part = |number| {
                    let field = tree.message(pair.ty).field_numbered(number)?;
                    let zero = Value::new_zero(tree, field.ty());
                    let value = pair.find_by_number(tree, number).map(|entry| entry.value.clone());
                    Some(render_value(tree, &value.or(zero)?))
                };
                (part(1).unwrap_or_default(), part(2).unwrap_or_default())
            });
            let _ = write!(out, "{:?} ", pairs.collect::<BTreeMap<String, String>>());
            continue;
        }
        for entry in entries {
            out.push_str(&render_value(tree, &entry.value));
            out.push(' ');
        }
    }
    if !message.unknown.is_empty() {
        let _ = write!(out, "unknown {:?}", message.unknown);
    }
    out.push('}');
}

fn any_bytes<'m>(tree: &Tree, any: &'m Message) -> &'m [u8] {
    any.get(tree, "value").and_then(|entry| entry.value.as_bytes()).unwrap_or_default()
}

fn render_value(tree: &Tree, value: &Value) -> String {
    match value {
        Value::Message(message) => {
            let mut out = String::new();
            write(tree, message, &mut out);
            out
        }
        Value::F32(value) if value.is_nan() => "NaN".to_owned(),
        Value::F64(value) if value.is_nan() => "NaN".to_owned(),
        value => format!("{value:?}"),
    }
}
