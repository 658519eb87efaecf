//! Values of `google.protobuf.Struct` and `Value` as the JSON that they stand for, so that they can
//! be read as values of another message.

use std::borrow::Cow;

use abide_schema::Tree;
use abide_schema::value::{
    Codec, Entry, JsonKind, JsonMember, JsonNode, Message, UndeclaredPolicy, Value,
};
use abide_syntax::Span;

/// The JSON that a `google.protobuf.Struct` stands for. Its parts have the places that they were
/// read from.
pub(crate) fn struct_to_json<'m>(tree: &Tree, message: &'m Message, span: Span) -> JsonNode<'m> {
    let members = message.entries.iter().filter_map(|pair| {
        let inside = pair.value.as_message()?;
        let key = inside.find_by_number(tree, 1)?;
        let name = key.value.as_str()?;
        let value = inside.find_by_number(tree, 2)?;
        Some(JsonMember {
            key: Cow::Borrowed(name),
            key_span: key.span,
            value: value_to_json(tree, value.value.as_message()?, value.span),
        })
    });
    JsonNode { span, kind: JsonKind::Object(members.collect()) }
}

/// The JSON that a `google.protobuf.Value` stands for.
pub(crate) fn value_to_json<'m>(tree: &Tree, message: &'m Message, span: Span) -> JsonNode<'m> {
    let Some(entry) = message.entries.last() else {
        return JsonNode { span, kind: JsonKind::Null };
    };
    let kind = match (&entry.value, tree.field(entry.field).number()) {
        (Value::F64(number), _) => JsonKind::Number(number.to_string().into()),
        (Value::String(text), _) => JsonKind::String(Cow::Borrowed(text)),
        (Value::Bool(value), _) => JsonKind::Bool(*value),
        (Value::Message(inside), 5) => return struct_to_json(tree, inside, span),
        (Value::Message(inside), _) => {
            let elements = inside
                .entries
                .iter()
                .filter_map(|it| Some(value_to_json(tree, it.value.as_message()?, it.span)));
            JsonKind::Array(elements.collect())
        }
        _ => JsonKind::Null,
    };
    JsonNode { span, kind }
}

/// The entries of a field that JSON stands for; an error is one lower-case phrase.
pub(crate) fn read_entries(
    tree: &Tree,
    field: abide_schema::Field<'_>,
    node: JsonNode<'_>,
) -> Result<Vec<Entry>, String> {
    let Some(parent) = field.parent() else { return Err("it is in no message".to_owned()) };
    let is_list = matches!(node.kind, JsonKind::Array(_));
    let node = match field.cardinality() {
        abide_schema::Cardinality::Repeated if !is_list => {
            JsonNode { span: node.span, kind: JsonKind::Array(vec![node]) }
        }
        _ => node,
    };
    let member = JsonMember { key: field.name().into(), key_span: node.span, value: node };
    let object = JsonNode { span: Span::default(), kind: JsonKind::Object(vec![member]) };
    let reading = Codec::new(tree).read_json_node(parent.id, &object, UndeclaredPolicy::Refuse);
    match reading.errors.into_iter().next() {
        Some(error) => Err(error.message),
        None => Ok(reading.message.entries.into_iter().map(remove_places).collect()),
    }
}

/// The entry as one that no text has.
pub(crate) fn remove_places(entry: Entry) -> Entry {
    Entry {
        key: Span::default(),
        span: Span::default(),
        value: remove_value_places(entry.value),
        ..entry
    }
}

fn remove_value_places(value: Value) -> Value {
    match value {
        Value::Message(message) => Value::Message(Box::new(remove_message_places(*message))),
        value => value,
    }
}

/// The message as one that no text has.
pub(crate) fn remove_message_places(mut message: Message) -> Message {
    message.entries = message.entries.into_iter().map(remove_places).collect();
    message.content = message.content.map(|it| Box::new(remove_message_places(*it)));
    message
}
