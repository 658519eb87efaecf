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
        "note: left 1 file as they were\n",
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

#[test]
fn an_edition_has_to_be_one() {
    let tree = tree();
    let ran = edition(&tree, &["--to", "2025", "--check"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("[possible values: 2023, 2024, 2026]"), "{}", ran.stderr);
    let ran = edition(&tree, &["--to", "2024"]);
    assert_eq!(ran.status, 2);
}
