//! What the rules about fields, oneofs and enums report of a pair of files:
//! whom each change reaches on the wire, in JSON and in text, and which rules
//! of other tools fire on it.

#![allow(clippy::unwrap_used, reason = "helpers are tests too")]

use std::sync::Arc;

use abide_change::{Direction, Surface};
use abide_lint::{Config, Options, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::date;

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

/// A line for each finding: rule, element, notations with the directions they
/// break in (`<` backward, `>` forward), aliases.
fn report(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (tree(old), tree(new));
    let policy = Config::parse("", None).unwrap().policy;
    let options = Options { baseline: Some(&old), changes: true, ..Options::on(date(2026, 1, 15)) };
    let report = check(&new, &policy, options);
    let ours = |rule: &str| {
        ["field-", "oneof-", "enum-", "extension-"].iter().any(|it| rule.starts_with(it))
    };
    let changes = report.findings.iter().filter(|it| it.change.is_some() && ours(it.rule));
    let mut lines: Vec<String> = changes
        .map(|finding| {
            let mut line = format!("{} {}:", finding.rule, finding.element);
            for &surface in Surface::NOTATIONS {
                let breaks = |direction| finding.effects().contains(surface, direction);
                let arrow = match (breaks(Direction::Backward), breaks(Direction::Forward)) {
                    (false, false) => continue,
                    (true, false) => "<",
                    (false, true) => ">",
                    (true, true) => "<>",
                };
                line += &format!(" {surface}{arrow}");
            }
            let mut aliases = finding.aliases.clone();
            aliases.sort_unstable();
            for alias in aliases {
                line += &format!(" {alias}");
            }
            line
        })
        .collect();
    lines.sort();
    lines
}

fn compare(header: &str, cases: &[(&str, &str, &[&str])]) {
    let mut complaints = String::new();
    for (old, new, expected) in cases {
        let found = report(&format!("{header}\n{old}"), &format!("{header}\n{new}"));
        let mut expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        expected.sort();
        if found != expected {
            complaints +=
                &format!("{old}\n  -> {new}\n  expected {expected:#?}\n  found {found:#?}\n");
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

const PROTO2: &str = "syntax = \"proto2\"; package a.v1;";
const PROTO3: &str = "syntax = \"proto3\"; package a.v1;";
const EDITION: &str = "edition = \"2023\"; package a.v1;";

#[test]
fn enums_of_proto3() {
    let cases: &[(&str, &str, &[&str])] = &[
        // Two values that took each other's numbers.
        (
            "enum E { Z = 0; A = 1; B = 2; } message X { E f = 1; }",
            "enum E { Z = 0; A = 2; B = 1; } message X { E f = 1; }",
            &[
                "enum-value-number-changed a.v1.A: wire<> buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_NUMBER_CHANGE protolock:NoChangingFieldIDs",
                "enum-value-number-changed a.v1.B: wire<> buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_NUMBER_CHANGE protolock:NoChangingFieldIDs",
            ],
        ),
        // A number that went to another value, whose own is gone.
        (
            "enum E { Z = 0; A = 1; B = 2; } message X { E f = 1; }",
            "enum E { Z = 0; A = 2; } message X { E f = 1; }",
            &[
                "enum-value-number-changed a.v1.A: wire<> buf:ENUM_VALUE_NO_DELETE buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED google:ENUM_VALUE_NUMBER_CHANGE protolock:NoChangingFieldIDs",
                "enum-value-removed a.v1.B: wire< json< text< buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_REMOVAL protolock:NoRemovingFieldsWithoutReserve",
            ],
        ),
        // A name that is kept as an alias, in the second place.
        (
            "enum E { Z = 0; A = 1; } message X { E f = 1; }",
            "enum E { option allow_alias = true; Z = 0; B = 1; A = 1; } message X { E f = 1; }",
            &[
                "enum-primary-name-changed a.v1.B: json<> text<>",
                "enum-value-added a.v1.B: json> text>",
            ],
        ),
        // The first of two names is dropped.
        (
            "enum E { option allow_alias = true; Z = 0; A = 1; B = 1; } message X { E f = 1; }",
            "enum E { Z = 0; B = 1; } message X { E f = 1; }",
            &[
                "enum-value-removed a.v1.A: json< text< buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_REMOVAL protolock:NoRemovingFieldsWithoutReserve",
            ],
        ),
        // In a map and in a list.
        (
            "enum E { Z = 0; A = 1; } message X { map<string, E> f = 1; }",
            "enum E { Z = 0; B = 1; } message X { map<string, E> f = 1; }",
            &[
                "enum-value-renamed a.v1.B: json<> text<> buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_REMOVAL protolock:NoChangingFieldNames",
            ],
        ),
        (
            "enum E { Z = 0; A = 1; } message X { repeated E f = 1; }",
            "enum E { Z = 0; reserved 1; reserved \"A\"; } message X { repeated E f = 1; }",
            &[
                "enum-value-removed a.v1.A: json< text< buf:ENUM_VALUE_NO_DELETE google:ENUM_VALUE_REMOVAL",
            ],
        ),
        // The name of zero, which is not printed where there is no presence.
        (
            "enum E { Z = 0; A = 1; } message X { E f = 1; }",
            "enum E { Y = 0; A = 1; } message X { E f = 1; }",
            &[
                "enum-value-renamed a.v1.Y: json<> text<> buf:ENUM_VALUE_SAME_NAME google:ENUM_VALUE_REMOVAL protolock:NoChangingFieldNames",
            ],
        ),
        // An enum that was renamed keeps its values.
        (
            "enum E { Z = 0; A = 1; B = 2; } message X { E f = 1; }",
            "enum F { Z = 0; A = 1; B = 2; } message X { F f = 1; }",
            &[
                "enum-renamed a.v1.F: buf:ENUM_NO_DELETE buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE buf:PACKAGE_ENUM_NO_DELETE google:ENUM_REMOVAL",
            ],
        ),
    ];
    compare(PROTO3, cases);
}

#[test]
fn enums_of_proto2() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "enum E { A = 0; B = 2; } message X { repeated E f = 1; map<int32, E> m = 2; }",
            "enum E { A = 0; } message X { repeated E f = 1; map<int32, E> m = 2; }",
            &[
                "enum-value-removed a.v1.B: wire< json< text< buf:ENUM_VALUE_NO_DELETE buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED google:ENUM_VALUE_REMOVAL protolock:NoRemovingFieldsWithoutReserve",
            ],
        ),
        (
            "enum E { A = 1; } message X { optional E f = 1; }",
            "enum E { A = 1; B = 2; } message X { optional E f = 1; }",
            &["enum-value-added a.v1.B: wire> json> text>"],
        ),
        // The first value went, and its number.
        (
            "enum E { A = 1; B = 2; } message X { optional E f = 1; }",
            "enum E { B = 2; reserved 1; } message X { optional E f = 1; }",
            &[
                "enum-first-value-changed a.v1.E: wire<> json<> text<> buf:FIELD_SAME_DEFAULT",
                "enum-value-removed a.v1.A: wire< json< text< buf:ENUM_VALUE_NO_DELETE buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED google:ENUM_VALUE_REMOVAL protolock:NoRemovingFieldsWithoutReserve",
            ],
        ),
        // A default that is the first value anyway.
        (
            "enum E { A = 1; B = 2; } message X { optional E f = 1 [default = A]; }",
            "enum E { A = 1; B = 2; } message X { optional E f = 1; }",
            &[],
        ),
        (
            "enum E { A = 1; B = 2; } message X { optional E f = 1 [default = B]; }",
            "enum E { A = 1; B = 2; } message X { optional E f = 1; }",
            &["field-default-changed a.v1.X.f: wire<> json<> text<> buf:FIELD_SAME_DEFAULT"],
        ),
    ];
    compare(PROTO2, cases);
}

#[test]
fn openness() {
    let open = "enum E { Z = 0; } message X { E f = 1; }";
    let closed = "enum E { option features.enum_type = CLOSED; Z = 0; } message X { E f = 1; }";
    let cases: &[(&str, &str, &[&str])] = &[
        (open, closed, &["enum-openness-changed a.v1.E: wire< json< text< buf:ENUM_SAME_TYPE"]),
        (closed, open, &["enum-openness-changed a.v1.E: wire> json> text> buf:ENUM_SAME_TYPE"]),
    ];
    compare(EDITION, cases);
}

#[test]
fn fields() {
    let cases: &[(&str, &str, &[&str])] = &[
        // Two fields that took each other's numbers.
        (
            "message X { int32 a = 1; string b = 2; }",
            "message X { int32 a = 2; string b = 1; }",
            &[
                "field-replaced a.v1.X.a: wire<> buf:FIELD_SAME_JSON_NAME buf:FIELD_SAME_NAME buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE google:FIELD_NAME_CHANGE google:FIELD_TYPE_CHANGE protolock:NoChangingFieldIDs protolock:NoChangingFieldNames",
                "field-replaced a.v1.X.b: wire<> buf:FIELD_SAME_JSON_NAME buf:FIELD_SAME_NAME buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE google:FIELD_NAME_CHANGE google:FIELD_TYPE_CHANGE protolock:NoChangingFieldIDs protolock:NoChangingFieldNames",
            ],
        ),
        // Number and type.
        (
            "message X { int32 a = 1; }",
            "message X { string a = 2; }",
            &[
                "field-number-changed a.v1.X.a: wire<> json<> text<> buf:FIELD_NO_DELETE buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED google:FIELD_REMOVAL protolock:NoChangingFieldIDs protolock:NoChangingFieldTypes",
            ],
        ),
        // Name and type.
        (
            "message X { int32 a = 1; }",
            "message X { string b = 1; }",
            &[
                "field-replaced a.v1.X.b: wire<> json<> text<> buf:FIELD_SAME_JSON_NAME buf:FIELD_SAME_NAME buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE google:FIELD_NAME_CHANGE google:FIELD_TYPE_CHANGE protolock:NoChangingFieldNames",
            ],
        ),
        // A reserved number, by renumbering; a reserved name, by renaming.
        (
            "message X { int32 a = 1; int32 b = 2; reserved 3; reserved \"c\"; }",
            "message X { int32 a = 3; int32 c = 2; }",
            &[
                "field-number-changed a.v1.X.a: wire<> buf:FIELD_NO_DELETE buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED google:FIELD_REMOVAL protolock:NoChangingFieldIDs",
                "field-number-reused a.v1.X.a: wire< buf:RESERVED_MESSAGE_NO_DELETE protolock:NoRemovingReservedFields protolock:NoUsingReservedFields",
                "field-number-reused a.v1.X.c: json< text< buf:RESERVED_MESSAGE_NO_DELETE protolock:NoRemovingReservedFields protolock:NoUsingReservedFields",
                "field-renamed a.v1.X.c: json<> text<> buf:FIELD_SAME_JSON_NAME buf:FIELD_SAME_NAME google:FIELD_NAME_CHANGE protolock:NoChangingFieldNames",
            ],
        ),
        // A list of another type.
        (
            "message X { int32 a = 1; }",
            "message X { repeated int64 a = 1; }",
            &[
                "field-cardinality-changed a.v1.X.a: wire> json<> text> buf:FIELD_SAME_CARDINALITY buf:FIELD_WIRE_COMPATIBLE_CARDINALITY buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY google:FIELD_REPEATED_CHANGE protolock:NoChangingFieldTypes",
                "field-type-changed a.v1.X.a: wire> json<> text> buf:FIELD_SAME_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE google:FIELD_TYPE_CHANGE protolock:NoChangingFieldTypes",
            ],
        ),
        // A map of another type is told once.
        (
            "message X { map<string, int32> a = 1; }",
            "message X { string a = 1; }",
            &[
                "field-cardinality-changed a.v1.X.a: wire<> json<> text<> buf:FIELD_SAME_CARDINALITY buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_CARDINALITY buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE buf:MESSAGE_NO_DELETE buf:PACKAGE_MESSAGE_NO_DELETE google:FIELD_REPEATED_CHANGE",
            ],
        ),
        // Out of a oneof and into `optional`.
        (
            "message X { oneof o { int32 a = 1; } }",
            "message X { optional int32 a = 1; }",
            &[
                "field-oneof-changed a.v1.X.a: buf:FIELD_SAME_ONEOF google:FIELD_ONEOF_MOVE_OUT protolock:NoMovingExistingFieldsIntoOrOutOfOneof",
                "oneof-removed a.v1.X.o: buf:ONEOF_NO_DELETE",
            ],
        ),
        // A oneof of another name with all that it had.
        (
            "message X { oneof o { int32 a = 1; int32 b = 2; } }",
            "message X { oneof p { int32 a = 1; int32 b = 2; int32 c = 3; } }",
            &[
                "oneof-member-added a.v1.X.c: json> text>",
                "oneof-renamed a.v1.X.p: buf:FIELD_SAME_ONEOF buf:ONEOF_NO_DELETE",
            ],
        ),
        // Two fields into one new oneof.
        (
            "message X { int32 a = 1; int32 b = 2; }",
            "message X { oneof o { int32 a = 1; int32 b = 2; } }",
            &[
                "field-oneof-changed a.v1.X.a: wire<> json<> text<> buf:FIELD_SAME_CARDINALITY buf:FIELD_SAME_ONEOF google:FIELD_ONEOF_MOVE_IN protolock:NoMovingExistingFieldsIntoOrOutOfOneof",
                "field-oneof-changed a.v1.X.b: wire<> json<> text<> buf:FIELD_SAME_CARDINALITY buf:FIELD_SAME_ONEOF google:FIELD_ONEOF_MOVE_IN protolock:NoMovingExistingFieldsIntoOrOutOfOneof",
                "oneof-added a.v1.X.o:",
            ],
        ),
        // buf counts the entries of maps among the messages.
        (
            "message X { map<string, int32> a = 1; }",
            "message X { map<string, int32> b = 1; }",
            &[
                "field-renamed a.v1.X.b: json<> text<> buf:FIELD_SAME_JSON_NAME buf:FIELD_SAME_NAME buf:FIELD_SAME_TYPE buf:FIELD_WIRE_COMPATIBLE_TYPE buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE buf:MESSAGE_NO_DELETE buf:PACKAGE_MESSAGE_NO_DELETE google:FIELD_NAME_CHANGE protolock:NoChangingFieldNames",
            ],
        ),
        (
            "message X { map<string, int32> a = 1; }",
            "message X {}",
            &[
                "field-removed a.v1.X.a: wire< json< text< buf:FIELD_NO_DELETE buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED buf:MESSAGE_NO_DELETE buf:PACKAGE_MESSAGE_NO_DELETE google:FIELD_REMOVAL protolock:NoRemovingFieldsWithoutReserve",
            ],
        ),
        // A message and its fields are told once, with the message.
        ("message X { int32 a = 1; } message Y {}", "message Y {}", &[]),
    ];
    compare(PROTO3, cases);
}

#[test]
fn extensions() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "message X { extensions 100 to 200; } extend X { optional int32 a = 100; }",
            "message X { extensions 100 to 200; } extend X { optional int32 b = 100; }",
            &[
                "extension-renamed a.v1.b: json<> text<> buf:EXTENSION_NO_DELETE buf:FIELD_SAME_NAME buf:PACKAGE_EXTENSION_NO_DELETE",
            ],
        ),
        (
            "message X { extensions 100 to 200; } extend X { optional int32 a = 100; }",
            "message X { extensions 100 to 200; } extend X { optional int32 a = 101; }",
            &["field-number-changed a.v1.a: wire<>"],
        ),
        (
            "message X { extensions 100 to 200; } extend X { optional int32 a = 100; }",
            "message X { extensions 100 to 200; } extend X { repeated int32 a = 100; }",
            &[
                "field-cardinality-changed a.v1.a: wire> json<> text> buf:FIELD_SAME_CARDINALITY buf:FIELD_WIRE_COMPATIBLE_CARDINALITY buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY",
            ],
        ),
    ];
    compare(PROTO2, cases);
}

#[test]
fn the_same_in_an_edition_is_no_change() {
    let body = |optional: &str, tail: &str| {
        format!(
            "package a.v1;
             {tail}
             enum E {{ Z = 0; A = 1; }}
             message M {{ string s = 1; }}
             message X {{
               int32 plain = 1;
               {optional}
               repeated int32 packed = 3;
               map<string, E> map = 4;
               oneof o {{ bytes b = 5; M m = 6; }}
               E e = 7;
               string text = 8 [json_name = \"text\"];
             }}"
        )
    };
    let old = format!("syntax = \"proto3\"; {}", body("optional int64 known = 2;", ""));
    let new = format!(
        "edition = \"2023\"; {}",
        body(
            "int64 known = 2 [features.field_presence = EXPLICIT];",
            "option features.field_presence = IMPLICIT;"
        )
    );
    assert_eq!(report(&old, &new), Vec::<String>::new());
    let old = "syntax = \"proto2\"; package a.v1;
        enum E { A = 1; }
        message X {
          required int32 r = 1;
          optional string s = 2 [default = \"x\"];
          repeated int32 n = 3;
          optional E e = 4;
          optional group G = 5 { optional int32 a = 1; }
        }";
    let new = "edition = \"2023\"; package a.v1;
        option features.enum_type = CLOSED;
        option features.repeated_field_encoding = EXPANDED;
        option features.utf8_validation = NONE;
        option features.json_format = LEGACY_BEST_EFFORT;
        enum E { A = 1; }
        message X {
          int32 r = 1 [features.field_presence = LEGACY_REQUIRED];
          string s = 2 [default = \"x\"];
          repeated int32 n = 3;
          E e = 4;
          message G { int32 a = 1; }
          G g = 5 [features.message_encoding = DELIMITED];
        }";
    assert_eq!(report(old, new), Vec::<String>::new());
}
