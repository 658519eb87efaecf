//! `abide edition` carries files to a later edition so that nothing changes but their language.

use std::fs;

use tempfile::TempDir;

use crate::breaking::git;
use crate::run::{Ran, abide, put};

/// Everything of proto2 that editions write in another way.
const PROTO2: &str = r#"// A licence.

// The syntax.
syntax = "proto2";

package acme.v1;

import weak "acme/v1/open.proto";

// Why Java has one file.
option java_package = "com.acme";

// A message.
message All {
  // Required.
  required string name = 1;  // trailing
  optional int32 age = 2 [default = 5];
  repeated int32 packed = 3 [deprecated = true, packed = true];
  repeated int32 plain = 4 [packed = false];
  optional bytes cord = 5 [ctype = CORD];
  optional Open open = 6;
  // A group.
  optional group Result = 7 {
    // Inner.
    required string url = 1;
    repeated group Deep = 2 {
      optional int32 x = 1;
    }
  }
  oneof choice {
    string a = 8;
    group Picked = 9 {
      optional int32 y = 1;
    }
  }
  map<string, Kind> kinds = 10;
  enum Kind {
    KIND_UNSET = 0;
    reserved "KIND_TWO";
  }
  reserved "foo", "bar";
  extensions 100 to max;
}

extend All {
  repeated group Extra = 100 {
    optional int32 z = 1;
  }
}
"#;
const PROTO3: &str = r#"syntax = "proto3";

package acme.v1;

option java_multiple_files = true;
option java_outer_classname = "OpenProto";

enum Open {
  OPEN_UNSET = 0;
}

message User {
  string name = 1;
  string mail = 2;
  optional string nick = 3;
  repeated int32 plain = 4 [packed = false];
  message Inner {}
}
"#;
const ALL: &str = "acme/v1/all.proto";
const OPEN: &str = "acme/v1/open.proto";

fn tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", ""), (ALL, PROTO2), (OPEN, PROTO3)]);
    git(tree.path(), &["init", "--quiet"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "-m", "before"]);
    tree
}

fn edition(tree: &TempDir, args: &[&str]) -> Ran {
    abide(tree.path(), &[&["edition"], args].concat())
}

fn read(tree: &TempDir, path: &str) -> String {
    fs::read_to_string(tree.path().join(path)).unwrap()
}

fn hashes(tree: &TempDir) -> String {
    let ran = abide(tree.path(), &["hash", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.text()
}

#[test]
fn nothing_changes_but_the_language() {
    for to in ["2023", "2024", "2026"] {
        let tree = tree();
        let before = hashes(&tree);
        let check = edition(&tree, &["--to", to, "--check"]);
        assert_eq!(
            (check.status, check.text()),
            (1, format!("{ALL}\n{OPEN}\n")),
            "{}",
            check.stderr
        );
        // The patch makes what `--write` writes.
        let patch = edition(&tree, &["--to", to, "--diff"]);
        assert_eq!((patch.status, read(&tree, ALL)), (0, PROTO2.to_owned()), "{}", patch.stderr);
        let ran = edition(&tree, &["--to", to, "--write"]);
        assert_eq!((ran.status, ran.text()), (0, String::new()), "{}", ran.stderr);
        let written = (read(&tree, ALL), read(&tree, OPEN));
        put(tree.path(), &[(ALL, PROTO2), (OPEN, PROTO3), ("change.patch", &patch.text())]);
        git(tree.path(), &["apply", "change.patch"]);
        assert_eq!((read(&tree, ALL), read(&tree, OPEN)), written);
        assert_eq!(hashes(&tree), before);
        let breaking = abide(
            tree.path(),
            &["breaking", "--against", "git:HEAD", "--changes", "--format", "json"],
        );
        assert_eq!(breaking.status, 0, "{}", breaking.text());
        let known = ["edition-changed", "packaging-option-changed"];
        assert!(breaking.rules().iter().all(|it| known.contains(&&**it)), "{}", breaking.text());
        assert!(breaking.text().contains(r#""required_bump":"none""#), "{}", breaking.text());
        for edition_word in [to, "2023"] {
            let again = edition(&tree, &["--to", edition_word, "--check"]);
            assert_eq!((again.status, again.text()), (0, String::new()), "{}", again.stderr);
        }
    }
}

#[test]
fn an_edition_leads_to_the_next() {
    let tree = tree();
    let before = hashes(&tree);
    for to in ["2023", "2024", "2026"] {
        let ran = edition(&tree, &["--to", to, "--write"]);
        assert_eq!((ran.status, hashes(&tree)), (0, before.clone()), "{}", ran.stderr);
        assert!(read(&tree, OPEN).starts_with(&format!("edition = \"{to}\";")));
    }
}

#[test]
fn comments_order_and_layout_stay() {
    let tree = tree();
    edition(&tree, &["--to", "2023", "--write"]);
    let text = read(&tree, ALL);
    for part in [
        "// A licence.\n\n// The syntax.\nedition = \"2023\";\n\npackage acme.v1;\n\nimport weak",
        "// Why Java has one file.\noption java_package = \"com.acme\";\n",
        "  // Required.\n  string name = 1 [features.field_presence = LEGACY_REQUIRED];  // trailing\n",
        "  int32 age = 2 [default = 5];\n",
        "  repeated int32 packed = 3 [deprecated = true, features.repeated_field_encoding = PACKED];\n",
        "  repeated int32 plain = 4;\n",
        "  bytes cord = 5 [ctype = CORD];\n",
        "  // A group.\n  message Result {\n    // Inner.\n    string url = 1 [features.field_presence = \
         LEGACY_REQUIRED];\n    message Deep {\n      int32 x = 1;\n    }\n    repeated Deep deep = 2 \
         [features.message_encoding = DELIMITED];\n  }\n  Result result = 7 \
         [features.message_encoding = DELIMITED];\n",
        "  message Picked {\n    int32 y = 1;\n  }\n  oneof choice {\n    string a = 8;\n    Picked \
         picked = 9 [features.message_encoding = DELIMITED];\n  }\n",
        "  map<string, Kind> kinds = 10;\n",
        "    reserved KIND_TWO;\n",
        "  reserved foo, bar;\n",
        "message Extra {\n  int32 z = 1;\n}\nextend All {\n  repeated Extra extra = 100 \
         [features.message_encoding = DELIMITED];\n}\n",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    // One feature of the file, and one where an element differs.
    assert_eq!(
        read(&tree, OPEN),
        PROTO3
            .replace("syntax = \"proto3\"", "edition = \"2023\"")
            .replace("OpenProto\";\n", "OpenProto\";\noption features.field_presence = IMPLICIT;\n")
            .replace(
                "optional string nick = 3",
                "string nick = 3 [features.field_presence = EXPLICIT]"
            )
            .replace("[packed = false]", "[features.repeated_field_encoding = EXPANDED]")
    );
}

#[test]
fn what_newer_editions_removed_goes() {
    let tree = tree();
    edition(&tree, &["--to", "2024", "--write"]);
    let (all, open) = (read(&tree, ALL), read(&tree, OPEN));
    assert!(all.contains("import \"acme/v1/open.proto\";\nimport option \"google/"), "{all}");
    assert!(all.contains("option java_outer_classname = \"AllOuterClass\";"), "{all}");
    assert!(all.contains("cord = 5 [features.(pb.cpp).string_type = CORD];"), "{all}");
    assert!(
        all.contains("message All {\n  option features.(pb.java).nest_in_file_class = YES;"),
        "{all}"
    );
    // The feature takes the place of the option.
    assert!(open.contains("default_symbol_visibility: EXPORT_ALL"), "{open}");
    assert!(
        !open.contains("java_multiple_files") && !open.contains("nest_in_file_class"),
        "{open}"
    );
}

#[test]
fn what_cannot_be_carried_is_named_and_left_alone() {
    let tree = tree();
    let odd = PROTO3.replace("message User {", "message Odd {\n  reserved \"not a name\";");
    let odd = odd.replace("enum Open", "enum Other").replace("OPEN_UNSET", "OTHER_UNSET");
    put(tree.path(), &[("acme/v1/odd.proto", &odd)]);
    let ran = edition(&tree, &["--to", "2024", "--write"]);
    assert_eq!(ran.status, 1);
    for line in [
        "error: acme/v1/odd.proto:13:12: the reserved name `not a name` is no identifier",
        "note: carried 2 of 3 files to edition 2024\n",
        "note: left 1 file unchanged\n",
    ] {
        assert!(ran.stderr.contains(line), "{line}\n---\n{}", ran.stderr);
    }
    assert_eq!(read(&tree, "acme/v1/odd.proto"), odd);
    assert!(read(&tree, OPEN).starts_with("edition"));
}

#[test]
fn messages_of_groups_keep_their_order() {
    let tree = TempDir::new().unwrap();
    let text = "syntax = \"proto2\";\npackage acme.v1;\nmessage M {\n  oneof choice {\n    group B \
                = 1 {}\n    group A = 2 { optional int32 x = 1; }\n  }\n  extensions 10 to \
                20;\n}\nextend M {\n  optional group D = 10 {}\n  optional group C = 11 {}\n}\n";
    put(tree.path(), &[("abide.toml", ""), ("acme/v1/m.proto", text)]);
    let ran = edition(&tree, &["--to", "2023", "--write"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let written = read(&tree, "acme/v1/m.proto");
    for part in [
        "message M {\n  message B {}\n  message A { int32 x = 1; }\n  oneof choice {\n    B b = 1;\n    \
         A a = 2;\n  }\n",
        "message D {}\nmessage C {}\nextend M {\n  D d = 10;\n  C c = 11;\n}\n",
    ] {
        assert!(written.contains(part), "{part}\n---\n{written}");
    }
}

/// Files whose options do not mean in an edition what they seem to: each is carried as it is.
#[test]
fn options_without_an_effect_change_nothing() {
    let none = "syntax = \"proto2\";\npackage acme.v1;\n";
    let extend = "import \"google/protobuf/descriptor.proto\";\nextend \
                  google.protobuf.FieldOptions {\n  optional bytes mark = 5000;\n}\n";
    let service =
        "import \"acme/v1/open.proto\";\nservice Users {\n  rpc Get(User) returns (User);\n}\n";
    let piece = "option java_string_check_utf8 = true;\nmessage Piece {\n  optional string s = 1 \
                 [ctype = STRING_PIECE];\n  optional bytes b = 2 [ctype = STRING_PIECE, deprecated \
                 = true];\n}\n";
    let files = [
        ("acme/v1/extend.proto", extend.to_owned()),
        ("acme/v1/service.proto", service.to_owned()),
        (
            "acme/v1/service_apart.proto",
            format!(
                "option java_multiple_files = true;\n{}",
                service.replace("Users", "UsersApart")
            ),
        ),
        ("acme/v1/piece_v1beta.proto", piece.to_owned()),
    ];
    for to in ["2023", "2024", "2026"] {
        let tree = tree();
        for (path, text) in &files {
            put(tree.path(), &[(path, &format!("{none}{text}"))]);
        }
        let before = hashes(&tree);
        let ran = edition(&tree, &["--to", to, "--write"]);
        assert_eq!(ran.status, 0, "{to}: {}", ran.stderr);
        assert!(ran.stderr.contains("carried 6 of 6 files"), "{to}: {}", ran.stderr);
        assert_eq!(hashes(&tree), before, "{to}");
        let piece = read(&tree, "acme/v1/piece_v1beta.proto");
        assert!(piece.contains("VERIFY"), "{piece}");
        if to != "2023" {
            assert!(
                piece.contains("  string s = 1;\n  bytes b = 2 [deprecated = true];"),
                "{piece}"
            );
            assert!(piece.contains("java_outer_classname = \"PieceV1Beta\""), "{piece}");
        }
    }
}

/// The generator of C++ refuses these fields before and after, but protoc reads them.
#[test]
fn cord_is_carried_wherever_it_stands() {
    let text = "syntax = \"proto2\";\npackage acme.v1;\nmessage M {\n  optional int32 i = 1 [ctype = \
                CORD];\n  map<string, string> m = 2 [ctype = CORD];\n  extensions 10 to \
                20;\n}\nextend M {\n  optional bytes b = 10 [ctype = CORD];\n  repeated string s = 11 \
                [ctype = CORD, deprecated = true];\n}\n";
    for to in ["2023", "2024", "2026"] {
        let tree = TempDir::new().unwrap();
        put(tree.path(), &[("abide.toml", ""), ("acme/v1/m.proto", text)]);
        let before = hashes(&tree);
        let ran = edition(&tree, &["--to", to, "--write"]);
        assert_eq!((ran.status, hashes(&tree)), (0, before), "{to}: {}", ran.stderr);
        let written = read(&tree, "acme/v1/m.proto");
        let cord =
            if to == "2023" { "ctype = CORD" } else { "features.(pb.cpp).string_type = CORD" };
        for part in [
            format!("i = 1 [{cord}];"),
            format!("m = 2 [{cord}];"),
            format!("b = 10 [{cord}];"),
            format!("s = 11 [{cord}, deprecated = true];"),
        ] {
            assert!(written.contains(&part), "{to}: {part}\n---\n{written}");
        }
    }
}

/// In the opaque API of Go, which is the default of edition 2024, enums have fewer methods.
#[test]
fn enums_alone_keep_the_open_api_of_go() {
    let tree = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.v1;\nenum Kind {\n  KIND_UNSPECIFIED = 0;\n}\n";
    put(tree.path(), &[("abide.toml", ""), ("acme/v1/kind.proto", text)]);
    let ran = edition(&tree, &["--to", "2024", "--write"]);
    let written = read(&tree, "acme/v1/kind.proto");
    assert_eq!((ran.status, written.contains("api_level: API_OPEN")), (0, true), "{written}");
}

/// A small `descriptor.proto`, with these fields in its `FeatureSet`.
fn descriptor(features: &[&str]) -> String {
    let features = features.iter().enumerate();
    let fields = features.map(|(at, it)| format!("  optional int32 {it} = {};\n", at + 1));
    let fields: String = fields.collect();
    let holders = ["File", "Message", "Field", "Enum"].map(|it| {
        format!(
            "message {it}Options {{\n  optional FeatureSet features = 50;\n  extensions 1000 to \
             max;\n}}\n"
        )
    });
    format!(
        "syntax = \"proto2\";\npackage google.protobuf;\n{}message FeatureSet {{\n{fields}  \
         extensions 1000 to 9994;\n}}\n",
        holders.concat()
    )
}

const FEATURES_OF_2023: [&str; 6] = [
    "field_presence",
    "enum_type",
    "repeated_field_encoding",
    "utf8_validation",
    "message_encoding",
    "json_format",
];
const DESCRIPTOR: &str = "google/protobuf/descriptor.proto";

#[test]
fn copies_of_protobuf_are_left_out() {
    let tree = TempDir::new().unwrap();
    let copy = "syntax = \"proto3\";\npackage google.protobuf;\nmessage Duration {\n  int64 seconds = \
                1;\n}\n";
    put(
        tree.path(),
        &[("abide.toml", ""), (OPEN, PROTO3), ("google/protobuf/duration.proto", copy)],
    );
    let check = edition(&tree, &["--to", "2023", "--check"]);
    assert_eq!((check.status, check.text()), (1, format!("{OPEN}\n")), "{}", check.stderr);
    let ran = edition(&tree, &["--to", "2023", "--write"]);
    let note = "note: left out 1 file of protobuf itself: copy those of a later release\n";
    assert_eq!((ran.status, ran.stderr.contains(note)), (0, true), "{}", ran.stderr);
    assert_eq!(read(&tree, "google/protobuf/duration.proto"), copy);
}

#[test]
fn nothing_is_carried_beside_an_old_descriptor() {
    for (to, features) in [("2023", [].as_slice()), ("2024", &FEATURES_OF_2023)] {
        let tree = TempDir::new().unwrap();
        let old = descriptor(features);
        let plain = "syntax = \"proto3\";\npackage acme.v1;\nmessage M {\n  int32 a = 1;\n}\n";
        put(tree.path(), &[("abide.toml", ""), ("acme/v1/m.proto", plain), (DESCRIPTOR, &old)]);
        let ran = edition(&tree, &["--to", to, "--write"]);
        let says = format!("does not know edition {to}, so nothing can be carried there");
        assert_eq!((ran.status, ran.stderr.contains(&says)), (1, true), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains("unchanged"), "{}", ran.stderr);
        assert_eq!(read(&tree, "acme/v1/m.proto"), plain);
    }
}

/// The descriptor of the tree knows the edition, but not what the features of C++ are written with.
#[test]
fn a_file_of_features_that_does_not_compile_is_not_imported() {
    let tree = TempDir::new().unwrap();
    let text = "syntax = \"proto2\";\npackage acme.v1;\nenum Kind {\n  KIND_A = 1;\n}\nmessage M \
                {\n  optional Kind a = 1;\n}\n";
    put(
        tree.path(),
        &[
            ("abide.toml", ""),
            ("acme/v1/m.proto", text),
            (DESCRIPTOR, &descriptor(&FEATURES_OF_2023)),
        ],
    );
    let ran = edition(&tree, &["--to", "2023", "--write"]);
    let says = "in `google/protobuf/cpp_features.proto`";
    assert_eq!((ran.status, ran.stderr.contains(says)), (1, true), "{}", ran.stderr);
    assert_eq!(read(&tree, "acme/v1/m.proto"), text);
}

#[test]
fn names_and_sizes_that_an_edition_refuses_are_allowed() {
    let tree = TempDir::new().unwrap();
    let fields: String = (1..=1501).map(|at| format!("  int32 f{at} = {at};\n")).collect();
    let text = format!(
        "syntax = \"proto3\";\npackage acme.v1;\noption java_multiple_files = true;\noption \
         java_outer_classname = \"LargeProto\";\nmessage Large {{\n{fields}}}\nmessage snake {{\n  \
         int32 Camel = 1;\n}}\n"
    );
    put(tree.path(), &[("abide.toml", ""), ("acme/v1/large.proto", &text)]);
    let ran = edition(&tree, &["--to", "2026", "--write"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let written = read(&tree, "acme/v1/large.proto");
    assert!(written.contains("enforce_naming_style: STYLE_LEGACY"), "{}", &written[..400]);
    let limits =
        "message Large {\n  option features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS;";
    assert!(written.contains(limits), "{}", &written[..400]);
}

/// A file in an edition to come, which may say as a default what it said at its elements.
#[test]
fn an_edition_to_come_is_one_finding() {
    let tree = TempDir::new().unwrap();
    let user = "edition = \"2026\";\npackage acme.v1;\nimport \"acme/v1/base.proto\";\nexport message \
                User {\n  Base base = 1;\n}\n";
    let base = "edition = \"2026\";\npackage acme.v1;\nexport message Base {\n  int32 count = 1 \
                [features.field_presence = IMPLICIT];\n  Kind kind = 2;\n}\nlocal enum Kind {\n  \
                option features.enum_type = CLOSED;\n  KIND_UNSPECIFIED = 0;\n}\n";
    put(
        tree.path(),
        &[("abide.toml", ""), ("acme/v1/base.proto", base), ("acme/v1/user.proto", user)],
    );
    git(tree.path(), &["init", "--quiet"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "-m", "before"]);
    let later = base
        .replace("2026", "2027")
        .replace("export ", "")
        .replace("local ", "")
        .replace(" [features.field_presence = IMPLICIT]", "")
        .replace("  option features.enum_type = CLOSED;\n", "");
    put(tree.path(), &[("acme/v1/base.proto", &later)]);
    for against in [&[][..], &["--against", "git:HEAD"]] {
        let ran = abide(tree.path(), &[&["check", "--format", "json"], against].concat());
        assert_eq!((ran.status, ran.rules()), (1, vec!["edition-invalid".to_owned()]));
        assert!(!ran.text().contains(r#""required_bump":"major""#), "{}", ran.text());
    }
    for args in [&["bump", "--write", "--against", "git:HEAD"][..], &["build", "-o", "set.binpb"]] {
        let ran = abide(tree.path(), args);
        assert_eq!((ran.status, ran.stderr.matches("error").count()), (1, 1), "{}", ran.stderr);
    }
    let ran = edition(&tree, &["--to", "2026", "--write"]);
    let note = "note: left out 1 file in an edition that is not known\n";
    assert_eq!((ran.status, &*ran.stderr), (0, note));
    for args in [["format", "--write"], ["upgrade", "--write"], ["check", "--fix"]] {
        abide(tree.path(), &args);
    }
    assert_eq!(read(&tree, "acme/v1/base.proto"), later);
    assert!(!tree.path().join("set.binpb").exists() && !tree.path().join("abide.lock").exists());
}

#[test]
fn an_edition_has_to_be_one() {
    let tree = tree();
    let ran = edition(&tree, &["--to", "2025", "--check"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("[possible values: 2023, 2024, 2026]"), "{}", ran.stderr);
    let ran = edition(&tree, &["--to", "2024"]);
    assert_eq!(ran.status, 2);
}
