//! Laws over generated values of two versions with renames, moves, steps and gaps.

use abide_instance::{
    ConversionLoss, Direction, MigrationFile, Notation, ReadOptions, VersionConverter,
    VersionMapping, convert_text,
};
use abide_schema::value::{Codec, Entry, Message, Value};
use abide_schema::{Cardinality, MessageId, Scalar, Tree, Type};
use abide_syntax::Span;
use fastrand::Rng;

use crate::tree;

const OLD: &str = r#"
syntax = "proto3";
package acme.v1;
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/duration.proto";
message Node {
  string name = 1;
  int64 count = 2;
  Kind kind = 3;
  repeated string tags = 4;
  map<string, Node> children = 5;
  repeated Node list = 6;
  Node only = 7;
  google.protobuf.Any any = 8;
  oneof choice { string left = 9; Node right = 10; }
  optional bool flag = 11;
  bytes data = 12;
  double ratio = 13;
  google.protobuf.Duration wait = 14;
  google.protobuf.UInt32Value limit = 15;
  map<int32, Kind> kinds = 16;
  repeated Kind more = 17;
  uint32 window = 18;
  repeated string hosts = 19;
}
enum Kind { KIND_NONE = 0; KIND_A = 1; KIND_B = 2; }
"#;

const NEW: &str = r#"
syntax = "proto3";
package acme.v2;
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/duration.proto";
message Node {
  string title = 1;
  int64 count = 2;
  Kind sort = 3;
  repeated string labels = 4;
  map<string, Node> children = 5;
  repeated Node list = 6;
  Node only = 7;
  google.protobuf.Any any = 8;
  oneof choice { string west = 9; Node right = 10; }
  optional bool flag = 11;
  bytes data = 12;
  double ratio = 13;
  google.protobuf.Duration wait = 14;
  google.protobuf.UInt32Value limit = 15;
  map<int32, Kind> kinds = 16;
  repeated Kind more = 17;
  Options options = 20;
  repeated Group groups = 21;
}
message Options { uint32 window = 1; }
message Group { repeated Host hosts = 1; }
message Host { string address = 1; }
enum Kind { KIND_NONE = 0; KIND_FIRST = 1; KIND_B = 2; }
"#;

const STEPS: &str = r#"
steps:
- message: acme.v1.Node
  moves: [{from: window, to: options.window}]
- message: acme.v1.Node
  moves: [{from: hosts, to: "groups[0].hosts[].address"}]
"#;

/// Texts that need quotes, and such that do not.
const WORDS: &[&str] =
    &["", "a", "yes", "null", "1", "a: b", "x # y", "\"q\"", "two\nlines", "- é", " pad ", "it's"];

/// A version without some fields and values: they have no home.
fn with_gaps(new: &str) -> String {
    let gone = ["  int64 count = 2;\n", "  bytes data = 12;\n", "KIND_B = 2; "];
    gone.iter().fold(new.to_owned(), |text, it| text.replace(it, ""))
}

struct World {
    tree: Tree,
}

impl World {
    fn new(new: &str) -> World {
        World { tree: tree([("acme/v1/a.proto", OLD), ("acme/v2/a.proto", new)].into_iter()) }
    }

    fn translator(&self) -> VersionConverter<'_> {
        let steps = MigrationFile::read(STEPS.as_bytes(), Notation::Yaml).expect("steps");
        VersionConverter::new(&self.tree, VersionMapping::default(), &steps).expect("they fit")
    }

    fn ty(&self, name: &str) -> MessageId {
        self.tree.message_named(name).expect("a message").id
    }

    /// A value as a reader of the wire has it.
    fn value(&self, random: &mut Rng) -> Message {
        self.value_of_depth(random, 3)
    }

    fn value_of_depth(&self, random: &mut Rng, depth: u32) -> Message {
        let codec = Codec::new(&self.tree);
        let ty = self.ty("acme.v1.Node");
        let value = self.message(ty, random, depth);
        codec.decode(ty, &codec.encode(&value)).expect("it was just written")
    }

    fn message(&self, ty: MessageId, random: &mut Rng, depth: u32) -> Message {
        let mut message = Message::new(ty);
        let view = self.tree.message(ty);
        for field in view.fields() {
            if !random.bool() || field.message_type().is_some() && depth == 0 {
                continue;
            }
            let count = match field.cardinality() {
                Cardinality::Singular => 1,
                _ => random.usize(0..3),
            };
            let sibling = |it: &Entry| {
                let other = self.tree.field(it.field);
                field.oneof().is_some()
                    && other.oneof().map(|it| it.id) == field.oneof().map(|it| it.id)
            };
            if message.entries.iter().any(sibling) {
                continue;
            }
            for number in 0..count {
                let value = self.of_field(field.ty(), random, depth, number);
                message.entries.push(Entry::new(field.id, value));
            }
        }
        if view.is_map_entry() {
            // Keys differ, and both parts are written.
            let number = random.i32(0..1_000_000);
            let parts = view.fields().map(|field| {
                let value = match (field.number(), field.ty()) {
                    (1, Type::Scalar(Scalar::String)) => {
                        let word = random.choice(WORDS).unwrap_or(&"");
                        Value::String(format!("{word}{number}").into())
                    }
                    (1, _) => Value::I32(number),
                    (_, ty) => self.of_field(ty, random, depth, 0),
                };
                Entry::new(field.id, value)
            });
            message.entries = parts.collect();
        }
        message
    }

    fn of_field(&self, ty: Type, random: &mut Rng, depth: u32, number: usize) -> Value {
        let text = || -> Box<str> { (*WORDS.get(number).unwrap_or(&"a")).into() };
        match ty {
            Type::Scalar(Scalar::String) => {
                Value::String(random.choice(WORDS).map_or_else(text, |it| (*it).into()))
            }
            Type::Scalar(Scalar::Bytes) => {
                Value::Bytes(vec![random.u8(..); random.usize(0..4)].into())
            }
            Type::Scalar(Scalar::Bool) => Value::Bool(random.bool()),
            Type::Scalar(Scalar::Int64) => Value::I64(random.i64(..)),
            Type::Scalar(Scalar::Int32) => Value::I32(random.i32(..)),
            Type::Scalar(Scalar::Double) => Value::F64(f64::from(random.i32(-50..50)) / 8.0),
            Type::Scalar(_) => Value::U32(random.u32(..)),
            Type::Enum(_) => Value::Enum(random.i32(0..3)),
            Type::Message(ty) => Value::Message(Box::new(self.inner(ty, random, depth))),
            Type::Unresolved => panic!("all types are known"),
        }
    }

    fn inner(&self, ty: MessageId, random: &mut Rng, depth: u32) -> Message {
        let view = self.tree.message(ty);
        let mut message = Message::new(ty);
        let mut put = |number, value| {
            let field = view.field_numbered(number).expect("the field");
            message.entries.push(Entry::new(field.id, value));
        };
        match view.name() {
            "Any" => {
                let content =
                    self.message(self.ty("acme.v1.Node"), random, depth.saturating_sub(1));
                put(1, Value::String("type.googleapis.com/acme.v1.Node".into()));
                put(2, Value::Bytes(Codec::new(&self.tree).encode(&content).into()));
            }
            "Duration" => put(1, Value::I64(random.i64(1..1000))),
            "UInt32Value" => put(1, Value::U32(random.u32(1..))),
            _ => return self.message(ty, random, depth.saturating_sub(1)),
        }
        message
    }
}

fn shown(tree: &Tree, value: &Message) -> String {
    Codec::new(tree).to_json(value).expect("every value has a text")
}

#[test]
fn what_goes_up_comes_down() {
    let world = World::new(NEW);
    let translator = world.translator();
    let mut random = Rng::with_seed(7);
    let mut moved = 0;
    for _ in 0..1000 {
        let value = world.value(&mut random);
        let up = translator.convert(&value, &Direction::Up(None), false);
        assert_eq!(up.losses, [], "{}", shown(&world.tree, &value));
        assert!(translator.is_known(&up.message));
        moved += usize::from(!up.changes.is_empty());
        let down = translator.convert(&up.message, &Direction::Down(1), false);
        assert_eq!(down.losses, []);
        assert_eq!(shown(&world.tree, &down.message), shown(&world.tree, &value));
        let again = translator.convert(&down.message, &Direction::Up(None), false);
        assert_eq!(shown(&world.tree, &again.message), shown(&world.tree, &up.message));
    }
    assert!(moved > 900, "only {moved} values changed");
}

/// Without steps, a value on the wire is a value of the newer type: only names in Any differ.
#[test]
fn the_wire_says_the_same() {
    let world = World::new(NEW);
    let translator = world.translator();
    let codec = Codec::new(&world.tree);
    let new = world.ty("acme.v2.Node");
    let mut random = Rng::with_seed(8);
    let mut compared = 0;
    for _ in 0..4000 {
        let value = world.value_of_depth(&mut random, 1);
        let text = shown(&world.tree, &value);
        if ["window", "hosts", "@type"].iter().any(|it| text.contains(it)) {
            continue;
        }
        compared += 1;
        let bytes = codec.encode(&value);
        let up = translator.convert(&value, &Direction::Up(None), false);
        assert_eq!(codec.encode(&up.message), bytes);
        let cast = codec.decode(new, &bytes).expect("the wire of a value");
        assert_eq!(shown(&world.tree, &cast), shown(&world.tree, &up.message));
    }
    assert!(compared > 100, "only {compared} values were compared");
}

/// Every notation carries the value that it says: the texts of a value become texts of the value
/// that the wire of it becomes.
#[test]
fn texts_say_what_the_wire_says() {
    let world = World::new(NEW);
    let translator = world.translator();
    let codec = Codec::new(&world.tree);
    let (old, new) = (world.ty("acme.v1.Node"), world.ty("acme.v2.Node"));
    let mut random = Rng::with_seed(9);
    for _ in 0..400 {
        let value = world.value(&mut random);
        let up = translator.convert(&value, &Direction::Up(None), false);
        let expected = shown(&world.tree, &up.message);
        let json = shown(&world.tree, &value);
        let yaml = as_yaml(&json, &mut random);
        let text = codec.to_text(&value);
        let binary = codec.encode(&value);
        let texts: [(Notation, &[u8]); 4] = [
            (Notation::Json, json.as_bytes()),
            (Notation::Yaml, yaml.as_bytes()),
            (Notation::Text, text.as_bytes()),
            (Notation::Binary, &binary),
        ];
        for (notation, bytes) in texts {
            let options = ReadOptions { notation, ty: Some(old), dialect: None };
            let way = Direction::Up(None);
            let shown_text = String::from_utf8_lossy(bytes);
            let carried = convert_text(&world.tree, &translator, bytes, options, Some(&way));
            let carried = carried.unwrap_or_else(|why| panic!("{why}:\n{shown_text}"));
            let errors: Vec<_> = carried
                .instance
                .documents
                .iter()
                .flat_map(|it| &it.reading)
                .flat_map(|it| &it.errors)
                .collect();
            let Some(text) = carried.text else { panic!("{errors:?}\n{shown_text}") };
            let read = match notation {
                Notation::Binary => codec.decode(new, &text).expect("binary"),
                Notation::Text => {
                    let undeclared = abide_schema::value::UndeclaredPolicy::Refuse;
                    codec.read_text(new, &text, undeclared).into_result().expect("text")
                }
                _ => {
                    let options = ReadOptions { notation, ty: Some(new), dialect: None };
                    let read = abide_instance::Instance::read(&world.tree, &text, options);
                    assert!(read.errors.is_empty());
                    read.documents
                        .iter()
                        .find_map(|it| it.message().cloned())
                        .unwrap_or_else(|| Message::new(new))
                }
            };
            assert_eq!(shown(&world.tree, &read), expected, "{notation:?}");
        }
    }
}

/// JSON as YAML: in block style, with comments, flow style here and there.
fn as_yaml(json: &str, random: &mut Rng) -> String {
    let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let mut out = String::from("# A value.\n");
    block(&value, 0, random, &mut out);
    out
}

fn block(value: &serde_json::Value, indent: usize, random: &mut Rng, out: &mut String) {
    let pad = " ".repeat(indent);
    let is_long = |it: &serde_json::Value| {
        it.as_object().is_some_and(|it| !it.is_empty())
            || it.as_array().is_some_and(|it| !it.is_empty())
    };
    match value {
        serde_json::Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                if random.u8(..) < 40 {
                    out.push_str(&format!("{pad}# about {}\n", key.replace('\n', " ")));
                }
                let key = serde_json::Value::from(key.as_str());
                if is_long(value) && random.u8(..) < 200 {
                    out.push_str(&format!("{pad}{key}:\n"));
                    let inner = if value.is_array() { random.usize(0..2) * 2 } else { 2 };
                    block(value, indent + inner, random, out);
                } else {
                    out.push_str(&format!("{pad}{key}: {value}  # end\n"));
                }
            }
        }
        serde_json::Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                if is_long(element) && element.is_object() && random.u8(..) < 200 {
                    let mut inside = String::new();
                    block(element, indent + 2, random, &mut inside);
                    match inside.trim_start().starts_with('#') {
                        true => out.push_str(&format!("{pad}-\n{inside}")),
                        false => out.push_str(&format!("{pad}- {}", &inside[indent + 2..])),
                    }
                } else {
                    out.push_str(&format!("{pad}- {element}\n"));
                }
            }
        }
        other => out.push_str(&format!("{pad}{other}\n")),
    }
}

/// What has no home is a loss, and nothing else is: it is counted in the value.
#[test]
fn no_loss_is_silent() {
    let world = World::new(&with_gaps(NEW));
    let translator = world.translator();
    let mut random = Rng::with_seed(10);
    let mut lossy = 0;
    for _ in 0..1000 {
        let value = world.value(&mut random);
        let json: serde_json::Value =
            serde_json::from_str(&shown(&world.tree, &value)).expect("JSON");
        let expected = gone(&json);
        let up = translator.convert(&value, &Direction::Up(None), false);
        let lost = |it: &ConversionLoss| it.span == Span::default();
        assert!(up.losses.iter().all(lost));
        assert_eq!(up.losses.is_empty(), expected == 0, "{json}");
        assert!(translator.is_known(&up.message));
        lossy += usize::from(expected > 0);
    }
    assert!(lossy > 500, "only {lossy} values lose anything");
}

/// How many parts of a value have no home in the version with gaps.
fn gone(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(members) => members
            .iter()
            .map(|(key, value)| usize::from(key == "count" || key == "data") + gone(value))
            .sum(),
        serde_json::Value::Array(elements) => elements.iter().map(gone).sum(),
        serde_json::Value::String(text) => usize::from(text == "KIND_B"),
        _ => 0,
    }
}

/// Losses in a text stand where the lost keys do: as many as are written.
#[test]
fn losses_have_places() {
    let world = World::new(&with_gaps(NEW));
    let translator = world.translator();
    let old = world.ty("acme.v1.Node");
    let mut random = Rng::with_seed(11);
    for _ in 0..300 {
        let value = world.value(&mut random);
        let json = shown(&world.tree, &value);
        let text = as_yaml(&json, &mut random);
        let options = ReadOptions { notation: Notation::Yaml, ty: Some(old), dialect: None };
        let carried = convert_text(
            &world.tree,
            &translator,
            text.as_bytes(),
            options,
            Some(&Direction::Up(None)),
        );
        let carried = carried.unwrap_or_else(|why| panic!("{why}:\n{text}"));
        let losses: usize = carried.documents.iter().map(|it| it.losses.len()).sum();
        assert_eq!(losses, gone(&serde_json::from_str(&json).unwrap()), "{text}");
        for loss in carried.documents.iter().flat_map(|it| &it.losses) {
            let there = &text[loss.span.range()];
            let word = there.trim_matches('"');
            assert!(["count", "data", "KIND_B"].contains(&word), "{there}");
        }
        let comments = |text: &str| text.matches("# end").count();
        let new = String::from_utf8(carried.text.expect("a text")).unwrap();
        let notes = carried.notes.len();
        assert!(comments(&new) + notes >= comments(&text), "{text}\n{new}");
    }
}

/// Texts that nobody would write: they are refused or carried, and the proof never fails.
#[test]
fn damaged_texts_are_refused_or_carried() {
    const PIECES: &[&str] = &[
        "\n", " ", "  ", "#", "# x\n", ":", "- ", "-", "{", "}", "[", "]", ",", "&a ", "*a", "|\n",
        ">-\n", "'", "\"", "\t", "? ", "!!str ", "---\n", "...\n", "null", "é", "<", ">", ";",
        "\r\n", "~",
    ];
    let worlds = [World::new(NEW), World::new(&with_gaps(NEW))];
    let mut random = Rng::with_seed(12);
    let (mut carried, mut tried) = (0, 0);
    for round in 0..3000 {
        let world = &worlds[round % 2];
        let translator = world.translator();
        let value = world.value_of_depth(&mut random, 1);
        let json = shown(&world.tree, &value);
        let (notation, text) = match random.u8(0..4) {
            0 => (Notation::Json, json),
            1 => (Notation::Text, Codec::new(&world.tree).to_text(&value)),
            _ => (Notation::Yaml, as_yaml(&json, &mut random)),
        };
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(0..=chars.len());
            let end = (at + random.usize(0..8)).min(chars.len());
            match random.u8(0..3) {
                0 => drop(chars.drain(at..end)),
                1 => drop(chars.splice(at..at, random.choice(PIECES).unwrap_or(&"").chars())),
                _ => {
                    let copy: Vec<char> = chars[at..end].to_vec();
                    drop(chars.splice(at..at, copy));
                }
            }
        }
        let text: String = chars.into_iter().collect();
        let options = ReadOptions { notation, ty: Some(world.ty("acme.v1.Node")), dialect: None };
        let way = Direction::Up(None);
        let made = convert_text(&world.tree, &translator, text.as_bytes(), options, Some(&way));
        let made = made.unwrap_or_else(|why| panic!("{notation:?}: {why}:\n{text}"));
        tried += 1;
        carried += usize::from(made.text.is_some());
    }
    assert!(carried * 10 > tried, "only {carried} of {tried} texts could be read");
}
