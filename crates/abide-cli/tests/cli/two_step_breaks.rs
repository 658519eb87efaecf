//! Breaks in two steps, each of them harmless: something is removed and its number or name is not
//! reserved; later another thing gets it. Only all old trees together show the break.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::history::{Snapshot, git, repository};
use crate::run::{abide, put};

/// What a package holds in the first release, in the second, and now; and a harmless twin of now.
struct Case {
    name: String,
    steps: [String; 3],
    twin: String,
}

/// Types that fields of the cases have.
const TYPES: &str = "message Sub {\n  string text = 1;\n}\nmessage Other {\n  int64 count = 1;\n}\n\
                     enum Kind {\n  KIND_UNSPECIFIED = 0;\n  KIND_ONE = 1;\n}\n";

/// Pairs of types of a field that had a number and one that gets it.
const NUMBER_REUSED: &[[&str; 2]] = &[
    ["string", "int32"],
    ["string", "bytes"],
    ["int32", "sint32"],
    ["int32", "fixed32"],
    ["int64", "double"],
    ["uint64", "fixed64"],
    ["float", "double"],
    ["bool", "string"],
    ["bytes", "int64"],
    ["string", "Sub"],
    ["Sub", "Other"],
    ["Kind", "string"],
    ["fixed32", "float"],
    ["sint64", "int64"],
    ["uint32", "bool"],
    ["int32", "int64"],
    ["repeated int32", "string"],
    ["map<string, string>", "string"],
    ["map<string, string>", "map<string, int32>"],
    ["map<string, bool>", "map<int32, bool>"],
    ["repeated Sub", "Sub"],
    ["string", "repeated string"],
];

/// The same, where the later field also has another name.
const NUMBER_OF_ANOTHER: &[[&str; 2]] = &[
    ["string", "int32"],
    ["Sub", "Other"],
    ["bytes", "bool"],
    ["Kind", "double"],
    ["repeated string", "map<string, string>"],
];

/// The same, where the later field has the name and another number: JSON and generated code break.
const NAME_REUSED: &[[&str; 2]] = &[
    ["string", "bool"],
    ["bool", "string"],
    ["int32", "Sub"],
    ["Sub", "string"],
    ["Kind", "bool"],
    ["repeated string", "string"],
];

/// Members of a message in the first release, in the second, and now.
const MEMBERS: &[[&str; 3]] = &[
    ["string was = 2 [json_name = \"x\"];", "", "bool next = 3 [json_name = \"x\"];"],
    ["string user_id = 2;", "", "bool userId = 3;"],
    ["optional string was = 2;", "", "string was = 2;"],
    ["string was = 2; string other = 3;", "", "string other = 2; string was = 3;"],
    ["string was = 2; bool other = 3;", "", "bool was = 3; string other = 2;"],
    [
        "string was = 2; oneof choice { string one = 3; }",
        "oneof choice { string one = 3; }",
        "oneof choice { string one = 3; string was = 2; }",
    ],
    [
        "oneof choice { string one = 3; string was = 2; }",
        "oneof choice { string one = 3; }",
        "oneof choice { string one = 3; } string was = 2;",
    ],
    [
        "oneof choice { string one = 3; string was = 2; }",
        "",
        "oneof choice { bool one = 3; bytes was = 2; }",
    ],
    [
        "oneof choice { string one = 3; string was = 2; } oneof more { string two = 4; }",
        "oneof choice { string one = 3; } oneof more { string two = 4; }",
        "oneof choice { string one = 3; } oneof more { string two = 4; string was = 2; }",
    ],
    ["oneof choice { string one = 3; string was = 2; }", "", "string choice = 5;"],
    ["message Gone { string a = 1; }", "", "message Gone { double a = 1; }"],
    ["message Gone { string a = 1; }", "", "enum Gone { GONE_UNSPECIFIED = 0; }"],
];

/// The same for whole files, beside the types that fields have.
const DECLARATIONS: &[[&str; 3]] = &[
    [
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; HIGH = 2; }",
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; }",
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; NONE = 2; }",
    ],
    [
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; HIGH = 2; }",
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; }",
        "message Used { Level level = 1; } enum Level { LOW = 0; MID = 1; HIGH = 3; }",
    ],
    ["message Gone { string a = 1; }", "", "message Gone { int32 a = 1; }"],
    [
        "message Gone { string a = 1; bytes b = 2; }",
        "",
        "message Gone { string b = 1; bytes a = 2; }",
    ],
    ["message Gone { string a = 1; }", "", "enum Gone { GONE_UNSPECIFIED = 0; }"],
    [
        "enum Color { NONE = 0; RED = 1; BLUE = 2; }",
        "",
        "enum Color { NONE = 0; RED = 2; BLUE = 1; }",
    ],
    [
        "service Users { rpc Get(Sub) returns (Sub); }",
        "service Users {}",
        "service Users { rpc Get(Other) returns (Sub); }",
    ],
    [
        "service Users { rpc Get(Sub) returns (Sub); }",
        "service Users {}",
        "service Users { rpc Get(Sub) returns (Other); }",
    ],
    [
        "service Users { rpc Get(Sub) returns (Sub); }",
        "service Users {}",
        "service Users { rpc Get(Sub) returns (stream Sub); }",
    ],
    [
        "service Users { rpc Get(Sub) returns (Sub); }",
        "service Users {}",
        "service Users { rpc Get(stream Sub) returns (Sub); }",
    ],
    [
        "service Users { rpc Get(Sub) returns (Sub); }",
        "",
        "service Users { rpc Get(Other) returns (Sub); }",
    ],
    ["service Gone { rpc Get(Sub) returns (Sub); }", "", "message Gone { string a = 1; }"],
];

/// The same in proto2, beside a message with extensions.
const LEGACY: &[[&str; 3]] = &[
    [
        "extend Base { optional string extra = 100; }",
        "",
        "extend Base { optional int32 extra = 100; }",
    ],
    [
        "extend Base { optional string extra = 100; }",
        "",
        "extend Base { optional bool more = 100; }",
    ],
    [
        "extend Base { optional string extra = 100; }",
        "",
        "extend Base { optional string extra = 101; }",
    ],
    [
        "message Holder { optional int32 was = 2 [default = 1]; }",
        "message Holder {}",
        "message Holder { optional int32 was = 2 [default = 2]; }",
    ],
    [
        "message Holder { optional group Was = 2 { optional string a = 1; } }",
        "message Holder {}",
        "message Holder { optional string was = 2; }",
    ],
    [
        "message Used { optional Color c = 1; } enum Color { RED = 0; BLUE = 2; }",
        "message Used { optional Color c = 1; } enum Color { RED = 0; }",
        "message Used { optional Color c = 1; } enum Color { RED = 0; GREEN = 2; }",
    ],
];

/// The content of files that are not in the second release at all.
const FILES: &[[&str; 2]] = &[
    ["message Whole { string a = 1; }", "message Whole { int64 a = 1; }"],
    ["message Whole { string a = 1; }", "service Whole {}"],
];

/// All cases, each with a package of its own.
fn list_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |steps: [String; 3], syntax: &str| {
        let name = format!("p{:02}", cases.len());
        let head = format!("syntax = \"{syntax}\";\npackage acme.{name}.v1;\n");
        let text = |body: &String| match body.is_empty() {
            true => String::new(),
            false => format!("{head}{body}"),
        };
        let twin = text(&steps[0]);
        cases.push(Case { name, steps: steps.each_ref().map(text), twin });
    };
    let message =
        |body: &str| format!("{TYPES}message Holder {{\n  string keep = 1;\n  {body}\n}}\n");
    for [was, is] in NUMBER_REUSED {
        let steps = [format!("{was} was = 2;"), String::new(), format!("{is} was = 2;")];
        add(steps.map(|it| message(&it)), "proto3");
    }
    for [was, is] in NUMBER_OF_ANOTHER {
        let steps = [format!("{was} was = 2;"), String::new(), format!("{is} next = 2;")];
        add(steps.map(|it| message(&it)), "proto3");
    }
    for [was, is] in NAME_REUSED {
        let steps = [format!("{was} was = 2;"), String::new(), format!("{is} was = 3;")];
        add(steps.map(|it| message(&it)), "proto3");
    }
    for steps in MEMBERS {
        add(steps.map(message), "proto3");
    }
    for steps in DECLARATIONS {
        add(steps.map(|it| format!("{TYPES}{it}\n")), "proto3");
    }
    for steps in LEGACY {
        let base = "message Base { optional string keep = 1; extensions 100 to 199; }\n";
        add(steps.map(|it| format!("{base}{it}\n")), "proto2");
    }
    for [was, is] in FILES {
        add([(*was).to_owned(), String::new(), (*is).to_owned()], "proto3");
    }
    cases
}

fn path(case: &Case) -> String {
    format!("acme/{0}/v1/{0}.proto", case.name)
}

/// A repository with two tagged releases of all cases.
fn write_releases(folder: &Path, cases: &[Case]) {
    let release = |step: usize| {
        let files = cases.iter().filter(|it| !it.steps[step].is_empty());
        let files: Vec<(String, &str)> =
            files.map(|it| (path(it), it.steps[step].as_str())).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1)).collect();
        Snapshot::on_main("release", &files)
    };
    repository(folder, &[release(0), release(1)]);
    git(folder, &["tag", "v1.0.0", "HEAD~1"]);
    git(folder, &["tag", "v1.1.0", "HEAD"]);
}

/// The errors of `abide breaking`: rules by package.
fn find_errors(folder: &Path, against: &str) -> BTreeMap<String, BTreeSet<String>> {
    let ran = abide(folder, &["breaking", "-q", "--against", against, "--format", "json"]);
    assert!(ran.status < 2, "{}", ran.stderr);
    let mut errors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in ran.json().into_iter().filter(|it| it["severity"] == "error") {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(row["baselines"], serde_json::json!(["git:v1.0.0"]), "{row}");
        errors.entry(text("package")).or_default().insert(text("rule"));
    }
    errors
}

#[test]
fn all_old_trees_show_breaks_in_two_steps_and_none_alone_does() {
    let cases = list_cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_releases(folder, &cases);
    for case in &cases {
        put(folder, &[(&path(case), &case.steps[2])]);
    }
    // No step says anything about the other.
    assert_eq!(find_errors(folder, "git:newest(v*)"), BTreeMap::new());
    let found = find_errors(folder, "git:every(v*)");
    let missed = cases.iter().filter(|it| !found.contains_key(&format!("acme.{}.v1", it.name)));
    let missed: Vec<String> = missed.map(|it| it.steps.join("\n---\n")).collect();
    assert_eq!(missed, Vec::<String>::new());

    for case in &cases {
        put(folder, &[(&path(case), &case.twin)]);
    }
    for against in ["git:newest(v*)", "git:every(v*)"] {
        assert_eq!(find_errors(folder, against), BTreeMap::new(), "{against}");
    }
}
