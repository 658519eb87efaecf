//! The cases by which schema registries define the compatibility of protobuf, in all modes: written
//! anew, each with the verdict of Confluent's registry, whose table Karapace and Apicurio follow.
//! Where Abide decides otherwise, the case says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::run::{abide, put};

/// Two versions of a schema and who takes them for compatible: backward and forward.
struct Case {
    name: &'static str,
    old: &'static str,
    new: &'static str,
    registry: [bool; 2],
    abide: [bool; 2],
    /// Why the two differ; empty where they agree.
    why: &'static str,
}

const fn agreed(
    name: &'static str,
    old: &'static str,
    new: &'static str,
    registry: [bool; 2],
) -> Case {
    Case { name, old, new, registry, abide: registry, why: "" }
}

const fn explained(
    name: &'static str,
    [old, new]: [&'static str; 2],
    registry: [bool; 2],
    abide: [bool; 2],
    why: &'static str,
) -> Case {
    Case { name, old, new, registry, abide, why }
}

const BOTH: [bool; 2] = [true, true];
const NEITHER: [bool; 2] = [false, false];
const BACKWARD: [bool; 2] = [true, false];
const FORWARD: [bool; 2] = [false, true];

const NARROWED: &str = "old readers cut or refuse values that only the new type has";
const UNREAD: &str = "a registry counts names of types; values of unused types are never read";
const LOST: &str = "values that were written are lost or read as unknown";
const LAST_ONE: &str = "old readers keep only the last of several values";

/// `PKG` stands for the package of the case, `p2` at the start for proto2.
const CASES: &[Case] = &[
    agreed("the package changes", "PKG.a;message M{}", "PKG.b;message M{}", BOTH),
    agreed(
        "a name is qualified",
        "message M{ L l = 1; message L{ string t = 1; } }",
        "message M{ M.L l = 1; message L{ string t = 1; } }",
        BOTH,
    ),
    agreed(
        "a name is qualified with its package",
        "message M{ L l = 1; message L{ string t = 1; } }",
        "message M{ .PKG.M.L l = 1; message L{ string t = 1; } }",
        BOTH,
    ),
    agreed(
        "a name in a map is qualified",
        "message M{ map<string, L> l = 1; message L{ string t = 1; } }",
        "message M{ map<string, M.L> l = 1; message L{ string t = 1; } }",
        BOTH,
    ),
    agreed("a field is added", "message M{}", "message M{ string a = 1; }", BOTH),
    agreed(
        "a field of a nested type is added",
        "message M{ message L{ string t = 1; } }",
        "message M{ message L{ string t = 1; string u = 2; } }",
        BOTH,
    ),
    explained(
        "a required field is added",
        [
            "p2message M{ optional string a = 1; }",
            "p2message M{ optional string a = 1; required string b = 2; }",
        ],
        NEITHER,
        FORWARD,
        "old readers skip the field; only new readers miss it",
    ),
    agreed(
        "a required field is removed",
        "p2message M{ optional string a = 1; required string b = 2; }",
        "p2message M{ optional string a = 1; }",
        NEITHER,
    ),
    explained(
        "a field is removed",
        ["message M{ string a = 1; string b = 2; }", "message M{ string a = 1; }"],
        BOTH,
        FORWARD,
        LOST,
    ),
    explained(
        "a number changes",
        ["message M{ string a = 1; }", "message M{ string a = 2; }"],
        BOTH,
        NEITHER,
        LOST,
    ),
    explained(
        "int32 becomes int64",
        ["message M{ int32 a = 1; }", "message M{ int64 a = 1; }"],
        BOTH,
        BACKWARD,
        NARROWED,
    ),
    explained(
        "string becomes bytes",
        ["message M{ string a = 1; }", "message M{ bytes a = 1; }"],
        BOTH,
        BACKWARD,
        NARROWED,
    ),
    agreed(
        "int32 becomes an enum",
        "message M{ int32 a = 1; }",
        "message M{ S a = 1; } enum S{ ON = 0; OFF = 1; }",
        BOTH,
    ),
    agreed(
        "an enum becomes int32",
        "message M{ S a = 1; } enum S{ ON = 0; OFF = 1; }",
        "message M{ int32 a = 1; }",
        BOTH,
    ),
    agreed(
        "int32 becomes a message",
        "message M{ int32 a = 1; }",
        "message M{ L a = 1; } message L{ string t = 1; }",
        NEITHER,
    ),
    agreed(
        "a message becomes int32",
        "message M{ L a = 1; } message L{ string t = 1; }",
        "message M{ int32 a = 1; }",
        NEITHER,
    ),
    agreed(
        "int32 becomes a nested message with the name of an enum",
        "message M{ int32 a = 1; }",
        "message M{ .PKG.M.S a = 1; message S{ string t = 1; } } enum S{ ON = 0; }",
        NEITHER,
    ),
    agreed(
        "a nested message with the name of an enum becomes int32",
        "message M{ .PKG.M.S a = 1; message S{ string t = 1; } } enum S{ ON = 0; }",
        "message M{ int32 a = 1; }",
        NEITHER,
    ),
    agreed(
        "a value of an enum is renamed",
        "message M{ S a = 1; } enum S{ ON = 0; OFF = 1; }",
        "message M{ S a = 1; } enum S{ ON = 0; OUT = 1; }",
        BOTH,
    ),
    agreed(
        "a value of an enum is added",
        "message M{ S a = 1; } enum S{ ON = 0; }",
        "message M{ S a = 1; } enum S{ ON = 0; OFF = 1; }",
        BOTH,
    ),
    explained(
        "a value of an enum is removed",
        [
            "message M{ S a = 1; } enum S{ ON = 0; OFF = 1; }",
            "message M{ S a = 1; } enum S{ ON = 0; }",
        ],
        BOTH,
        FORWARD,
        LOST,
    ),
    agreed(
        "a field moves into a new oneof",
        "message M{ string a = 1; }",
        "message M{ oneof o{ string a = 1; int32 b = 2; } }",
        BACKWARD,
    ),
    agreed(
        "two fields move into a new oneof",
        "message M{ string a = 1; string b = 2; }",
        "message M{ oneof o{ string a = 1; string b = 2; } }",
        NEITHER,
    ),
    agreed(
        "a field moves into an existing oneof",
        "message M{ string a = 1; oneof o{ string b = 2; } }",
        "message M{ oneof o{ string b = 2; string a = 1; } }",
        NEITHER,
    ),
    explained(
        "a field is added to a oneof",
        [
            "message M{ oneof o{ string a = 1; } }",
            "message M{ oneof o{ string a = 1; int32 b = 2; } }",
        ],
        BACKWARD,
        BOTH,
        "old readers see the oneof unset, as with any field that they do not know",
    ),
    agreed(
        "a field is removed from a oneof",
        "message M{ oneof o{ string a = 1; int32 b = 2; } }",
        "message M{ oneof o{ string a = 1; } }",
        FORWARD,
    ),
    agreed(
        "int32 becomes string",
        "message M{ int32 a = 1; }",
        "message M{ string b = 1; }",
        NEITHER,
    ),
    explained(
        "a message becomes another one with the same fields",
        [
            "message M{ K a = 1; } message K{ string t = 1; }",
            "message M{ L a = 1; } message L{ string t = 1; }",
        ],
        NEITHER,
        BOTH,
        "the bytes are the same; a registry compares the names of types",
    ),
    agreed(
        "a message becomes another one with other fields",
        "message M{ K a = 1; } message K{ string t = 1; }",
        "message M{ L a = 1; } message L{ int64 n = 1; }",
        NEITHER,
    ),
    agreed(
        "the values of a map change",
        "message M{ map<string, int32> a = 1; }",
        "message M{ map<string, string> b = 1; }",
        NEITHER,
    ),
    agreed(
        "the keys of a map change",
        "message M{ map<string, int32> a = 1; }",
        "message M{ map<int32, int32> a = 1; }",
        NEITHER,
    ),
    explained(
        "a message becomes repeated",
        [
            "message M{ optional L a = 1; } message L{ string t = 1; }",
            "message M{ repeated L a = 1; } message L{ string t = 1; }",
        ],
        BOTH,
        BACKWARD,
        LAST_ONE,
    ),
    explained(
        "a string becomes repeated",
        ["message M{ optional string a = 1; }", "message M{ repeated string a = 1; }"],
        BOTH,
        BACKWARD,
        LAST_ONE,
    ),
    explained(
        "bytes become repeated",
        ["message M{ optional bytes a = 1; }", "message M{ repeated bytes a = 1; }"],
        BOTH,
        BACKWARD,
        LAST_ONE,
    ),
    explained(
        "a number becomes repeated",
        ["message M{ optional int32 a = 1; }", "message M{ repeated int32 a = 1; }"],
        NEITHER,
        BACKWARD,
        "readers of packed fields also read a single value",
    ),
    explained(
        "a message is added",
        ["message M{}", "message M{} message L{ string t = 1; }"],
        BACKWARD,
        BOTH,
        UNREAD,
    ),
    explained(
        "a message is removed",
        ["message M{} message L{ string t = 1; }", "message M{}"],
        FORWARD,
        BOTH,
        UNREAD,
    ),
    explained(
        "a message is added before another",
        ["message M{}", "message L{ string t = 1; } message M{}"],
        BACKWARD,
        BOTH,
        UNREAD,
    ),
    agreed(
        "two messages change places",
        "message M{} message L{ string t = 1; }",
        "message L{ string t = 1; } message M{}",
        BOTH,
    ),
    agreed(
        "int32 becomes sint32",
        "message M{ int32 a = 1; }",
        "message M{ sint32 a = 1; }",
        NEITHER,
    ),
    agreed(
        "int32 becomes fixed32",
        "message M{ int32 a = 1; }",
        "message M{ fixed32 a = 1; }",
        NEITHER,
    ),
    agreed(
        "float becomes double",
        "message M{ float a = 1; }",
        "message M{ double a = 1; }",
        NEITHER,
    ),
    agreed(
        "a service is removed",
        "message M{} service S{ rpc Get(M) returns (M); }",
        "message M{}",
        BOTH,
    ),
];

/// The file of a case on one side.
fn write_file(number: usize, body: &str) -> String {
    let package = format!("acme.p{number:02}");
    let (syntax, body) = match body.strip_prefix("p2") {
        Some(body) => ("proto2", body),
        None => ("proto3", body),
    };
    let (last, body) = match body.strip_prefix("PKG.").and_then(|it| it.split_once(';')) {
        Some((last, body)) => (format!("_{last}"), body),
        None => (String::new(), body),
    };
    let body = body.replace("PKG", &package);
    format!("syntax = \"{syntax}\";\npackage {package}{last};\n{body}\n")
}

/// The numbers of the cases in which a mode finds errors.
fn find_errors(folder: &Path, mode: &str) -> BTreeSet<usize> {
    let args = ["breaking", "-q", "--against", "old", "--compatibility", mode, "--format", "json"];
    let ran = abide(folder, &args);
    assert!(ran.status < 2, "{}", ran.stderr);
    let rows = ran.json().into_iter().filter(|it| it["severity"] == "error");
    let number = |package: &str| package["acme.p".len()..][..2].parse().unwrap();
    rows.map(|it| number(it["package"].as_str().unwrap())).collect()
}

#[test]
fn the_cases_of_registries_are_agreed_or_explained_in_every_mode() {
    assert!(CASES.len() >= 43, "{} cases", CASES.len());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (number, case) in CASES.iter().enumerate() {
        let (old, new) = (write_file(number, case.old), write_file(number, case.new));
        put(folder, &[(&format!("old/p{number:02}.proto"), &old)]);
        put(folder, &[(&format!("new/p{number:02}.proto"), &new)]);
    }
    // Registries look at the wire alone.
    put(folder, &[("abide.toml", "roots = [\"new\"]\n[breaking]\nsurfaces = [\"wire\"]\n")]);
    let modes = ["none", "backward", "forward", "full"];
    let errors: BTreeMap<&str, BTreeSet<usize>> =
        modes.into_iter().map(|mode| (mode, find_errors(folder, mode))).collect();
    assert_eq!(errors["none"], BTreeSet::new());
    for (number, case) in CASES.iter().enumerate() {
        let is_compatible = |mode: &str| !errors[mode].contains(&number);
        let name = case.name;
        assert_eq!([is_compatible("backward"), is_compatible("forward")], case.abide, "{name}");
        assert_eq!(is_compatible("full"), case.abide == BOTH, "{name}");
        assert_eq!(case.why.is_empty(), case.abide == case.registry, "{name}");
    }
    for mode in &modes[1..] {
        // Of one old tree all modes with and without `-transitive` say the same.
        assert_eq!(find_errors(folder, &format!("{mode}-transitive")), errors[mode], "{mode}");
    }
}
