//! What readers of texts know about places: of every key and value, also inside
//! of an Any, of zeros, of names that nothing declares, and of every error.

#![allow(clippy::unwrap_used, reason = "helpers are tests too")]

use std::sync::Arc;

use abide_schema::value::{
    Codec, Message, ReadErrorKind, Reading, UndeclaredName, UndeclaredPolicy, UnknownName, Value,
};
use abide_schema::{FileDecl, MessageId, SourceFile, Tree};
use abide_syntax::Span;

const FILE: &str = r#"syntax = "proto3";
package p;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
message Outer {
  google.protobuf.Any any = 1;
  int32 count = 2;
  optional int32 maybe = 3;
  string name = 4;
  repeated Outer more = 5;
  map<string, int32> map = 6;
  Kind kind = 7;
  bytes data = 8;
  google.protobuf.Duration wait = 9;
}
enum Kind {
  KIND_UNSPECIFIED = 0;
  KIND_ONE = 1;
}
"#;

fn tree() -> Tree {
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(SourceFile {
        path: "p.proto".into(),
        display: "p.proto".into(),
        root: 0,
        imported: false,
        text: FILE.as_bytes().into(),
    }))]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    tree
}

fn outer(tree: &Tree) -> MessageId {
    tree.message_named("p.Outer").unwrap().id
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Notation {
    Json,
    Text,
}

fn read(tree: &Tree, notation: Notation, text: &str, undeclared: UndeclaredPolicy) -> Reading {
    let codec = Codec::new(tree);
    match notation {
        Notation::Json => codec.read_json(outer(tree), text.as_bytes(), undeclared),
        Notation::Text => codec.read_text(outer(tree), text.as_bytes(), undeclared),
    }
}

fn at(text: &str, span: Span) -> &str {
    &text[span.range()]
}

/// The last entry of a field: what stands at its key and at its value.
fn places<'t>(tree: &Tree, message: &Message, field: &str, text: &'t str) -> (&'t str, &'t str) {
    let entry = message.get(tree, field).unwrap();
    (at(text, entry.key), at(text, entry.span))
}

fn strip(message: &Message) -> Message {
    let mut bare = Message { content: None, ..message.clone() };
    for entry in &mut bare.entries {
        (entry.key, entry.span) = (Span::default(), Span::default());
        if let Value::Message(inner) = &mut entry.value {
            **inner = strip(inner);
        }
    }
    bare
}

#[test]
fn an_any_in_an_any_has_its_places() {
    let tree = tree();
    let json = r#"{"any": {"@type": "type.googleapis.com/p.Outer", "name": "a",
        "any": {"@type": "type.googleapis.com/p.Outer", "count": 7, "more": [{"maybe": 0}]}}}"#;
    let text = "any { [type.googleapis.com/p.Outer] { name: 'a'  # once\n
        any { [type.googleapis.com/p.Outer] { count: 7 more { maybe: 0 } } } } }";
    let mut bytes = Vec::new();
    for (notation, text, key, name) in
        [(Notation::Json, json, "\"count\"", "\"a\""), (Notation::Text, text, "count", "'a'")]
    {
        let reading = read(&tree, notation, text, UndeclaredPolicy::Refuse);
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        let any = reading.message.get_message(&tree, "any").unwrap();
        let first = any.content.as_deref().unwrap();
        assert_eq!(places(&tree, first, "name", text).1, name);
        let second = first.get_message(&tree, "any").unwrap().content.as_deref().unwrap();
        assert_eq!(places(&tree, second, "count", text), (key, "7"));
        let more = second.get_message(&tree, "more").unwrap();
        assert_eq!(places(&tree, more, "maybe", text).1, "0");
        // The bytes beside it say the same.
        let value = any.get(&tree, "value").unwrap().value.as_bytes().unwrap().to_vec();
        let decoded = Codec::new(&tree).decode(outer(&tree), &value).unwrap();
        assert_eq!(decoded, strip(&first.normalize(&tree)));
        bytes.push(Codec::new(&tree).encode(&reading.message));
        assert!(
            reading.message.normalize(&tree).get_message(&tree, "any").unwrap().content.is_none()
        );
    }
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn zeros_are_kept_where_they_stand_and_not_written() {
    let tree = tree();
    let json = r#"{"count": 0, "maybe": 0, "name": "", "kind": "KIND_UNSPECIFIED", "data": ""}"#;
    let text = "count: 0 maybe: 0 name: '' kind: KIND_UNSPECIFIED data: ''";
    for (notation, text) in [(Notation::Json, json), (Notation::Text, text)] {
        let message = read(&tree, notation, text, UndeclaredPolicy::Refuse).into_result().unwrap();
        let codec = Codec::new(&tree);
        assert_eq!(message.entries.len(), 5, "{notation:?}");
        assert_eq!(places(&tree, &message, "count", text).1, "0");
        assert_eq!(codec.encode(&message), b"\x18\x00");
        assert_eq!(codec.to_json(&message).unwrap(), r#"{"maybe":0}"#);
        assert_eq!(codec.to_text(&message), "maybe: 0\n");
        let normalized = message.normalize(&tree);
        assert_eq!(normalized.entries.len(), 1);
        assert_eq!(strip(&normalized), codec.decode(message.ty, b"\x18\x00").unwrap());
    }
}

/// The kinds of the errors, and what stands at each.
fn errors<'t>(reading: &Reading, text: &'t str) -> Vec<(ReadErrorKind, &'t str)> {
    reading.errors.iter().map(|error| (error.kind, at(text, error.span))).collect()
}

#[test]
fn every_error_of_a_json_text_is_found_and_the_rest_is_read() {
    use ReadErrorKind::{Duplicate, InvalidValue, UnknownEnumValue, UnknownField, WrongType};
    let tree = tree();
    let text = r#"{"count": "many", "name": "a", "more": [{"kind": "KIND_TWO"}, {"nme": 1},
        {"count": 3000000000}], "wait": "long", "name": "b", "map": {"a": 1, "a": 2, "b": true}}"#;
    let reading = read(&tree, Notation::Json, text, UndeclaredPolicy::Refuse);
    let expected = [
        (WrongType, "\"many\""),
        (UnknownEnumValue, "\"KIND_TWO\""),
        (UnknownField, "\"nme\""),
        (InvalidValue, "3000000000"),
        (InvalidValue, "\"long\""),
        (Duplicate, "\"name\""),
        (Duplicate, "\"a\""),
        (WrongType, "true"),
    ];
    assert_eq!(errors(&reading, text), expected);
    assert_eq!(reading.errors[2].help.as_deref(), Some("did you mean `name`?"));
    let (first, what) = reading.errors[5].related.as_ref().unwrap();
    assert_eq!(
        (first.start as usize, what.as_str()),
        (text.find("\"name\"").unwrap(), "set first here")
    );
    assert_eq!(reading.message.get_str(&tree, "name"), Some("a"));
    assert_eq!(reading.message.get_all(&tree, "more").count(), 3);
    assert_eq!(reading.message.get_all(&tree, "map").count(), 1);
    let error = reading.into_result().unwrap_err();
    assert_eq!(error.to_string(), "expected an integer in its range for `count` at byte 10");
}

#[test]
fn malformed_json_is_passed_over() {
    let tree = tree();
    let text = r#"{"count": 1x, "name": "a", "maybe" 2, "more": [{"count": 1}, tru, {"count": 3 "name": "b"}],
        "data": "AA==",}"#;
    let reading = read(&tree, Notation::Json, text, UndeclaredPolicy::Refuse);
    let found: Vec<&str> = reading.errors.iter().map(|it| it.message.as_str()).collect();
    let expected = [
        "the number is malformed",
        "expected `:` after the key",
        "expected a JSON value",
        "expected `,` or `}`",
        "expected a key in quotes",
    ];
    assert_eq!(found, expected);
    assert!(reading.errors.iter().all(|it| it.kind == ReadErrorKind::Syntax));
    assert_eq!(reading.message.get_str(&tree, "name"), Some("a"));
    let counts = reading.message.get_all(&tree, "more").map(|it| it.value.as_message().unwrap());
    assert_eq!(counts.map(|it| it.get_i64(&tree, "count")).collect::<Vec<_>>(), [Some(1), Some(3)]);
    assert_eq!(reading.message.get(&tree, "data").unwrap().value, Value::Bytes([0].into()));
    for text in ["", "{", "[", "{\"a", "{]", "[}", "{\"a\":{]}", "{,}", "[1,", "\"", "nul", "{} {}"]
    {
        assert!(
            !read(&tree, Notation::Json, text, UndeclaredPolicy::Refuse).errors.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn names_that_nothing_declares_are_reported_at_every_depth() {
    let tree = tree();
    let json = r#"{"nme": {"a": [1]}, "name": "a", "more": [{"colour": "red", "count": 1}],
        "kind": "KIND_TWO"}"#;
    let text = "nme { a: [1] } name: 'a' more { colour: 'red' count: 1 }";
    let shown = |it: &UndeclaredName, text: &str| {
        (it.name.clone(), at(text, it.key).to_owned(), at(text, it.value).to_owned())
    };
    for undeclared in [UndeclaredPolicy::Refuse, UndeclaredPolicy::Ignore] {
        let reading = read(&tree, Notation::Json, json, undeclared);
        let found: Vec<_> = reading.undeclared.iter().map(|it| shown(it, json)).collect();
        let name =
            |name: &str, value: &str| (name.to_owned(), format!("\"{name}\""), value.to_owned());
        let expected = [
            name("nme", r#"{"a": [1]}"#),
            name("colour", "\"red\""),
            name("KIND_TWO", "\"KIND_TWO\""),
        ];
        assert_eq!(found, expected);
        let kind = tree.enum_named("p.Kind").unwrap().id;
        assert_eq!(reading.undeclared[0].lacked_by, UnknownName::Message(outer(&tree)));
        assert_eq!(reading.undeclared[2].lacked_by, UnknownName::Enum(kind));
        assert_eq!(
            reading.errors.len(),
            if undeclared == UndeclaredPolicy::Refuse { 3 } else { 0 }
        );
        assert_eq!(reading.message.entries.len(), 2);

        let reading = read(&tree, Notation::Text, text, undeclared);
        let found: Vec<_> = reading.undeclared.iter().map(|it| shown(it, text)).collect();
        let name = |name: &str, value: &str| (name.to_owned(), name.to_owned(), value.to_owned());
        assert_eq!(found, [name("nme", "{ a: [1] }"), name("colour", "'red'")]);
        assert_eq!(
            reading.errors.len(),
            if undeclared == UndeclaredPolicy::Refuse { 2 } else { 0 }
        );
        assert_eq!(reading.message.entries.len(), 2);
    }
}

#[test]
fn every_error_of_a_text_file_is_found_and_the_rest_is_read() {
    use ReadErrorKind::{Duplicate, InvalidValue, Syntax, UnknownEnumValue, WrongType};
    let tree = tree();
    let text = "# A file.
name: 'a'
maybe: = 3
more {
  count: 3000000000
  kind: KIND_TWO
  maybe 5
  data: 'x'
}
name: 'b'
wait { seconds: 'x' }
count: 4  # four
}
data: 'y'
";
    let reading = read(&tree, Notation::Text, text, UndeclaredPolicy::Refuse);
    let expected = [
        (Syntax, "="),
        (InvalidValue, "3000000000"),
        (UnknownEnumValue, "KIND_TWO"),
        (Syntax, "5"),
        (Duplicate, "name"),
        (WrongType, "'x'"),
        (Syntax, "}"),
    ];
    assert_eq!(errors(&reading, text), expected);
    let first = reading.errors[4].related.as_ref().unwrap().0;
    assert_eq!(first.start as usize, text.find("name").unwrap());
    let message = &reading.message;
    assert_eq!(message.get_str(&tree, "name"), Some("a"));
    assert_eq!(message.get_i64(&tree, "count"), Some(4));
    assert_eq!(places(&tree, message, "data", text), ("data", "'y'"));
    let more = message.get_message(&tree, "more").unwrap();
    assert_eq!(places(&tree, more, "data", text), ("data", "'x'"));
    // More of them than an option statement reports.
    let many = "count: 'x'\n".repeat(70);
    let reading = read(&tree, Notation::Text, &many, UndeclaredPolicy::Refuse);
    assert_eq!(reading.errors.len(), 70);
    for text in
        ["more {", "more >", "more { >", "[", "[a", "more < }", "{", "a: [1, [", "}}}}", "a: -"]
    {
        assert!(
            !read(&tree, Notation::Text, text, UndeclaredPolicy::Refuse).errors.is_empty(),
            "{text}"
        );
    }
}
