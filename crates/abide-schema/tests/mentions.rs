//! Every name that is written in a tree is known with what it means.

#![allow(clippy::disallowed_methods, reason = "the trees are files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use abide_schema::value::{Codec, Message, Value};
use abide_schema::{
    Element, File, FileDecl, Meaning, MessageKind, SourceFile, Tree, default_json_name, encode_file,
};

/// Names at every kind of place.
const NAMES: &[(&str, &str)] = &[
    (
        "acme/opt/v1/opt.proto",
        "syntax = \"proto2\";
package acme.opt.v1;
import \"google/protobuf/any.proto\";
import \"google/protobuf/descriptor.proto\";
message Rule {
  message Limit {
    optional int32 low = 1;
    optional int32 high = 2;
    optional Level level = 3;
    repeated Level levels = 4;
    optional Limit inner = 5;
    map<string, Limit> by_key = 6;
    extensions 100 to 199 [declaration = {
      number: 100 full_name: \".acme.opt.v1.Scope.weight\" type: \".acme.opt.v1.Rule.Weight\"
    }];
  }
  message Weight { optional int32 grams = 1; }
  enum Level { LEVEL_UNSPECIFIED = 0; LEVEL_HIGH = 1; }
  optional Limit limit = 1;
  repeated Limit limits = 2;
  optional group Extra = 3 { optional int32 of_extra = 1; }
  optional google.protobuf.Any any = 4;
  extensions 1000 to 2000;
}
message Scope {
  extend Rule.Limit { optional Rule.Weight weight = 100; }
  extend google.protobuf.FieldOptions { optional Rule scoped = 5002; }
}
extend google.protobuf.FieldOptions { optional Rule rule = 5000; repeated Rule rules = 5001; }
extend google.protobuf.EnumValueOptions { optional Rule.Level level_of = 5000; }
extend acme . opt /* here */ . v1.Rule { optional string note = 1000; }
",
    ),
    (
        "acme/use/v1/use.proto",
        "syntax = \"proto2\";
package acme.use.v1;
import \"acme/opt/v1/opt.proto\";
message Request {
  message Inner {
    optional Kind kind = 1 [default = KIND_TWO];
    optional .acme.use.v1.Request.Inner self = 2;
  }
  enum Kind { KIND_ONE = 0; KIND_TWO = 2 [(acme.opt.v1.level_of) = LEVEL_HIGH]; }
  optional Inner inner = 1 [
    (acme.opt.v1.rule).limit.low = 1,
    (opt.v1.rule).limit.high = 2,
    (.acme.opt.v1.rule).limit.inner.level = LEVEL_HIGH,
    (acme . opt . v1 . /* the rule */ rule).extra.of_extra = 3,
    (acme.opt.v1.Scope.scoped) = {
      limit { low: 1 level: LEVEL_UNSPECIFIED levels: [LEVEL_UNSPECIFIED, LEVEL_HIGH]
        by_key { key: \"a\" value { low: 2 } }
        [acme.opt.v1.Scope.weight] { grams: 4 } }
      Extra { of_extra: 1 }
      any { [type.googleapis.com/acme.use.v1.Request.Inner] { kind: KIND_ONE self { } } }
      [acme.opt.v1.note]: \"a\"
    },
    (acme.opt.v1.rules) = { limits { low: 1 } limits { low: 2 } },
    (acme.opt.v1.rules) = { limits: [{ high: 1 }, { high: 2 }] }
  ];
  map<string, Request.Kind> kinds = 2;
  oneof which { acme.opt.v1.Rule.Limit limit = 3; string text = 4; }
}
service Uses { rpc Get(Request) returns (stream .acme.use.v1.Request.Inner); }
",
    ),
    (
        "acme/use/v1/editions.proto",
        "edition = \"2023\";
package acme.use.v1;
import \"google/protobuf/descriptor.proto\";
message Held {
  message Part { int32 a = 1; Held.Part next = 2; }
  Part part = 1 [features.message_encoding = DELIMITED];
  repeated Part parts = 2 [features.message_encoding = DELIMITED];
}
extend google.protobuf.MessageOptions { Held held = 6000; }
message Holder { option (held) = { Part { a: 1 } parts { a: 2 next { a: 3 } } }; }
",
    ),
];

type Texts = BTreeMap<String, String>;

fn link(texts: &Texts) -> Tree {
    Tree::link(texts.iter().map(|(path, text)| Arc::new(parse(path, text))).collect())
}

/// The tree of these texts; what it has in common with another one is not linked again.
fn link_beside(texts: &Texts, other: &Tree) -> Tree {
    let decl = |(path, text): (&String, &String)| {
        let known = other.files().find(|it| it.path() == path).map(|it| it.shared_decl());
        match known.filter(|it| it.source_text() == Some(text.as_bytes())) {
            Some(known) => Arc::clone(known),
            None => Arc::new(parse(path, text)),
        }
    };
    Tree::link_beside(texts.iter().map(decl).collect(), other)
}

fn parse(path: &str, text: &str) -> FileDecl {
    FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    })
}

/// The descriptor of a file, as text.
fn descriptor(file: File<'_>) -> String {
    let tree = file.tree;
    let ty = tree.message_named("google.protobuf.FileDescriptorProto").expect("it is built in");
    let bytes = encode_file(tree, file.id, false);
    let descriptor = Codec::new(tree).decode(ty.id, &bytes).expect("what was written can be read");
    let mut text = String::new();
    dump(tree, &descriptor, "", &mut text);
    text
}

/// Finds a file whose descriptor is not what it was, once `put_back` changed it.
fn differing(tree: &Tree, before: &Tree, put_back: impl Fn(String) -> String) -> Option<String> {
    tree.files().zip(before.files()).find_map(|(file, was)| {
        if file.is_linked_as(was) {
            return None;
        }
        let (now, was) = (put_back(descriptor(file)), descriptor(was));
        let lines = now.lines().zip(was.lines()).find(|(a, b)| a != b);
        (now != was).then(|| format!("{}: {lines:?}", file.path()))
    })
}

fn dump(tree: &Tree, message: &Message, indent: &str, text: &mut String) {
    for entry in &message.entries {
        let field = tree.field(entry.field);
        let name = match field.is_extension() {
            true => format!("[{}]", field.full_name()),
            false => field.name().to_owned(),
        };
        let _ = match &entry.value {
            Value::Message(inner) => {
                let _ = writeln!(text, "{indent}{name} {{");
                dump(tree, inner, &format!("{indent}  "), text);
                writeln!(text, "{indent}}}")
            }
            Value::Enum(number) => {
                let value = field.enum_type().and_then(|it| it.value_numbered(*number));
                writeln!(text, "{indent}{name}: {}", value.map_or("?", |it| it.name()))
            }
            value => writeln!(text, "{indent}{name}: {value:?}"),
        };
    }
    assert!(message.unknown.is_empty(), "the tree declares its own options");
}

/// A name that no text has, in the case of the element.
fn fresh(element: Element<'_>) -> &'static str {
    match element {
        Element::Field(_) | Element::Oneof(_) => "qzfresh",
        Element::EnumValue(_) => "QZFRESH",
        _ => "Qzfresh",
    }
}

fn renamed(tree: &Tree, texts: &Texts, path: &str, name: &str, new: &str) -> Texts {
    let of_file = |it: &File<'_>| it.path() == path;
    let file = tree.files().find(of_file).expect("the file is in the tree");
    let element = file.elements().find(|it| key(*it) == name).expect("it is in the file");
    let mut texts = texts.clone();
    for (file, span, text) in element.renamed(new).into_iter().rev() {
        let old = texts.get_mut(file.path()).expect("the file is in the tree");
        old.replace_range(span.range(), &text);
    }
    texts
}

fn key(element: Element<'_>) -> String {
    format!("{} {}", element.noun(), element.full_name())
}

fn is_group_type(element: Element<'_>) -> bool {
    matches!(element, Element::Message(it) if it.decl().kind == MessageKind::Group)
}

/// The descriptors of a tree in which an element has a fresh name, with its old name put back.
fn with_old_name(text: &str, element: Element<'_>) -> String {
    let (old, new) = (element.name(), fresh(element));
    let entry = |name: &str| {
        let words = name.split('_').map(|it| {
            let mut word = it.to_owned();
            word.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
            word
        });
        format!("{}Entry", words.collect::<String>())
    };
    let json = |name: &str| format!("json_name: String({name:?})");
    let mut text = text.replace(&json(new), &json(&default_json_name(old)));
    if is_group_type(element) {
        let (old, new) = (old.to_ascii_lowercase(), new.to_ascii_lowercase());
        let names = [(json(&new), json(&default_json_name(&old))), (new, old)];
        text = names.iter().fold(text, |text, (new, old)| text.replace(new, old));
    }
    text.replace(&entry(new), &entry(old)).replace(new, old)
}

fn messages(tree: &Tree) -> Vec<String> {
    tree.problems().iter().map(|it| it.message.clone()).collect()
}

/// Renames every element of a tree in turn and returns how many there are.
fn rename_each(texts: &Texts) -> usize {
    let tree = link(texts);
    let mut count = 0;
    let mut done = BTreeSet::new();
    for file in tree.files().filter(|it| it.is_judged()) {
        for element in file.elements() {
            // What stands nowhere has no name to change; a group is renamed with its type.
            let is_group = matches!(element, Element::Field(it) if it.is_group());
            let stands = element.mentions().any(|(_, it)| it.declares);
            if !stands || is_group || !done.insert((file.path(), key(element))) {
                continue;
            }
            let what = format!("{} of {}", key(element), file.path());
            let new = fresh(element);
            let after = renamed(&tree, texts, file.path(), &key(element), new);
            assert!(&after != texts, "{what}");
            let after_tree = link_beside(&after, &tree);
            assert_eq!(messages(&after_tree).len(), messages(&tree).len(), "{what}");
            let differs = differing(&after_tree, &tree, |text| with_old_name(&text, element));
            assert_eq!(differs, None, "{what}");
            let scope = element.full_name();
            let scope = scope.rsplit_once('.').map_or(String::new(), |it| format!("{}.", it.0));
            let name = format!("{} {scope}{new}", element.noun());
            let back = renamed(&after_tree, &after, file.path(), &name, element.name());
            assert_eq!(differing(&link_beside(&back, &tree), &tree, |it| it), None, "{what}");
            // In editions a field may be named by its type, until it has another name than that.
            let is_named_by_type = element.mentions().any(|(file, it)| {
                file.mentions().any(|other| other.span == it.span && other.means != it.means)
            });
            assert!(&back == texts || is_named_by_type, "{what}");
            count += 1;
        }
    }
    count
}

#[test]
fn every_element_can_be_renamed_where_it_is_named() {
    let texts = NAMES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(messages(&link(&texts)), Vec::<String>::new());
    assert!(rename_each(&texts) > 40);
}

#[test]
fn every_element_of_the_whole_language_can_be_renamed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc");
    let paths = std::fs::read_dir(folder).expect("it is part of the repository");
    let paths = paths.map(|it| it.expect("the folder is readable").path());
    let protos = paths.filter(|it| it.extension().is_some_and(|it| it == "proto"));
    // Some are not UTF-8, and nothing refers to them.
    let texts = protos.filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((name, std::fs::read_to_string(&path).ok()?))
    });
    let mut texts: Texts = texts.collect();
    // The oneof of an `optional` has a name that no other oneof or field has: that may change.
    assert!(texts.remove("proto3_optional.proto").is_some());
    assert!(texts.contains_key("groups.proto"));
    assert!(rename_each(&texts) > 300);
}

#[test]
fn a_qualifier_means_what_encloses_and_a_package_its_beginning() {
    let texts = NAMES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let tree = link(&texts);
    let file = tree.files().find(|it| it.path() == "acme/use/v1/use.proto").expect("it is there");
    let text = &texts["acme/use/v1/use.proto"];
    let at = text.find(".acme.use.v1.Request.Inner self").expect("it is there") as u32;
    let names: Vec<String> = file
        .mentions()
        .filter(|it| it.whole.start == at)
        .map(|it| match it.means {
            Meaning::Element(element) => key(element),
            Meaning::Package(name) => format!("package {name}"),
            Meaning::File(file) => file.path().to_owned(),
        })
        .collect();
    assert_eq!(
        names,
        [
            "package acme",
            "package acme.use",
            "package acme.use.v1",
            "message acme.use.v1.Request",
            "message acme.use.v1.Request.Inner",
        ]
    );
}
