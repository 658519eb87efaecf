//! What the trial of values finds, against what protobuf's encoding rules say,
//! and against another implementation of them.

#![allow(clippy::unwrap_used, reason = "helpers are tests too")]

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_change::{Change, Comparison, Direction, Effects, Proof, Surface, Witness};
use abide_schema::{FileDecl, SourceFile, Tree, encode_set};
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MapKey, MessageDescriptor, ReflectMessage,
    Value,
};

fn tree(text: &str) -> Tree {
    let file = FileDecl::parse(SourceFile {
        path: "a/v1/a.proto".into(),
        display: "a/v1/a.proto".into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    });
    let tree = Tree::link(vec![Arc::new(file)]);
    let problems: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    tree
}

/// What is proven of the field `f` of the message `X`.
fn proof(old: &Tree, new: &Tree) -> Proof {
    let diff = Comparison::new(old, new);
    let field = |tree: &'_ Tree| {
        let mut fields = tree.files().flat_map(|it| it.all_fields());
        fields.find(|it| it.full_name() == "a.v1.X.f").map(|it| it.id)
    };
    let (before, after) = (field(old), field(new));
    let was = before.map(|id| old.field(id)).or_else(|| diff.old_field(new.field(after?)));
    let is = after.map(|id| new.field(id)).or_else(|| diff.new_field(old.field(before?)));
    match (was, is) {
        (Some(was), Some(is)) if diff.new_field(was) == Some(is) => {
            diff.prover().prove_kept(was, is)
        }
        (_, Some(is)) => diff.prover().prove_field(Change::Added(is)),
        (Some(was), None) => diff.prover().prove_field(Change::Removed(was)),
        (None, None) => Proof::default(),
    }
}

/// A type of a field, with what the rules of encoding need to know of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Plain varints of whole numbers between two bounds.
    Varint(i128, i128),
    Zigzag(i128, i128),
    Fixed32(i128, i128),
    Fixed64(i128, i128),
    Float,
    Double,
    Bool,
    String,
    Bytes,
    OpenEnum,
    /// Declares 0 and 1.
    ClosedEnum,
    Message,
    /// The same message, delimited.
    Group,
}

const I32: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const I64: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
const U32: (i128, i128) = (0, u32::MAX as i128);
const U64: (i128, i128) = (0, u64::MAX as i128);

const KINDS: [(&str, Kind); 19] = [
    ("double", Kind::Double),
    ("float", Kind::Float),
    ("int64", Kind::Varint(I64.0, I64.1)),
    ("uint64", Kind::Varint(U64.0, U64.1)),
    ("int32", Kind::Varint(I32.0, I32.1)),
    ("fixed64", Kind::Fixed64(U64.0, U64.1)),
    ("fixed32", Kind::Fixed32(U32.0, U32.1)),
    ("bool", Kind::Bool),
    ("string", Kind::String),
    ("bytes", Kind::Bytes),
    ("uint32", Kind::Varint(U32.0, U32.1)),
    ("sfixed32", Kind::Fixed32(I32.0, I32.1)),
    ("sfixed64", Kind::Fixed64(I64.0, I64.1)),
    ("sint32", Kind::Zigzag(I32.0, I32.1)),
    ("sint64", Kind::Zigzag(I64.0, I64.1)),
    ("Open", Kind::OpenEnum),
    ("Closed", Kind::ClosedEnum),
    ("M", Kind::Message),
    ("M ", Kind::Group),
];

impl Kind {
    /// The numbers it can hold, where they are whole.
    fn range(self) -> Option<(i128, i128)> {
        match self {
            Kind::Varint(low, high)
            | Kind::Zigzag(low, high)
            | Kind::Fixed32(low, high)
            | Kind::Fixed64(low, high) => Some((low, high)),
            Kind::OpenEnum => Some(I32),
            Kind::Bool | Kind::ClosedEnum => Some((0, 1)),
            _ => None,
        }
    }

    fn is_enum(self) -> bool {
        matches!(self, Kind::OpenEnum | Kind::ClosedEnum)
    }

    fn is_integer(self) -> bool {
        self.range().is_some() && !self.is_enum() && self != Kind::Bool
    }

    /// Whether every number of it is one of the other.
    fn fits(self, other: Kind) -> bool {
        match (self.range(), other.range()) {
            (Some(from), Some(to)) => to.0 <= from.0 && from.1 <= to.1,
            _ => false,
        }
    }
}

/// Whether every value that is written as the one type is read as the same
/// value of the other. Source: "Encoding", "ProtoJSON Format" and "Text Format
/// Language" of the protobuf documentation.
fn survives(surface: Surface, from: Kind, to: Kind) -> bool {
    if from == to {
        return true;
    }
    match surface {
        Surface::Wire => match (from, to) {
            // What is no varint of the type is cut to its width, or dropped.
            (
                Kind::Varint(..) | Kind::Bool | Kind::OpenEnum | Kind::ClosedEnum,
                Kind::Varint(..) | Kind::Bool | Kind::OpenEnum | Kind::ClosedEnum,
            )
            | (Kind::Zigzag(..), Kind::Zigzag(..)) => from.fits(to),
            // Bytes are anything; text is bytes, and a message is bytes.
            (Kind::String | Kind::Message, Kind::Bytes) => true,
            // Other wire types, or other numbers for the same bits.
            _ => false,
        },
        _ => match (from, to) {
            (Kind::Message, Kind::Group) | (Kind::Group, Kind::Message) => true,
            // JSON has base64 for bytes, text the same quotes.
            (Kind::String, Kind::Bytes) => surface == Surface::Text,
            // The shortest decimal of a float is that of a double.
            (Kind::Float, Kind::Double) => true,
            // 53 bits are exact in a double; not 32 in a float.
            (from, Kind::Double) => from.is_integer() && from.range().unwrap().1 < 1 << 53,
            // Numbers are taken by open enums; in quotes they are names.
            (from, Kind::OpenEnum) => from.is_integer() && from.fits(to),
            (from, to) => from.is_integer() && to.is_integer() && from.fits(to),
        },
    }
}

fn declared(ty: &str) -> String {
    let options = if ty.ends_with(' ') { " [features.message_encoding = DELIMITED]" } else { "" };
    format!(
        r#"edition = "2023";
package a.v1;
enum Open {{ OPEN_NO = 0; OPEN_YES = 1; }}
enum Closed {{ option features.enum_type = CLOSED; CLOSED_NO = 0; CLOSED_YES = 1; }}
message M {{ int32 a = 1; string b = 2; bytes c = 3; }}
message X {{ {ty} f = 1{options}; }}"#
    )
}

#[test]
fn pairs_of_types_break_what_the_encoding_says() {
    let trees: Vec<Tree> = KINDS.iter().map(|(ty, _)| tree(&declared(ty))).collect();
    let mut complaints = String::new();
    let mut broken = 0;
    for (&(was, from), old) in KINDS.iter().zip(&trees) {
        for (&(is, to), new) in KINDS.iter().zip(&trees) {
            let proof = proof(old, new);
            for &surface in Surface::NOTATIONS {
                for &direction in Direction::ALL {
                    let expected = match direction {
                        Direction::Backward => !survives(surface, from, to),
                        Direction::Forward => !survives(surface, to, from),
                    };
                    broken += u32::from(expected);
                    if proof.effects.contains(surface, direction) != expected {
                        let said = if expected { "silent" } else { "false alarm" };
                        let witness = proof
                            .witnesses
                            .iter()
                            .find(|it| (it.surface, it.direction) == (surface, direction));
                        complaints +=
                            &format!("{was} -> {is}, {surface} {direction}: {said} {witness:?}\n");
                    }
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(broken > 1000, "{broken}");
}

/// Two files whose field `f` of `X` differs, and what breaks.
struct Case {
    old: &'static str,
    new: &'static str,
    effects: Effects,
}

fn proto3(body: &str) -> String {
    format!("syntax = \"proto3\"; package a.v1; {body}")
}

fn proto2(body: &str) -> String {
    format!("syntax = \"proto2\"; package a.v1; {body}")
}

const NOTATIONS: &[Surface] = Surface::NOTATIONS;
const WIRE: &[Surface] = &[Surface::Wire];
const JSON: &[Surface] = &[Surface::Json];
const TEXT: &[Surface] = &[Surface::Text];
const WRITTEN: &[Surface] = &[Surface::Json, Surface::Text];

fn check(cases: &[Case], file: fn(&str) -> String) {
    for Case { old, new, effects } in cases {
        let proof = proof(&tree(&file(old)), &tree(&file(new)));
        assert_eq!(proof.effects, *effects, "{old} -> {new}: {:#?}", proof.witnesses);
        assert_eq!(proof.witnesses.len(), proof.effects.iter().count());
    }
}

#[test]
fn changes_of_proto3_fields_break_what_the_encoding_says() {
    let cases = [
        // Cardinality.
        Case {
            old: "message X { string f = 1; }",
            new: "message X { repeated string f = 1; }",
            effects: Effects::forward(&[Surface::Wire, Surface::Text]) | Effects::both(JSON),
        },
        Case {
            // Packed numbers are not found by a singular reader, not even one.
            old: "message X { int32 f = 1; }",
            new: "message X { repeated int32 f = 1; }",
            effects: Effects::forward(&[Surface::Wire, Surface::Text]) | Effects::both(JSON),
        },
        Case {
            old: "message X { map<int32, int32> f = 1; }",
            new: "message X { message E { int32 key = 1; int32 value = 2; } repeated E f = 1; }",
            effects: Effects::forward(&[Surface::Wire, Surface::Text]) | Effects::both(JSON),
        },
        // Presence.
        Case {
            old: "message X { optional int32 f = 1; }",
            new: "message X { int32 f = 1; }",
            effects: Effects::NONE,
        },
        // Oneofs.
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { oneof o { int32 f = 1; } }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { int32 f = 1; oneof o { int32 g = 2; } }",
            new: "message X { oneof o { int32 f = 1; int32 g = 2; } }",
            effects: Effects::backward(NOTATIONS),
        },
        Case {
            old: "message X { oneof o { int32 f = 1; int32 g = 2; } }",
            new: "message X { oneof o { int32 f = 1; } oneof p { int32 g = 2; } }",
            effects: Effects::forward(NOTATIONS),
        },
        // A field that one side lacks.
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { reserved 1; }",
            effects: Effects::backward(WRITTEN),
        },
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { reserved 1; reserved \"f\"; }",
            effects: Effects::backward(JSON),
        },
        // Names and numbers: what another name does to JSON and text is no
        // matter of the type.
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { int32 g = 1; }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { string g = 1; }",
            effects: Effects::both(WIRE),
        },
        Case {
            old: "message X { int32 f = 1; }",
            new: "message X { int32 g = 1 [json_name = \"f\"]; }",
            effects: Effects::NONE,
        },
        // A type that was renamed, and one that was replaced by another.
        Case {
            old: "message X { A f = 1; } message A { int32 a = 1; string b = 2; }",
            new: "message X { B f = 1; } message B { int32 a = 1; string b = 2; }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { A f = 1; } message A { int32 a = 1; } message B { int32 b = 1; }",
            new: "message X { B f = 1; } message A { int32 a = 1; } message B { int32 b = 1; }",
            effects: Effects::both(WRITTEN),
        },
        Case {
            // What one of two like types lacks is skipped.
            old: "message X { A f = 1; } message A { int32 a = 1; int32 b = 2; } message B {}",
            new: "message X { B f = 1; } message A { int32 a = 1; int32 b = 2; } message B { int32 a = 1; }",
            effects: Effects::backward(WRITTEN),
        },
        Case {
            // Nothing is left where nothing is shared.
            old: "message X { A f = 1; } message A { int32 a = 1; } message B {}",
            new: "message X { B f = 1; } message A { int32 a = 1; } message B { int32 b = 2; }",
            effects: Effects::both(NOTATIONS),
        },
        // What changes inside of a type is told there, not at who uses it.
        Case {
            old: "message X { A f = 1; } message A { int32 a = 1; }",
            new: "message X { repeated A f = 1; } message A { string a = 1; }",
            effects: Effects::forward(&[Surface::Wire, Surface::Text]) | Effects::both(JSON),
        },
        // Maps.
        Case {
            old: "message X { map<string, int32> f = 1; }",
            new: "message X { map<string, int64> f = 1; }",
            effects: Effects::forward(NOTATIONS),
        },
        Case {
            old: "message X { map<string, int32> f = 1; }",
            new: "message X { map<string, int32> f = 1; int32 g = 2; }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { map<int32, string> f = 1; }",
            new: "message X { map<string, string> f = 1; }",
            effects: Effects::both(NOTATIONS),
        },
    ];
    check(&cases, proto3);
}

#[test]
fn changes_of_proto2_fields_break_what_the_encoding_says() {
    let cases = [
        Case {
            old: "message X { optional int32 f = 1; }",
            new: "message X { required int32 f = 1; }",
            effects: Effects::backward(NOTATIONS),
        },
        Case {
            old: "message X { required int32 f = 1; }",
            new: "message X { reserved 1; }",
            effects: Effects::forward(NOTATIONS) | Effects::backward(WRITTEN),
        },
        // A sibling that becomes required is a change of its own.
        Case {
            old: "message X { optional int32 f = 1; optional int32 g = 2; }",
            new: "message X { repeated int32 f = 1; required int32 g = 2; }",
            effects: Effects::forward(&[Surface::Wire, Surface::Text]) | Effects::both(JSON),
        },
        Case {
            old: "message X { required int32 f = 1; required int32 g = 2; }",
            new: "message X { optional int32 f = 1; required int32 h = 3; }",
            // That the old side refuses `h` in JSON and text hides nothing.
            effects: Effects::forward(NOTATIONS),
        },
        Case {
            old: "message X { optional int32 f = 1 [default = 3]; }",
            new: "message X { optional int32 f = 1; }",
            effects: Effects::both(NOTATIONS),
        },
        Case {
            old: "message X { optional int32 f = 1 [default = 0]; }",
            new: "message X { optional int32 f = 1; }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { repeated int32 f = 1; }",
            new: "message X { repeated int32 f = 1 [packed = true]; }",
            effects: Effects::NONE,
        },
        Case {
            old: "message X { optional group F = 1 { optional int32 a = 1; } }",
            new: "message X { message F { optional int32 a = 1; } optional F f = 1; }",
            // Text printed a group by the name of its type, and reads both.
            effects: Effects::both(WIRE) | Effects::backward(TEXT),
        },
    ];
    check(&cases, proto2);
}

/// One side as another implementation knows it.
struct Peer(DescriptorPool);

impl Peer {
    fn of(tree: &Tree) -> Peer {
        let files: Vec<_> = tree.files().map(|file| file.id).collect();
        Peer(DescriptorPool::decode(encode_set(tree, &files, true, false).as_slice()).unwrap())
    }

    fn read(&self, witness: &Witness, message: &str) -> Option<DynamicMessage> {
        let ty: MessageDescriptor = self.0.get_message_by_name(message)?;
        match witness.surface {
            Surface::Wire => DynamicMessage::decode(ty, witness.bytes.as_slice()).ok(),
            Surface::Json => {
                let text = std::str::from_utf8(&witness.bytes).ok()?;
                let mut json = serde_json::Deserializer::from_str(text);
                let strict = DeserializeOptions::new().deny_unknown_fields(true);
                DynamicMessage::deserialize_with_options(ty, &mut json, &strict).ok()
            }
            _ => DynamicMessage::parse_text_format(ty, std::str::from_utf8(&witness.bytes).ok()?)
                .ok(),
        }
    }
}

/// What a value means, whatever its type is called.
fn meaning(value: &Value) -> String {
    match value {
        Value::Bool(value) => u8::from(*value).to_string(),
        Value::I32(value) | Value::EnumNumber(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => f64::from(*value).to_string(),
        Value::F64(value) => value.to_string(),
        Value::String(value) => format!("{:?}", value.as_bytes()),
        Value::Bytes(value) => format!("{:?}", &value[..]),
        Value::Message(value) => {
            format!("{:?}", prost_reflect::prost::Message::encode_to_vec(value))
        }
        Value::List(values) => values.iter().map(meaning).collect::<Vec<_>>().join(", "),
        Value::Map(pairs) => {
            let key = |key: &MapKey| meaning(&Value::from(key.clone()));
            let pairs: BTreeSet<String> =
                pairs.iter().map(|(k, value)| format!("{}: {}", key(k), meaning(value))).collect();
            format!("{pairs:?}")
        }
    }
}

/// Every field by name and by number; what a message does not set is there
/// with its default.
fn meanings(message: &DynamicMessage) -> BTreeSet<String> {
    let ty = message.descriptor();
    ty.fields()
        .map(|field| format!("{}: {}", field.number(), meaning(&message.get_field(&field))))
        .collect()
}

fn confirm(old: &str, new: &str) -> usize {
    let (old, new) = (tree(old), tree(new));
    let peers = [Peer::of(&old), Peer::of(&new)];
    let proof = proof(&old, &new);
    for witness in &proof.witnesses {
        let (writer, reader) = match witness.direction {
            Direction::Backward => (&peers[0], &peers[1]),
            Direction::Forward => (&peers[1], &peers[0]),
        };
        let wrote = writer.read(witness, &witness.message);
        let wrote = wrote.unwrap_or_else(|| panic!("its writer refuses {witness:?}"));
        let read = reader.read(witness, &witness.message);
        let shown = read.is_none_or(|read| meanings(&wrote) != meanings(&read));
        assert!(shown, "another implementation sees no break: {witness:?}");
    }
    proof.witnesses.len()
}

#[test]
fn another_implementation_sees_every_break_of_types() {
    let files: Vec<String> = KINDS
        .iter()
        .filter(|(_, kind)| !matches!(kind, Kind::ClosedEnum | Kind::Group))
        .map(|(ty, _)| {
            proto3(&format!(
                "enum Open {{ O0 = 0; O1 = 1; }} message M {{ int32 a = 1; string b = 2; }}
                 message X {{ optional {ty} f = 1; }}"
            ))
        })
        .collect();
    let mut confirmed = 0;
    for old in &files {
        for new in &files {
            confirmed += confirm(old, new);
        }
    }
    assert!(confirmed > 1000, "{confirmed}");
}

#[test]
fn another_implementation_sees_every_other_break() {
    let pairs = [
        ("message X { string f = 1; }", "message X { repeated string f = 1; }"),
        ("message X { int32 f = 1; }", "message X { repeated int32 f = 1; }"),
        (
            "message X { map<int32, int32> f = 1; }",
            "message X { message E { int32 key = 1; int32 value = 2; } repeated E f = 1; }",
        ),
        (
            "message X { int32 f = 1; oneof o { int32 g = 2; } }",
            "message X { oneof o { int32 f = 1; int32 g = 2; } }",
        ),
        ("message X { map<int32, string> f = 1; }", "message X { map<string, string> f = 1; }"),
        ("message X { int32 f = 1; }", "message X { int32 f = 2; }"),
        ("message X { int32 f = 1; }", "message X { reserved 1; }"),
    ];
    let confirmed: usize = pairs.iter().map(|(old, new)| confirm(&proto3(old), &proto3(new))).sum();
    assert!(confirmed > 15, "{confirmed}");
    let default = confirm(
        &proto2("message X { optional int32 f = 1 [default = 3]; }"),
        &proto2("message X { optional int32 f = 1; }"),
    );
    assert_eq!(default, 6);
}

/// A default that changes together with the name or the number of a field is
/// told of the default: readers of the name cannot mistake what is not there.
#[test]
fn a_moved_field_is_witnessed_by_a_value_of_it() {
    let old = tree(&proto2("message X { optional int32 f = 1; }"));
    let new = tree(&proto2("message X { optional int32 g = 1 [default = 5]; }"));
    let diff = Comparison::new(&old, &new);
    let changes = diff.field_changes();
    let [Change::Both { old, new }] = changes[..] else { panic!("{} changes", changes.len()) };
    let moved =
        diff.prover().prove_field(Change::Both { old, new }).on(&[Surface::Json, Surface::Text]);
    let values: Vec<&str> = moved.witnesses.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["{\"f\":1}", "f: 1", "{\"g\":1}", "g: 1"]);
    let absence = diff.prover().prove_absence(old, new);
    assert!(absence.effects.contains(Surface::Wire, Direction::Backward));
    assert!(absence.witnesses.iter().all(|it| it.value.is_empty() || it.value == "{}"));
}

/// What is found once for a oneof serves each of its members, wherever its
/// partners stand and however many there are.
#[test]
fn members_of_a_merged_oneof_show_that_only_one_is_set() {
    for pairs in [2, 40] {
        let apart: Vec<String> = (0..pairs)
            .map(|it| {
                let (first, second) = (2 * it + 1, 2 * it + 2);
                format!("oneof o{it} {{ int32 a{it} = {first}; int32 b{it} = {second}; }}\n")
            })
            .collect();
        let single = 2 * pairs + 1;
        let merged: Vec<String> = (0..pairs)
            .map(|it| format!("int32 a{it} = {}; int32 b{it} = {};\n", 2 * it + 1, 2 * it + 2))
            .collect();
        let old = tree(&proto3(&format!("message X {{ {} int32 c = {single}; }}", apart.concat())));
        let new = tree(&proto3(&format!(
            "message X {{ oneof o {{ {} int32 c = {single}; }} }}",
            merged.concat()
        )));
        let diff = Comparison::new(&old, &new);
        for field in old.message_named("a.v1.X").unwrap().fields() {
            let twin = diff.new_field(field).unwrap();
            let proof = diff.prover().prove_kept(field, twin);
            let set: Vec<BTreeSet<&str>> = proof
                .witnesses
                .iter()
                .filter(|it| (it.surface, it.direction) == (Surface::Text, Direction::Backward))
                .map(|it| {
                    it.value.split([':', ' ']).filter(|it| it.len() > 1 || *it == "c").collect()
                })
                .collect();
            let partner = if matches!(field.name(), "a0" | "b0") { "a1" } else { "a0" };
            assert_eq!(set, [BTreeSet::from([field.name(), partner])], "{pairs} {}", field.name());
        }
    }
}
