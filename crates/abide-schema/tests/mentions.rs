//! Every name that is written in a tree is known with what it means.

#![allow(clippy::disallowed_methods, reason = "the trees are files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use abide_schema::value::{Codec, Message, Value};
use abide_schema::{
    Element, File, FileDecl, Mention, MentionTarget, MessageKind, Problem, ProblemKind, SourceFile,
    Tree, default_json_name, encode_file,
};
use abide_syntax::{Span, join_dotted_name};

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

/// Names in the strings of options that Google's annotations declare.
const IN_STRINGS: &[(&str, &str)] = &[
    (
        "google/api/annotations.proto",
        "syntax = \"proto3\";
package google.api;
import \"google/protobuf/descriptor.proto\";
message HttpRule {
  string get = 2;
  string post = 4;
  string body = 7;
  string response_body = 12;
  repeated HttpRule additional_bindings = 11;
}
extend google.protobuf.MethodOptions {
  HttpRule http = 72295728;
  repeated string method_signature = 1051;
}
",
    ),
    (
        "acme/user/v1/user.proto",
        "syntax = \"proto3\";
package acme.user.v1;
import \"google/api/annotations.proto\";
message Request { User user = 1; string view = 2; }
message User { string name = 1; }
service Users {
  rpc Get(Request) returns (Request) {
    option (google.api.http) = {
      get: \"/v1/{user.name=users/*}/{view}\"
      additional_bindings { post: \"/v1/{view}:get\" body: \"user\" response_body: \"view\" }
    };
    option (google.api.method_signature) = \"user, view,user.name\";
  }
}
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
    for (file, span, text) in element.collect_renames(new).into_iter().rev() {
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
    let texts = texts(NAMES);
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
fn a_field_is_known_in_the_strings_that_name_it() {
    let tree = link(&texts(IN_STRINGS));
    assert_eq!(messages(&tree), Vec::<String>::new());
    for (name, lines) in [("view", vec![4, 9, 10, 10, 12]), ("name", vec![5, 9, 12])] {
        let fields = tree.files().flat_map(File::all_fields);
        let field = fields.filter(|it| it.package().name() == "acme.user.v1");
        let field = field.into_iter().find(|it| it.name() == name).expect("it is declared");
        let mentions = Element::Field(field).mentions();
        let line =
            |(file, it): (File<'_>, Mention<'_>)| file.decl().line_index().line(it.span.start) + 1;
        assert_eq!(mentions.map(line).collect::<Vec<_>>(), lines, "{name}");
    }
}

#[test]
fn a_qualifier_means_what_encloses_and_a_package_its_beginning() {
    let texts = texts(NAMES);
    let tree = link(&texts);
    let file = tree.files().find(|it| it.path() == "acme/use/v1/use.proto").expect("it is there");
    let text = &texts["acme/use/v1/use.proto"];
    let at = text.find(".acme.use.v1.Request.Inner self").expect("it is there") as u32;
    let names: Vec<String> = file
        .mentions()
        .filter(|it| it.whole.start == at)
        .map(|it| match it.means {
            MentionTarget::Element(element) => key(element),
            MentionTarget::Package(name) => format!("package {name}"),
            MentionTarget::File(file) => file.path().to_owned(),
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

/// Every way to leave the second letter of a used name out: what is linked then, the place of the
/// name, and how it was written.
fn misspelt(texts: &Texts, mut each: impl FnMut(&Tree, &str, Span, &str)) {
    let tree = link(texts);
    for file in tree.files().filter(|it| it.is_judged()) {
        let text = &texts[file.path()];
        for mention in file.mentions().filter(|it| !it.declares && it.span.range().len() > 3) {
            let mut damaged = texts.clone();
            let of_file = damaged.get_mut(file.path()).expect("it is one of them");
            of_file.remove(mention.span.start as usize + 1);
            let whole = text.get(mention.whole.range()).expect("it stands there");
            each(&link_beside(&damaged, &tree), file.path(), mention.whole, whole);
        }
    }
}

fn texts(files: &[(&str, &str)]) -> Texts {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_name_with_a_letter_too_few_is_understood_wherever_it_stands() {
    let mut count = 0;
    misspelt(&texts(NAMES), |tree, path, place, written| {
        let is_here = |it: &&Problem| {
            let file = tree.file(it.place.file).path();
            file == path && it.place.span.start < place.end && place.start < it.place.span.end
        };
        // The declaration of an extension is a string, which protoc compares with the name.
        if written.contains('"') || tree.problems().iter().all(|it| !is_here(&it)) {
            assert!(!tree.problems().is_empty(), "{path}: {written}");
            return;
        }
        let joined = join_dotted_name(written.as_bytes(), Span::new(0, written.len() as u32));
        let wanted = joined.as_deref().unwrap_or(written).trim_matches(['"', '\'']);
        let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
        let here: Vec<&Problem> = tree.problems().iter().filter(is_here).collect();
        let understood = here.iter().any(|it| {
            let meant = it.meant().or(it.meant_path()).or(it.help.as_deref()).unwrap_or("");
            let meant = meant.rsplit('/').next().unwrap_or(meant);
            meant.eq_ignore_ascii_case(wanted) || meant == format!("did you mean `{wanted}`?")
        });
        assert!(understood, "{path}: {written}: {here:#?}");
        count += 1;
    });
    assert!(count > 60, "{count}");
}

#[test]
fn what_was_meant_is_found_where_it_stands() {
    for (line, help) in [
        // Of its own package, short and in full; of another file; of a file that is not imported.
        ("message A { Adress a = 1; }", "did you mean `Address`?"),
        ("message A { acme.use.v1.Adress a = 1; }", "did you mean `acme.use.v1.Address`?"),
        ("message A { .acme.usse.v1.Address a = 1; }", "did you mean `.acme.use.v1.Address`?"),
        ("message A { acme.opt.v1.Rul a = 1; }", "did you mean `acme.opt.v1.Rule`?"),
        (
            "message A { acme.far.v1.Distnce a = 1; }",
            "did you mean `acme.far.v1.Distance`? If so, add `import \"acme/far/v1/far.proto\";`",
        ),
        // A type may stand here, a message there, and only what is an extension in parentheses.
        ("message A { Knd a = 1; }", "did you mean `Kind`?"),
        ("service S { rpc Get(Adress) returns (Address); }", "did you mean `Address`?"),
        ("service S { rpc Get(Address) returns (Knd); }", ""),
        (
            "message A { int32 a = 1 [(acme.opt.v1.rul).limit.low = 1]; }",
            "did you mean `acme.opt.v1.rule`?",
        ),
        // Scalars.
        ("message A { sting a = 1; }", "did you mean `string`?"),
        ("message A { Int32 a = 1; }", ""),
        // What is built in and imported nowhere.
        (
            "message A { google.protobuf.Timestamp a = 1; }",
            "add `import \"google/protobuf/timestamp.proto\";`",
        ),
        ("message A { .google.protobuf.Struct.FieldsEntry a = 1; }", ""),
        (
            "message A { google.protobuf.Timestmp a = 1; }",
            "did you mean `google.protobuf.Timestamp`? If so, add `import \"google/protobuf/timestamp.proto\";`",
        ),
        (
            "message A { Timestamp a = 1; }",
            "did you mean `google.protobuf.Timestamp`? If so, add `import \"google/protobuf/timestamp.proto\";`",
        ),
        ("message A { Nothing a = 1; }", ""),
    ] {
        let mut texts = texts(&NAMES[..1]);
        texts.insert(
            "acme/far/v1/far.proto".to_owned(),
            "syntax = \"proto3\";\npackage acme.far.v1;\nmessage Distance {}\n".to_owned(),
        );
        let text = format!(
            "syntax = \"proto3\";\npackage acme.use.v1;\nimport \"acme/opt/v1/opt.proto\";\n\
             message Address {{}}\nenum Kind {{ KIND_UNSPECIFIED = 0; }}\n{line}\n"
        );
        texts.insert("acme/use/v1/use.proto".to_owned(), text);
        let tree = link(&texts);
        let errors: Vec<&Problem> =
            tree.problems().iter().filter(|it| it.kind.is_error()).collect();
        let [error] = errors[..] else { panic!("{line}: {errors:#?}") };
        let found = error.help.clone().unwrap_or_default();
        // Of what is not like anything, the help may say how to look it up.
        assert_eq!(found, help, "{line}: {}", error.message);
    }
}

#[test]
fn an_import_that_is_spelled_another_way_is_understood() {
    for (import, meant, is_certain) in [
        ("acme/opt/v1/Opt.proto", true, true),
        ("acme//opt/v1/opt.proto", true, true),
        ("./acme/opt/v1/opt.proto", true, true),
        ("/acme/opt/v1/opt.proto", true, true),
        ("acme/opt/v2/../v1/opt.proto", true, true),
        ("acme\\\\opt\\\\v1\\\\opt.proto", true, true),
        ("proto/acme/opt/v1/opt.proto", true, false),
        ("opt/v1/opt.proto", true, false),
        ("acme/opt/v1/opts.proto", true, false),
        ("acme/opts/v1/opt.proto", true, false),
        ("acme/none/v2/none.proto", false, false),
        // Another version, and another name that is only short.
        ("acme/opt/v2/opt.proto", false, false),
        ("acme/opt/v1/oxy.proto", false, false),
    ] {
        let mut texts = texts(&NAMES[..1]);
        let text = format!("syntax = \"proto3\";\npackage acme.use.v1;\nimport \"{import}\";\n");
        texts.insert("acme/use/v1/use.proto".to_owned(), text);
        let tree = link(&texts);
        let problem = tree.problems().iter().find(|it| it.kind == ProblemKind::ImportNotFound);
        let problem = problem.unwrap_or_else(|| panic!("{import}: {:#?}", tree.problems()));
        let found = problem.meant_path();
        assert_eq!(found, meant.then_some("acme/opt/v1/opt.proto"), "{import}");
        let path = import.replace("\\\\", "\\");
        assert_eq!(problem.is_spelled_otherwise(&path), is_certain, "{import}");
    }
}
