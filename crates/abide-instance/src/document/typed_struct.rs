//! Values that a `TypedStruct` holds as a `google.protobuf.Struct` and names the type of.
//!
//! Who writes configuration for a type that a control plane does not link sends it so, and Envoy
//! reads it as it reads JSON of the type. Source: `xds/type/v3/typed_struct.proto`.

use abide_schema::value::{Codec, Entry, Message, ReadError, Reading, UndeclaredPolicy, Value};
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;

use crate::readers::{Dialect, remove_message_places, struct_to_json};

/// The messages that name a type and hold a Struct.
const NAMES: [&str; 2] = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"];
const TYPE_URL: i32 = 1;
const VALUE: i32 = 2;

/// Returns true if a message names the type of a Struct that it holds.
pub(crate) fn is_typed_struct(tree: &Tree, ty: MessageId) -> bool {
    let view = tree.message(ty);
    view.name() == "TypedStruct" && NAMES.contains(&&*view.full_name())
}

/// Reads what each TypedStruct of a reading holds as a value of the type that it names, into its
/// [`content`](Message::content), at any depth. What is wrong with it is wrong with the reading.
///
/// A type that the tree does not declare is no error: plugins have names of their own for what
/// they alone read.
pub(crate) fn open_structs(tree: &Tree, dialect: Dialect, reading: &mut Reading) {
    let mut opener = StructOpener { codec: Codec::new(tree), dialect, found: Vec::new() };
    opener.open_message(&mut reading.message);
    if opener.found.is_empty() {
        return;
    }
    for inside in opener.found {
        reading.errors.extend(inside.errors);
        reading.leniencies.extend(inside.leniencies);
        reading.undeclared.extend(inside.undeclared);
    }
    reading.errors.sort_by_key(|it: &ReadError| it.span.start);
    reading.leniencies.sort_by_key(|it| it.span.start);
    reading.undeclared.sort_by_key(|it| it.key.start);
}

struct StructOpener<'t> {
    codec: Codec<'t>,
    dialect: Dialect,
    found: Vec<Reading>,
}

impl StructOpener<'_> {
    fn open_message(&mut self, message: &mut Message) {
        let tree = self.codec.tree();
        if message.content.is_none() && is_typed_struct(tree, message.ty) {
            message.content = self.read_content(message).map(Box::new);
        }
        if let Some(content) = &mut message.content {
            return self.open_message(content);
        }
        for entry in &mut message.entries {
            if let Value::Message(inner) = &mut entry.value {
                self.open_message(inner);
            }
        }
    }

    fn read_content(&mut self, message: &Message) -> Option<Message> {
        let tree = self.codec.tree();
        let url = message.find_by_number(tree, TYPE_URL)?.value.as_str()?;
        let ty = tree.message_named(url.rsplit_once('/').map_or(url, |it| it.1))?.id;
        let held = message.find_by_number(tree, VALUE);
        let Some((inside, span)) = held.and_then(|it| Some((it.value.as_message()?, it.span)))
        else {
            return Some(Message::new(ty));
        };
        let node = struct_to_json(tree, inside, span);
        let mapping = self.dialect.mapping();
        let mut reading =
            self.codec.read_json_node_as(mapping, ty, &node, UndeclaredPolicy::Ignore);
        let content = std::mem::replace(&mut reading.message, Message::new(ty));
        self.found.push(reading);
        Some(content)
    }
}

/// A TypedStruct like `old` that holds another value; places stay where its text says the same.
pub(crate) fn replace_content(tree: &Tree, old: &Message, content: Message) -> Message {
    let mut new = Message::new(old.ty);
    let name = tree.message(content.ty).full_name();
    for (number, value) in [
        (TYPE_URL, Value::String(name.into())),
        (VALUE, Value::Message(Box::new(build_struct(tree, old.ty, &content)))),
    ] {
        let Some(field) = tree.message(old.ty).field_numbered(number) else { continue };
        let before = old.find_by_number(tree, number);
        let key = before.map_or(Span::default(), |it| it.key);
        let mut entry = Entry { key, ..Entry::new(field.id, value) };
        if let (Some(before), Value::String(name)) = (before, &mut entry.value) {
            let url = before.value.as_str().unwrap_or_default();
            let prefix = url.rsplit_once('/').map(|it| it.0);
            *name = prefix.map_or_else(|| name.to_string(), |it| format!("{it}/{name}")).into();
            entry.span = if **name == *url { before.span } else { Span::default() };
        }
        new.entries.push(entry);
    }
    new.content = Some(Box::new(content));
    new
}

/// The `google.protobuf.Struct` of a TypedStruct that stands for a value.
fn build_struct(tree: &Tree, typed_struct: MessageId, content: &Message) -> Message {
    let codec = Codec::new(tree);
    let field = tree.message(typed_struct).field_numbered(VALUE);
    let ty = field.and_then(|it| it.message_type()).map_or(typed_struct, |it| it.id);
    let text = codec.to_json_with_declared_names(content).unwrap_or_else(|_| "{}".to_owned());
    remove_message_places(codec.read_json(ty, text.as_bytes(), UndeclaredPolicy::Refuse).message)
}

/// The value with each TypedStruct in the one spelling of what it holds, also those that stand in
/// an Any: two that hold the same value are equal.
pub(crate) fn normalize_structs(tree: &Tree, dialect: Dialect, message: &Message) -> Message {
    let mut reading = Reading::from_message(message.clone());
    let codec = Codec::new(tree);
    codec.open_any(&mut reading);
    open_structs(tree, dialect, &mut reading);
    let mut message = reading.message;
    normalize_in_place(codec, &mut message);
    message
}

fn normalize_in_place(codec: Codec<'_>, message: &mut Message) {
    let tree = codec.tree();
    let Some(mut content) = message.content.take() else {
        for entry in &mut message.entries {
            if let Value::Message(inner) = &mut entry.value {
                normalize_in_place(codec, inner);
            }
        }
        return;
    };
    normalize_in_place(codec, &mut content);
    if is_typed_struct(tree, message.ty) {
        *message = replace_content(tree, message, *content);
        return;
    }
    for entry in &mut message.entries {
        if let Value::Bytes(bytes) = &mut entry.value {
            *bytes = codec.encode(&content).into();
        }
    }
    message.content = Some(content);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use abide_schema::{FileDecl, SourceFile};

    use super::*;
    use crate::{Instance, Notation, ReadOptions};

    fn tree() -> Tree {
        let files = [
            (
                "xds/type/v3/typed_struct.proto",
                "syntax = \"proto3\"; package xds.type.v3; import \"google/protobuf/struct.proto\";
                 message TypedStruct { string type_url = 1; google.protobuf.Struct value = 2; }",
            ),
            (
                "a.proto",
                "syntax = \"proto3\"; package a; import \"google/protobuf/any.proto\";
                 import \"xds/type/v3/typed_struct.proto\";
                 message Box {
                   google.protobuf.Any any = 1; xds.type.v3.TypedStruct own = 2; int32 size = 3;
                 }",
            ),
        ];
        let decls = files.map(|(path, text)| {
            let path: Arc<str> = path.into();
            let (display, text) = (Arc::clone(&path), text.as_bytes().into());
            Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
        });
        Tree::link(decls.to_vec())
    }

    /// What is wrong with a text, with the places.
    #[track_caller]
    fn check(notation: Notation, text: &str, expected: &str) {
        let tree = tree();
        let ty = tree.message_named("a.Box").map(|it| it.id);
        let options = ReadOptions { notation, ty, dialect: None };
        let instance = Instance::read(&tree, text.as_bytes(), options);
        let mut found = String::new();
        for reading in instance.documents.iter().filter_map(|it| it.reading.as_ref()) {
            let errors = reading.errors.iter().map(|it| (it.span, it.message.clone()));
            let names = reading.undeclared.iter().map(|it| (it.key, "undeclared".to_owned()));
            for (span, what) in errors.chain(names) {
                writeln!(found, "{}: {what}", &text[span.range()]).expect("a string");
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn what_typed_structs_hold_is_read_as_the_type_that_they_name() {
        let yaml = "
any:
  \"@type\": x/xds.type.v3.TypedStruct
  type_url: x/a.Box
  value: {size: many, sise: 1, own: {type_url: a.Box, value: {sice: 1}}}
own: {type_url: x/unknown.Type, value: {anything: goes}}
";
        check(
            Notation::Yaml,
            yaml,
            "many: expected an integer in its range for `size`\nsise: undeclared\nsice: undeclared\n",
        );
        let text = "own {
  type_url: \"x/a.Box\"
  value { fields { key: \"sise\" value { number_value: 1 } } }
}";
        check(Notation::Text, text, "\"sise\": undeclared\n");
    }
}
