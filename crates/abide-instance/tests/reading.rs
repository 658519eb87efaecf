//! What instances say in each notation, and what is reported about them.

use std::sync::Arc;

use abide_instance::{Dialect, DocumentType, Instance, Notation, ReadOptions};
use abide_schema::value::Codec;
use abide_schema::{FileDecl, SourceFile, Tree, find_missing_imports, find_well_known};
use abide_syntax::Span;

const API: &str = "syntax = \"proto3\";
package acme.v1;
import \"google/protobuf/any.proto\";
import \"google/protobuf/duration.proto\";
import \"google/protobuf/field_mask.proto\";
import \"google/protobuf/struct.proto\";
import \"google/protobuf/wrappers.proto\";
message User {
  string name = 1;
  bool active = 2;
  int32 age = 3;
  double size = 4;
  Level level = 5;
  repeated string tags = 6;
  User friend = 7;
  google.protobuf.Duration wait = 8;
  google.protobuf.UInt32Value limit = 9;
  google.protobuf.Any any = 10;
  map<string, User> users = 11;
  google.protobuf.Struct data = 12;
  google.protobuf.FieldMask mask = 13;
  repeated User friends = 14;
  uint64 big = 15;
  repeated google.protobuf.Value values = 16;
}
enum Level {
  NONE = 0;
  ADMIN = 1;
}
";

fn tree() -> Tree {
    let file = |path: &str, text: &str| {
        let (path, display): (Arc<str>, Arc<str>) = (path.into(), path.into());
        let text = text.as_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let mut files = vec![file("acme/v1/user.proto", API)];
    loop {
        let missing = find_missing_imports(&files);
        let found = missing.iter().filter_map(|path| Some(file(path, find_well_known(path)?)));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return Tree::link(files);
        }
        files.extend(found);
    }
}

struct Read {
    value: String,
    errors: Vec<String>,
    liberties: Vec<String>,
}

/// Reads users: the value in text format on one line, and each message with its place.
#[track_caller]
fn read(notation: Notation, dialect: Dialect, text: &str, path: &str) -> Read {
    let tree = tree();
    let ty = tree.message_named("acme.v1.User").map(|it| it.id);
    let options = ReadOptions { notation, ty, dialect: Some(dialect) };
    let instance = Instance::read_at(&tree, text.as_bytes(), path, options);
    let shown = |span: Span, message: &str| format!("{}: {message}", &text[span.range()]);
    let readings = || instance.documents.iter().filter_map(|it| it.reading.as_ref());
    let errors = instance.errors.iter().chain(readings().flat_map(|it| &it.errors));
    let names = readings().flat_map(|it| &it.undeclared);
    let errors = errors.map(|it| shown(it.span, &it.message));
    let errors = errors.chain(names.map(|it| shown(it.key, "undeclared"))).collect();
    let liberties = instance.leniencies.iter().chain(readings().flat_map(|it| &it.leniencies));
    let liberties = liberties.map(|it| shown(it.span, &it.message)).collect();
    let values = readings().map(|it| Codec::new(&tree).to_text(&it.message));
    let values: Vec<String> =
        values.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    Read { value: values.join(" | "), errors, liberties }
}

/// What only Envoy's reader takes: the value, and what is said about it.
#[track_caller]
fn lenient(text: &str, value: &str, liberties: &[&str]) {
    let notation = if text.starts_with('{') { Notation::Json } else { Notation::Yaml };
    let ours = read(notation, Dialect::Envoy, text, "");
    assert_eq!((&*ours.value, &ours.errors), (value, &Vec::new()), "{text}");
    assert_eq!(ours.liberties, liberties, "{text}");
    let strict = read(notation, Dialect::Protobuf, text, "");
    assert_eq!(strict.errors.is_empty(), liberties.is_empty(), "{text}: {:?}", strict.errors);
    assert!(strict.liberties.is_empty(), "{text}");
}

#[test]
fn envoy_takes_more_than_the_specification() {
    lenient(
        "active: true\nlevel: ADMIN\nwait: 5s\n",
        "active: true level: ADMIN wait { seconds: 5 }",
        &[],
    );
    lenient(
        "{\"active\": \"Yes\"}",
        "active: true",
        &["\"Yes\": `active` is a bool, but is written as a text"],
    );
    lenient(
        "{\"level\": \"admin\"}",
        "level: ADMIN",
        &["\"admin\": `admin` is `ADMIN` in another case"],
    );
    lenient(
        "{\"level\": \"1\"}",
        "level: ADMIN",
        &["\"1\": the number of a value of `acme.v1.Level` is in quotes"],
    );
    lenient(
        "{\"wait\": {\"seconds\": \"5\"}}",
        "wait { seconds: 5 }",
        &["{\"seconds\": \"5\"}: a `google.protobuf.Duration` is written by its fields"],
    );
    lenient(
        "{\"limit\": {\"value\": 5}}",
        "limit { value: 5 }",
        &["{\"value\": 5}: a `google.protobuf.UInt32Value` is written by its fields"],
    );
    lenient(
        "{\"tags\": \"a\"}",
        "tags: \"a\"",
        &["\"a\": `tags` is a list, but is written as one value"],
    );
    lenient(
        "{\"tags\": [[\"a\"], \"b\"]}",
        "tags: \"a\" tags: \"b\"",
        &["[\"a\"]: `tags` is one list, but is written as lists in a list"],
    );
    lenient("{\"tags\": [null]}", "tags: \"\"", &["null: `null` counts as the zero of `tags`"]);
    lenient(
        "{\"users\": {\"a\": null}}",
        "users { key: \"a\" value { } }",
        &["null: `null` counts as an empty `acme.v1.User`"],
    );
    for (number, value) in [("\"+5\"", "5"), ("\"0x10\"", "16"), ("\"010\"", "10")] {
        let said = format!("{number}: `age` is a number, but is not written as one of JSON");
        lenient(&format!("{{\"age\": {number}}}"), &format!("age: {value}"), &[&said]);
    }
    for (number, value) in [("\" 1.5\"", "1.5"), ("\"0x1.8p1\"", "3"), ("\"inf\"", "inf")] {
        let said = format!("{number}: `size` is a number, but is not written as one of JSON");
        lenient(&format!("{{\"size\": {number}}}"), &format!("size: {value}"), &[&said]);
    }
    lenient("{\"age\": 8e1, \"size\": \"1.5\"}", "age: 80 size: 1.5", &[]);
}

#[test]
fn envoy_takes_loose_json() {
    lenient(
        "{'name': 'a',}",
        "name: \"a\"",
        &[
            "': a key is in single quotes",
            "': a text is in single quotes",
            "}: nothing follows the comma",
        ],
    );
    lenient("{name: \"a\"}", "name: \"a\"", &["n: a key has no quotes"]);
    lenient(
        "{\"name\": \"a\tb\"}",
        "name: \"a\\tb\"",
        &["\t: a control character in a text is not escaped"],
    );
    lenient(
        "{\"name\": \"a\", \"name\": \"b\"}",
        "name: \"b\"",
        &["\"name\": `name` is set twice; the last value counts"],
    );
    lenient(
        "{\"friend\": {\"name\": \"a\"}, \"friend\": {\"age\": 1}}",
        "friend { name: \"a\" age: 1 }",
        &["\"friend\": `friend` is set twice; the values are merged"],
    );
}

#[test]
fn envoy_refuses_what_it_refuses() {
    for text in [
        "{\"age\": \" 1\"}",
        "{\"age\": 1.5}",
        "{\"age\": \"1_0\"}",
        "{\"active\": 1}",
        "{\"name\": 1}",
        "{\"limit\": [1]}",
        "{\"friend\": []}",
        "{\"users\": []}",
        "{\"users\": {\"a\": {}, \"a\": {}}}",
        "{\"big\": 1e17}",
        "{\"wait\": 5}",
        "{} {}",
        "{,}",
        "// c\n{}",
        "name: y\n",
        "level: strict-admin\n",
        "",
        "---\n",
        "[]\n",
    ] {
        let notation = match text.starts_with('{') || text.starts_with('/') {
            true => Notation::Json,
            false => Notation::Yaml,
        };
        assert!(!read(notation, Dialect::Envoy, text, "").errors.is_empty(), "{text}");
    }
}

#[test]
fn envoy_reads_one_document_of_a_file() {
    let text = "name: a\n---\nname: [\n";
    let ours = read(Notation::Yaml, Dialect::Envoy, text, "");
    assert_eq!((&*ours.value, ours.errors.len()), ("name: \"a\"", 0));
    assert_eq!(
        ours.liberties,
        ["---: Envoy reads only the first document of a file, not this one"]
    );
    let ours = read(Notation::Yaml, Dialect::Protobuf, "name: a\n---\nname: b\n", "");
    assert_eq!(ours.value, "name: \"a\" | name: \"b\"");
}

/// The help of the first error.
#[track_caller]
fn help(dialect: Dialect, text: &str, expected: Option<&str>) {
    let tree = tree();
    let ty = tree.message_named("acme.v1.User").map(|it| it.id);
    let options = ReadOptions { notation: Notation::Yaml, ty, dialect: Some(dialect) };
    let instance = Instance::read(&tree, text.as_bytes(), options);
    let reading = instance.documents[0].reading.as_ref().expect("the type is known");
    assert_eq!(reading.errors[0].help.as_deref(), expected, "{text}");
}

#[test]
fn words_of_yaml_are_explained() {
    help(
        Dialect::Envoy,
        "name: y\n",
        Some("YAML 1.1, which Envoy reads, takes the word `y` for a boolean; quote it: `\"y\"`"),
    );
    help(
        Dialect::Protobuf,
        "tags: [a, 12]\n",
        Some("YAML takes the word `12` for a number; quote it: `\"12\"`"),
    );
    help(
        Dialect::Protobuf,
        "active: on\n",
        Some("only YAML 1.1 takes the word `on` for a boolean; write `true`"),
    );
    help(Dialect::Protobuf, "age: [1]\n", None);
}

/// The fields that the errors of a reading are about.
#[track_caller]
fn fields(notation: Notation, text: &str, expected: &[&str]) {
    let tree = tree();
    let ty = tree.message_named("acme.v1.User").map(|it| it.id);
    let options = ReadOptions { notation, ty, dialect: None };
    let instance = Instance::read(&tree, text.as_bytes(), options);
    let reading = instance.documents[0].reading.as_ref().expect("the type is known");
    let name = |field| tree.field(field).name().to_owned();
    let found: Vec<String> =
        reading.errors.iter().map(|it| it.field.map(name).unwrap_or_default()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn errors_name_the_innermost_field() {
    fields(
        Notation::Yaml,
        "friend: {friend: {age: x}}\nusers: {a: {size: []}}\n",
        &["age", "size"],
    );
    fields(Notation::Text, "friend { friend { age: 'x' } } active: 5", &["age", "active"]);
    fields(Notation::Json, "{\"friend\": 1, \"wait\": \"x\"}", &["friend", "wait"]);
    fields(Notation::Json, "1", &[""]);
}

#[test]
fn values_below_paths_are_read() {
    let yaml = |text, path| read(Notation::Yaml, Dialect::Protobuf, text, path);
    let ours = yaml("kind: x\nspec:\n  config: {name: a, nmae: b}\n---\nkind: y\n", "spec.config");
    assert_eq!((&*ours.value, ours.errors), ("name: \"a\"", vec!["nmae: undeclared".to_owned()]));
    let text = "data:\n  user.yaml: |\n    # A user.\n    name: a\n    nmae: b\n    friend:\n      age: x\n";
    let ours = yaml(text, "data.user.yaml");
    assert_eq!(ours.value, "name: \"a\" friend { }");
    assert_eq!(ours.errors, ["x: expected an integer in its range for `age`", "nmae: undeclared"]);
    let ours =
        read(Notation::Json, Dialect::Protobuf, "{\"a\": [{\"age\": 1}, \"age: 2\"]}", "a.*");
    assert_eq!(ours.value, "age: 1 | age: 2");
    let text = "config { user { age: 1 } user: [{ age: 2 }, { ega: 3 }] } other: 1";
    let ours = read(Notation::Text, Dialect::Protobuf, text, "config.user");
    assert_eq!(ours.value, "age: 1 | age: 2 | ");
    assert_eq!(ours.errors, ["ega: undeclared"]);
    assert_eq!(yaml("a: 1\n", "b").value, "");
}

#[test]
fn comments_of_inner_texts_have_their_places() {
    let tree = tree();
    let text = "a: |\n  # one\n  name: x # two\n";
    let ty = tree.message_named("acme.v1.User").map(|it| it.id);
    let options = ReadOptions { notation: Notation::Yaml, ty, dialect: None };
    let instance = Instance::read_at(&tree, text.as_bytes(), "a", options);
    let comments: Vec<&str> = instance.comments.iter().map(|it| &text[it.range()]).collect();
    assert_eq!(comments, ["# one", "# two"]);
}

#[test]
fn comments_of_text_format_begin_with_a_number_sign() {
    let tree = tree();
    let text = "# proto-file: api/acme/v1/user.proto\n# proto-message: User\nname: '# no' # yes\n";
    let options = ReadOptions { notation: Notation::Text, ty: None, dialect: None };
    let instance = Instance::read(&tree, text.as_bytes(), options);
    let comments: Vec<&str> = instance.comments.iter().map(|it| &text[it.range()]).collect();
    assert_eq!(
        comments,
        ["# proto-file: api/acme/v1/user.proto", "# proto-message: User", "# yes"]
    );
    assert!(matches!(instance.documents[0].kind, DocumentType::Said(_)));
    for (text, refused) in [("age: 1 // one", "// one"), ("/* a */ age: 1", "/* a */ ")] {
        let ours = read(Notation::Text, Dialect::Protobuf, text, "");
        assert_eq!(ours.errors, [format!("{refused}: text format has no such comments")]);
    }
    assert_eq!(
        read(Notation::Text, Dialect::Protobuf, "size: 1f\nage: 2", "").value,
        "age: 2 size: 1"
    );
    assert!(!read(Notation::Text, Dialect::Protobuf, "age: 1f", "").errors.is_empty());
}

#[test]
fn headers_name_types_from_the_file_or_in_full() {
    let tree = tree();
    for (header, is_known) in [
        ("# proto-message: acme.v1.User", true),
        ("#proto-message:acme.v1.User", true),
        ("# A test.\n\n  # proto-message: acme.v1.User", true),
        ("\u{feff}# proto-message: acme.v1.User", true),
        ("# proto-file: acme/v1/user.proto\n# proto-message: User", true),
        ("# proto-message: User\n# proto-file: acme/v1/user.proto", true),
        ("# proto-file: acme/v1/user.proto\n# proto-message: acme.v1.User", true),
        ("# proto-message: User", false),
        ("# proto-file: other.proto\n# proto-message: User", false),
        ("name: 'x'\n# proto-message: acme.v1.User", false),
    ] {
        let options = ReadOptions { notation: Notation::Text, ty: None, dialect: None };
        let instance = Instance::read(&tree, header.as_bytes(), options);
        let is_said = matches!(instance.documents[0].kind, DocumentType::Said(_));
        assert_eq!(is_said, is_known, "{header}");
    }
}

#[test]
fn what_an_any_holds_as_bytes_is_read() {
    let tree = tree();
    let any = |name: &str, value: &[u8]| {
        let url = format!("type.googleapis.com/{name}");
        let mut bytes = vec![b'\n', url.len() as u8];
        bytes.extend(url.as_bytes());
        bytes.extend([0x12, value.len() as u8]);
        bytes.extend(value);
        [vec![0x52, bytes.len() as u8], bytes].concat()
    };
    let inner = any("acme.v1.User", b"\x18\x05");
    for (bytes, error) in [
        (any("acme.v1.User", &inner), None),
        (
            any("acme.v1.Usr", b""),
            Some("`type.googleapis.com/acme.v1.Usr` is not a known message type"),
        ),
        (
            any("acme.v1.User", b"\x0a\x05"),
            Some(
                "the value of a `type.googleapis.com/acme.v1.User` is malformed: the length is past the end",
            ),
        ),
    ] {
        let ty = tree.message_named("acme.v1.User").map(|it| it.id);
        let options = ReadOptions { notation: Notation::Binary, ty, dialect: None };
        let instance = Instance::read(&tree, &bytes, options);
        let reading = instance.documents[0].reading.as_ref().expect("the type is known");
        assert_eq!(reading.errors.first().map(|it| &*it.message), error);
        if error.is_none() {
            let any = reading.message.get_message(&tree, "any").expect("it is set");
            let user = any.content.as_ref().expect("it is opened");
            let any = user.get_message(&tree, "any").expect("it is set");
            let user = any.content.as_ref().expect("it is opened");
            assert_eq!(user.get_i64(&tree, "age"), Some(5));
        }
    }
}
