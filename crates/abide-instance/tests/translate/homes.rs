//! What becomes of every field and enum value of the older major of an API, as a table.

use std::fmt::Write;

use abide_instance::{Direction, VersionConverter};
use abide_schema::value::{Entry, Message as MessageValue, Value};
use abide_schema::{Field, Message, Scalar, Tree, Type};

/// Writes the table of all messages of packages below a major: a line for each message with the number
/// of values that keep their places, and one for each value that does not.
pub(crate) fn write_homes(tree: &Tree, converter: &VersionConverter<'_>, major: u32) -> String {
    let mut out = String::new();
    let mut messages: Vec<Message<'_>> = tree
        .files()
        .filter(|file| file.package().name().starts_with("envoy."))
        .filter(|file| file.package().version().is_some_and(|it| it.major < major))
        .flat_map(|file| file.all_messages())
        .filter(|it| !it.is_map_entry())
        .collect();
    messages.sort_by_key(|it| it.full_name());
    for message in messages {
        let versions = converter.collect_versions(message.id);
        let newest = versions.last().filter(|it| **it != message.id);
        let Some(newest) = newest.map(|it| tree.message(*it)) else {
            let _ = writeln!(out, "{}: a loss wherever it stands", message.full_name());
            continue;
        };
        let (mut kept, mut others) = (0, String::new());
        for field in message.fields() {
            for (name, value) in sample_values(tree, field) {
                match describe_home(tree, converter, field, value, newest) {
                    None => kept += 1,
                    Some(text) => {
                        let _ = writeln!(others, "  {}{name}: {text}", field.name());
                    }
                }
            }
        }
        let _ = writeln!(out, "{} -> {}: {kept} kept", message.full_name(), newest.full_name());
        out.push_str(&others);
    }
    out
}

/// A value of a field for each that it may have by name, with that name.
fn sample_values(tree: &Tree, field: Field<'_>) -> Vec<(String, Value)> {
    let one = |value| vec![(String::new(), value)];
    match field.ty() {
        Type::Enum(item) => tree
            .enumeration(item)
            .values()
            .map(|it| (format!("={}", it.name()), Value::Enum(it.number())))
            .collect(),
        Type::Message(ty) => {
            let mut inside = MessageValue::new(ty);
            let pair = tree.message(ty).is_map_entry();
            let parts = tree.message(ty).fields().filter(|_| pair);
            inside.entries = parts
                .filter_map(|it| Some(Entry::new(it.id, sample_values(tree, it).pop()?.1)))
                .collect();
            one(Value::Message(Box::new(inside)))
        }
        Type::Scalar(Scalar::String) => one(Value::String("x".into())),
        Type::Scalar(Scalar::Bool) => one(Value::Bool(true)),
        Type::Scalar(Scalar::Bytes) => one(Value::Bytes(b"x".to_vec().into())),
        Type::Scalar(Scalar::Double) => one(Value::F64(1.5)),
        Type::Scalar(Scalar::Float) => one(Value::F32(1.5)),
        Type::Scalar(Scalar::Uint32 | Scalar::Fixed32) => one(Value::U32(1)),
        Type::Scalar(Scalar::Uint64 | Scalar::Fixed64) => one(Value::U64(1)),
        Type::Scalar(Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32) => one(Value::I32(1)),
        Type::Scalar(_) => one(Value::I64(1)),
        Type::Unresolved => Vec::new(),
    }
}

/// What becomes of a value that does not keep its place; `None` if it does. The places are those of a
/// second reading: numbers and names of both messages, without what the converter knows.
fn describe_home(
    tree: &Tree,
    converter: &VersionConverter<'_>,
    field: Field<'_>,
    value: Value,
    newest: Message<'_>,
) -> Option<String> {
    let parent = field.containing_message()?;
    let mut message = MessageValue::new(parent.id);
    message.entries.push(Entry::new(field.id, value.clone()));
    let made = converter.convert(&message, &Direction::Up(None), true);
    let losses = made.losses.iter().map(|it| {
        let help = it.help.as_deref().unwrap_or("NO ADVICE");
        format!("{} ({help})", it.message)
    });
    let losses: Vec<String> = losses.collect();
    if !losses.is_empty() {
        return Some(format!("loss: {}", losses.join("; ")));
    }
    let home = newest.field_numbered(field.number());
    let is_home = |it: &&Entry| home.is_some_and(|home| home.id == it.field);
    let same = made.message.entries.iter().find(is_home);
    let means_same = |it: &Entry| match (&value, &it.value) {
        (Value::Enum(old), Value::Enum(new)) => old == new,
        _ => true,
    };
    if same.is_some_and(means_same) {
        return None;
    }
    let changes = made.changes.iter().filter(|it| !it.old.is_empty()).map(|it| it.new.as_str());
    let changes: Vec<&str> = changes.filter(|it| !it.is_empty()).collect();
    let is_named = !made.changes.is_empty();
    Some(match changes.is_empty() {
        false => format!("becomes {}", changes.join(", ")),
        true if same.is_some() => {
            let number = same.and_then(|it| it.value.as_i64()).unwrap_or_default();
            let named = home.and_then(|it| it.enum_type()?.value_numbered(number as i32));
            let named = named.map_or("another value", |it| it.name());
            let _ = tree;
            format!("becomes {named}")
        }
        true if is_named => "left out: it means nothing any more".to_owned(),
        true => "SILENT".to_owned(),
    })
}
