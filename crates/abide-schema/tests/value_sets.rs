//! Descriptor sets in JSON and in text say what serialised ones say.

use std::sync::Arc;

use abide_schema::value::{Codec, UndeclaredPolicy};
use abide_schema::{
    File, FileDecl, SourceFile, Tree, encode_set, read_descriptor_set_json,
    read_descriptor_set_text,
};

const OPTIONS: &str = r#"syntax = "proto3";
package o;
import "google/protobuf/descriptor.proto";
import "google/protobuf/any.proto";
message Policy {
  string owner = 1;
  repeated int64 levels = 2;
  map<string, bool> flags = 3;
  google.protobuf.Any more = 4;
}
extend google.protobuf.FileOptions { Policy policy = 50001; }
extend google.protobuf.FieldOptions { optional bool secret = 50002; }
"#;
const USED: &str = r#"syntax = "proto3";
package u;
import "o.proto";
option (o.policy) = {
  owner: "a \"b\""
  levels: [1, -9223372036854775808]
  flags { key: "x" value: true }
  more { [type.googleapis.com/o.Policy] { owner: "inner" } }
};
message M {
  // A secret.
  string s = 1 [(o.secret) = true, deprecated = true];
  oneof choice { bytes b = 2; }
}
"#;

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
    let tree = Tree::link(vec![file("o.proto", OPTIONS), file("u.proto", USED)]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    tree
}

#[test]
fn the_three_notations_of_a_set_are_one() {
    let tree = tree();
    let files: Vec<_> = tree.files().map(|file| file.id).collect();
    let bytes = encode_set(&tree, &files, true, true);
    let mut messages = tree.files().flat_map(File::messages);
    let set = messages.find(|it| it.full_name() == "google.protobuf.FileDescriptorSet").unwrap();
    let value = Codec::new(&tree).decode(set.id, &bytes).unwrap();
    let json = Codec::new(&tree).to_json(&value).unwrap();
    let text = Codec::new(&tree).to_text(&value);
    assert!(json.contains(r#""[o.policy]":{"owner":"a \"b\"","#), "{json}");
    assert!(text.contains("[o.secret]: true") && text.contains("type.googleapis.com"), "{text}");
    assert_eq!(Codec::new(&tree).encode(&value), bytes, "it is canonical");
    assert_eq!(read_descriptor_set_json(json.as_bytes()).unwrap(), bytes);
    assert_eq!(read_descriptor_set_text(text.as_bytes()).unwrap(), bytes);
}

#[test]
fn what_an_image_says_about_imports_is_kept() {
    let json = br#"{"file": [
        {"name": "a.proto", "options": {"[not.known]": {"a": [1]}, "javaPackage": "a"},
         "bufExtension": {"isImport": true, "moduleInfo": {"name": {}}}},
        {"name": "b.proto", "bufExtension": {"isImport": false, "isSyntaxUnspecified": true}}
    ]}"#;
    let text =
        b"# An image\nfile { name: 'a.proto' options { [not.known] { a: 1 } java_package: 'a' }
        buf_extension { is_import: true module_info { name { } } } }
        file: < name: 'b.proto' buf_extension { is_import: false is_syntax_unspecified: true } >";
    let sets = [read_descriptor_set_json(json).unwrap(), read_descriptor_set_text(text).unwrap()];
    assert_eq!(sets[0], sets[1]);
    let files = FileDecl::from_descriptor_set(&sets[0].as_slice().into()).unwrap();
    let imported: Vec<_> = files.iter().map(|file| (&*file.path, file.imported)).collect();
    assert_eq!(imported, [("a.proto", true), ("b.proto", false)]);
}

#[test]
fn what_is_wrong_has_its_place() {
    let json = |text: &str| read_descriptor_set_json(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(json(""), "expected a JSON value at byte 0");
    assert_eq!(
        json("[]"),
        "expected an object for a `google.protobuf.FileDescriptorSet` at byte 0"
    );
    assert_eq!(json(r#"{"file": [{"name": 1}]}"#), "expected a string for `name` at byte 19");
    assert_eq!(json(r#"{"file": [], "file": []}"#), "`file` is set twice at byte 13");
    let text = |text: &str| read_descriptor_set_text(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(text("file { name: 1 }"), "`name` takes a string in quotes, not `1` at byte 13");
    assert_eq!(text("} ; option (y) = {"), "this closing brace has no opening brace at byte 0");
    assert!(text("file {").contains("at byte"));
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
fn hostile_text_is_refused_and_never_a_panic() {
    let tree = tree();
    let mut messages = tree.files().flat_map(File::messages);
    let policy = messages.find(|it| it.full_name() == "o.Policy").unwrap().id;
    let mut numbers = Numbers(0x1234_5678);
    let good: [&[u8]; 2] = [
        br#"{"owner":"\u00e9\ud83d\ude00","levels":["1",2,3e0],"flags":{"x":true},
            "more":{"@type":"type.googleapis.com/o.Policy","owner":"i"}}"#,
        b"owner: \"\\303\\251\" levels: [1, 2] # c\n flags { key: 'x' value: t }
            more { [type.googleapis.com/o.Policy] { owner: 'i' } }",
    ];
    assert!(
        Codec::new(&tree)
            .read_json(policy, good[0], UndeclaredPolicy::Refuse)
            .into_result()
            .is_ok()
    );
    assert!(
        Codec::new(&tree)
            .read_text(policy, good[1], UndeclaredPolicy::Refuse)
            .into_result()
            .is_ok()
    );
    for round in 0..20_000 {
        let mut bytes = good[round % 2].to_vec();
        for _ in 0..=numbers.next() % 3 {
            let at = numbers.next() as usize % bytes.len();
            match numbers.next() % 3 {
                0 => bytes[at] = numbers.next() as u8,
                1 => bytes[at] = b"{}[]\"':,#/\\-.\xf0e"[numbers.next() as usize % 15],
                _ => bytes.truncate(at.max(1)),
            }
        }
        for undeclared in [UndeclaredPolicy::Refuse, UndeclaredPolicy::Ignore] {
            for read in [Codec::read_json, Codec::read_text] {
                match read(Codec::new(&tree), policy, &bytes, undeclared).into_result() {
                    Ok(value) => {
                        drop((Codec::new(&tree).to_json(&value), Codec::new(&tree).to_text(&value)))
                    }
                    Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
                }
            }
        }
    }
    let any = |levels: usize| {
        let open = r#"{"@type":"type.googleapis.com/o.Policy","more":"#;
        format!("{{\"more\":{}{{}}{}}}", open.repeat(levels), "}".repeat(levels))
    };
    let read = |text: &str| {
        Codec::new(&tree).read_json(policy, text.as_bytes(), UndeclaredPolicy::Refuse).into_result()
    };
    assert!(read(&any(40)).is_ok());
    assert!(read(&any(60)).unwrap_err().message.contains("nest deeper"));
    for text in [any(100_000), "[".repeat(1_000_000), "{\"more\":".repeat(100_000)] {
        assert!(read(&text).unwrap_err().message.contains("nests deeper"));
    }
    let text = "more { ".repeat(100_000);
    assert!(
        Codec::new(&tree)
            .read_text(policy, text.as_bytes(), UndeclaredPolicy::Refuse)
            .into_result()
            .is_err()
    );
}
