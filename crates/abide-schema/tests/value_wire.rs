//! The binary notation of values: round trips, merging, and hostile bytes.

use std::sync::Arc;

use abide_schema::value::{Codec, MAX_NESTING, Value};
use abide_schema::{FileDecl, MessageId, SourceFile, Tree};

const BASE: &str = include_str!("value_options/base.proto");
const BASE3: &str = include_str!("value_options/base3.proto");

fn tree() -> Tree {
    let file = |path: &str, text: &str| {
        Arc::new(FileDecl::parse(SourceFile {
            path: path.into(),
            display: path.into(),
            root: 0,
            imported: false,
            text: text.as_bytes().into(),
        }))
    };
    Tree::link(vec![file("base.proto", BASE), file("base3.proto", BASE3)])
}

fn message(tree: &Tree, name: &str) -> MessageId {
    let found = tree.files().flat_map(abide_schema::File::all_messages);
    found.into_iter().find(|it| it.full_name() == name).expect("it is declared").id
}

/// A small generator of the same numbers in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn occurrences_of_a_message_are_merged_and_the_last_scalar_wins() {
    let tree = tree();
    // i = 1, m { i: 1 }, m { s: "x" }, i = 2, ri = 5, ri = 4
    let bytes = b"\x08\x01\x4a\x02\x08\x01\x4a\x03\x2a\x01x\x08\x02\x40\x05\x40\x04";
    let value = Codec::new(&tree).decode(message(&tree, "b.M"), bytes).expect("it is valid");
    assert_eq!(value.entries.len(), 6, "each written field has an entry");
    assert_eq!(value.get_i64(&tree, "i"), Some(2));
    assert_eq!(value.get_all(&tree, "ri").count(), 2);
    let merged = value.normalize(&tree);
    let inner = merged.get_message(&tree, "m").expect("it is set");
    assert_eq!((inner.get_i64(&tree, "i"), inner.get_str(&tree, "s")), (Some(1), Some("x")));
    assert_eq!(
        Codec::new(&tree).encode(&value),
        b"\x08\x02\x40\x05\x40\x04\x4a\x05\x08\x01\x2a\x01x"
    );
}

#[test]
fn of_a_oneof_the_member_written_last_counts() {
    let tree = tree();
    let bytes = b"\x70\x01\x7a\x01x";
    let value = Codec::new(&tree).decode(message(&tree, "b.M"), bytes).expect("it is valid");
    assert_eq!(Codec::new(&tree).encode(&value), b"\x7a\x01x");
}

#[test]
fn what_the_type_does_not_declare_is_kept_at_the_end() {
    let tree = tree();
    // An unknown field, a value that the closed enum lacks, a wrong wire type.
    let bytes = b"\xf8\x01\x07\x38\x63\x0d\x01\x00\x00\x00\x20\x01";
    let value = Codec::new(&tree).decode(message(&tree, "b.M"), bytes).expect("it is valid");
    assert_eq!(&*value.unknown, b"\xf8\x01\x07\x38\x63\x0d\x01\x00\x00\x00");
    let expected = [b"\x20\x01".as_slice(), &value.unknown].concat();
    assert_eq!(Codec::new(&tree).encode(&value), expected);
    // An open enum keeps every number.
    let value =
        Codec::new(&tree).decode(message(&tree, "b3.M3"), b"\x18\x63").expect("it is valid");
    assert_eq!(value.get(&tree, "e").map(|entry| &entry.value), Some(&Value::Enum(99)));
}

#[test]
fn an_entry_of_a_map_is_unknown_with_its_value() {
    let text = b"syntax = 'proto2'; package c; enum E { A = 1; }
        message M { map<int32, E> m = 1; }";
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(SourceFile {
        path: "c.proto".into(),
        display: "c.proto".into(),
        root: 0,
        imported: false,
        text: text.as_slice().into(),
    }))]);
    let bytes = b"\x0a\x04\x08\x07\x10\x63\x0a\x04\x08\x08\x10\x01";
    let value = Codec::new(&tree).decode(message(&tree, "c.M"), bytes).expect("it is valid");
    assert_eq!((value.entries.len(), &*value.unknown), (1, &bytes[..6]));
}

#[test]
fn malformed_bytes_are_refused_with_their_place() {
    let tree = tree();
    let refused = |name: &str, bytes: &[u8]| {
        let error =
            Codec::new(&tree).decode(message(&tree, name), bytes).expect_err("it is malformed");
        error.to_string()
    };
    assert_eq!(refused("b.M", b"\x08"), "the number is truncated or too long at byte 1");
    assert_eq!(refused("b.M", b"\x2a\x05x"), "the length is past the end at byte 1");
    assert_eq!(refused("b3.M3", b"\x12\x01\xff"), "`b3.M3.s` is not valid UTF-8 at byte 2");
    assert_eq!(refused("b.M", b"\x6b\x08\x01"), "the group is not closed at byte 0");
    let mut deep = Vec::new();
    for _ in 0..=MAX_NESTING {
        let mut outer = vec![0x4a];
        let mut length = deep.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.append(&mut deep);
        deep = outer;
    }
    assert!(refused("b.M", &deep).contains("nest deeper than 100 levels"));
}

#[test]
fn hostile_bytes_never_panic_and_values_survive_a_round_trip() {
    let tree = tree();
    let types = ["b.M", "b3.M3", "b.Set", "b.Req"].map(|name| message(&tree, name));
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut read = 0;
    for round in 0..20_000 {
        let ty = types[round % types.len()];
        let length = numbers.next() as usize % 24;
        let bytes: Vec<u8> = (0..length)
            .map(|_| match numbers.next() % 4 {
                // Tags of the fields and small lengths come up often.
                0 => (numbers.next() % 18) as u8 * 8 + (numbers.next() % 6) as u8,
                1 => (numbers.next() % 4) as u8,
                _ => numbers.next() as u8,
            })
            .collect();
        let Ok(value) = Codec::new(&tree).decode(ty, &bytes) else { continue };
        read += 1;
        let canonical = Codec::new(&tree).encode(&value);
        let again = Codec::new(&tree).decode(ty, &canonical).expect("our own bytes are valid");
        assert_eq!(Codec::new(&tree).encode(&again), canonical, "{bytes:x?}");
    }
    assert!(read > 1000, "only {read} of the generated values were valid");
}

fn linked(text: &str) -> Tree {
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(SourceFile {
        path: "l.proto".into(),
        display: "l.proto".into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    }))]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    tree
}

#[test]
fn elements_are_found_by_their_full_names() {
    let long: String = (1..=60).map(|it| format!("  int32 field_{it} = {};\n", 2 * it)).collect();
    let values: String = (0..60).map(|it| format!("  VALUE_{it} = {it};\n")).collect();
    let text = format!(
        "syntax = \"proto3\";\npackage l;\nmessage Long {{\n  reserved \"gone\";\n{long}  message Inner {{}}\n}}\n\
         enum Many {{\n{values}}}\n"
    );
    let tree = linked(&text);
    let message = tree.message_named("l.Long").expect("it is declared");
    assert_eq!(tree.message_named("l.Long.Inner").map(|it| it.name()), Some("Inner"));
    assert_eq!(tree.message_named("l.Many"), None);
    for it in 1..=60 {
        let named = message.field_named(&format!("field_{it}")).expect("it is declared");
        assert_eq!(message.field_numbered(2 * it), Some(named));
        assert_eq!(message.find_field_by_json_name(&format!("field{it}")), Some(named));
        assert_eq!(message.find_field_by_json_name(named.name()), Some(named));
        assert_eq!(message.field_numbered(2 * it - 1), None);
    }
    assert!(message.reserves_name("gone") && !message.reserves_name("field_1"));
    let item = tree.enum_named("l.Many").expect("it is declared");
    for it in 0..60 {
        let value = item.value_named(&format!("VALUE_{it}")).expect("it is declared");
        assert_eq!((value.number(), item.value_numbered(it)), (it, Some(value)));
    }
    assert_eq!(item.value_numbered(60), None);
    assert_eq!(tree.enum_named("l.Long"), None);
}

/// Long lists are looked up in tables, short ones are walked: both find the same.
#[test]
fn lists_of_any_length_are_grouped_alike() {
    for count in [4, 60] {
        let field = |it: i32| match it % 4 {
            0 => format!("  required int32 f{it} = {it};\n"),
            1 => format!("  oneof o{it} {{ int32 f{it} = {it}; int32 g{it} = {}; }}\n", 1000 + it),
            _ => format!("  optional int32 f{it} = {it};\n"),
        };
        let fields: String = (1..=count).map(field).collect();
        let value = |it: i32| format!("  V{it} = {};\n", it / 2);
        let values: String = (0..count).map(value).collect();
        let text = format!(
            "syntax = \"proto2\";\nmessage M {{\n{fields}}}\n\
             enum E {{\n  option allow_alias = true;\n{values}}}\n"
        );
        let tree = linked(&text);
        let message = tree.message_named("M").expect("it is declared");
        let required: Vec<i32> = message.required_fields().map(|it| it.number()).collect();
        assert_eq!(required, (1..=count).filter(|it| it % 4 == 0).collect::<Vec<_>>());
        for oneof in message.oneofs() {
            let members: Vec<i32> = oneof.fields().map(|it| it.number()).collect();
            let [first, second] = members[..] else { panic!("{members:?}") };
            assert_eq!((oneof.name(), second), (&*format!("o{first}"), 1000 + first));
        }
        let item = tree.enum_named("E").expect("it is declared");
        for it in 0..count / 2 {
            let names: Vec<&str> = item.values_numbered(it).map(|it| it.name()).collect();
            assert_eq!(names, [format!("V{}", 2 * it), format!("V{}", 2 * it + 1)]);
        }
        assert_eq!(item.values_numbered(count).count(), 0);
    }
}
