//! What two constraints are to each other, and that each claim has its value.

use std::sync::Arc;

use abide_schema::value::{Codec, Entry, Message as Data, Value};
use abide_schema::{
    Cardinality, Field, FileDecl, Message, MessageId, Oneof, Scalar, SourceFile, Tree, Type,
    find_well_known,
};
use abide_validate::{evaluate, rejects_absence_of_oneof};

use super::compare::{compare_fields, compare_messages, compare_oneofs};
use super::constraint_change::{ConstraintChange, Inclusion};

const PGV: &str = include_str!("../../../../testdata/imports/validate/validate.proto");
const BUF: &str = include_str!("../../../../testdata/imports/buf/validate/validate.proto");

const KNOWN: [&str; 6] = ["any", "descriptor", "duration", "field_mask", "timestamp", "wrappers"];

fn tree_of(syntax: &str, body: &str) -> Tree {
    let imports = KNOWN.map(|name| format!("import \"google/protobuf/{name}.proto\";\n")).concat();
    let text = format!(
        "syntax = \"{syntax}\";\npackage t;\n{imports}import \"validate/validate.proto\";\n\
         import \"buf/validate/validate.proto\";\n{body}"
    );
    let file = |path: &str, text: &str| {
        let text = text.as_bytes().into();
        let (path, display) = (path.into(), path.into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let mut files: Vec<_> = KNOWN
        .map(|name| format!("google/protobuf/{name}.proto"))
        .iter()
        .map(|path| file(path, find_well_known(path).expect("it is well known")))
        .collect();
    files.push(file("validate/validate.proto", PGV));
    files.push(file("buf/validate/validate.proto", BUF));
    files.push(file("t.proto", &text));
    let tree = Tree::link(files);
    let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{body}");
    tree
}

fn tree(body: &str) -> Tree {
    tree_of("proto3", body)
}

fn message<'t>(tree: &'t Tree, name: &str) -> Message<'t> {
    let mut all = tree.files().flat_map(abide_schema::File::all_messages);
    all.find(|it| it.full_name() == name).expect("it is declared")
}

fn field<'t>(tree: &'t Tree, name: &str) -> Field<'t> {
    message(tree, "t.M").field_named(name).expect("it is declared")
}

/// `M` with one field; a rule such as `string.max_len = 3` is one of
/// protoc-gen-validate where it begins with `pgv`.
fn one(ty: &str, rule: &str) -> String {
    let option = match rule.strip_prefix("pgv ") {
        _ if rule.is_empty() => String::new(),
        Some(rule) => format!(" [(validate.rules) = {{{rule}}}]"),
        None => format!(" [(buf.validate.field) = {{{rule}}}]"),
    };
    let field = match ty.strip_prefix("oneof ") {
        Some(ty) => format!("oneof o {{ {ty} v = 1{option}; string w = 2; }}"),
        None => format!("{ty} v = 1{option};"),
    };
    format!("enum E {{ E0 = 0; E1 = 1; E5 = 5; }}\nmessage M {{ {field} }}")
}

fn compared(old: (&str, &str), new: (&str, &str)) -> (ConstraintChange, String, String) {
    let (old, new) = (tree(&one(old.0, old.1)), tree(&one(new.0, new.1)));
    let comparison = compare_fields(field(&old, "v"), field(&new, "v"));
    let text = |tree: &Tree, message: &Option<Data>| {
        message.as_ref().map_or("-".to_owned(), |it| {
            Codec::new(tree).to_text(it).split_whitespace().collect::<Vec<_>>().join(" ")
        })
    };
    let (less, more) = (text(&old, &comparison.tightened_by), text(&new, &comparison.loosened_by));
    (comparison, less, more)
}

fn word(inclusion: &Inclusion) -> &'static str {
    match inclusion {
        Inclusion::Equal => "equal",
        Inclusion::Tightened => "tightened",
        Inclusion::Loosened => "loosened",
        Inclusion::Incomparable => "incomparable",
        Inclusion::Unproven { .. } => "unproven",
    }
}

/// Type, old rule, new rule, verdict, the values that show it.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

#[test]
#[rustfmt::skip]
fn constraints_of_one_field_are_compared() {
    let rows: &[Row] = &[
        // Numbers.
        ("int32", "", "int32: {gt: 3}", "tightened", "", "-"),
        ("int32", "int32: {gt: 3}", "", "loosened", "-", ""),
        ("int32", "int32: {gte: 1}", "int32: {gte: 2}", "tightened", "v: 1", "-"),
        ("int32", "int32: {gt: 3}", "int32: {gte: 4}", "equal", "-", "-"),
        ("int32", "int32: {gt: 3, lt: 9}", "int32: {gt: 3, lt: 7}", "tightened", "v: 7", "-"),
        ("int32", "int32: {gt: 9, lt: 3}", "int32: {gt: 9}", "tightened", "", "-"),
        ("int32", "int32: {in: [1, 2]}", "int32: {in: [2, 3]}", "incomparable", "v: 1", "v: 3"),
        ("int32", "int32: {in: [1, 2]}", "int32: {gte: 1, lte: 2}", "equal", "-", "-"),
        ("int32", "int32: {const: 5}", "int32: {in: [5, 6]}", "loosened", "-", "v: 6"),
        ("int32", "int32: {gte: 5, lte: 5}", "pgv int32: {gte: 5, lte: 5}", "loosened", "-", ""),
        ("int32", "pgv int32: {gt: 3}", "int32: {gt: 3}", "equal", "-", "-"),
        ("int32", "pgv int32: {gt: 3, ignore_empty: true}", "int32: {gt: 3}", "tightened", "", "-"),
        ("optional int32", "", "required: true", "tightened", "", "-"),
        ("optional int32", "int32: {gt: 3}", "int32: {gt: 3}, required: true", "tightened", "", "-"),
        ("int32", "", "required: true", "tightened", "", "-"),
        ("int32", "required: true", "int32: {not_in: [0]}", "equal", "-", "-"),
        ("int32", "int32: {gt: 3}", "int32: {gt: 3}, ignore: IGNORE_ALWAYS", "loosened", "-", ""),
        ("int32", "int32: {lte: 3}", "int32: {lte: 3}, ignore: IGNORE_IF_ZERO_VALUE", "equal", "-", "-"),
        ("optional int32", "int32: {lte: 3, gt: 0}", "int32: {lte: 3, gt: 0}, ignore: IGNORE_IF_ZERO_VALUE", "equal", "-", "-"),
        ("int64", "int64: {lte: 9223372036854775807}", "", "equal", "-", "-"),
        ("uint32", "uint32: {gte: 0}", "", "equal", "-", "-"),
        ("float", "float: {lt: 1}", "float: {lte: 1}", "loosened", "-", "v: 1"),
        ("double", "", "double: {finite: true}", "tightened", "v: inf", "-"),
        ("double", "double: {gt: 0}", "pgv double: {gt: 0}", "loosened", "-", "v: nan"),
        ("bool", "", "bool: {const: true}", "tightened", "", "-"),
        ("E", "", "enum: {defined_only: true}", "tightened", "v: 2", "-"),
        ("E", "enum: {defined_only: true}", "enum: {in: [0, 1, 5]}", "equal", "-", "-"),
        ("E", "enum: {defined_only: true}", "enum: {defined_only: true, not_in: [5]}", "tightened", "v: E5", "-"),
        ("google.protobuf.Duration", "duration: {gt: {}}", "duration: {gte: {}}", "loosened", "-", "v { }"),
        ("google.protobuf.Duration", "", "duration: {lte: {nanos: 500000000}}", "tightened", "v { nanos: 500000001 }", "-"),
        ("google.protobuf.Duration", "", "pgv duration: {required: true}", "tightened", "", "-"),
        ("google.protobuf.Timestamp", "timestamp: {lt_now: true}", "", "loosened", "-", "-"),
        ("google.protobuf.Timestamp", "pgv timestamp: {lt_now: true}", "timestamp: {lt_now: true}", "loosened", "-", "-"),
        ("google.protobuf.Timestamp", "timestamp: {within: {seconds: 5}}", "timestamp: {within: {seconds: 9}}", "loosened", "-", "-"),
        ("google.protobuf.Int32Value", "", "int32: {gt: 3}", "tightened", "v { }", "-"),
        // Texts.
        ("string", "string: {max_len: 64}", "string: {max_len: 3}", "tightened", "v: \"aaaa\"", "-"),
        ("string", "string: {min_len: 1}", "", "loosened", "-", ""),
        ("string", "string: {min_len: 1}", "string: {min_bytes: 1}", "equal", "-", "-"),
        ("string", "string: {max_len: 2}", "string: {max_bytes: 2}", "tightened", "v: \"\u{e9}a\"", "-"),
        ("string", "", "string: {min_len: 2}, ignore: IGNORE_IF_ZERO_VALUE", "tightened", "v: \"a\"", "-"),
        ("string", "string: {len: 3}", "string: {min_len: 3, max_len: 3}", "equal", "-", "-"),
        ("string", "string: {prefix: \"ab\"}", "string: {prefix: \"a\"}", "loosened", "-", "v: \"a\""),
        ("string", "string: {prefix: \"ab\"}", "string: {min_len: 2, contains: \"ab\", pattern: \"^ab\"}", "equal", "-", "-"),
        ("string", "string: {pattern: \"^[a-z]+$\"}", "string: {pattern: \"^[a-z]*$\"}", "loosened", "-", ""),
        ("string", "string: {pattern: \"^[a-z]+$\"}", "string: {pattern: \"^[a-y]+$\"}", "tightened", "v: \"z\"", "-"),
        ("string", "string: {pattern: \"^(a|b)*$\"}", "string: {pattern: \"^[ab]*$\"}", "equal", "-", "-"),
        ("string", "string: {pattern: \"^a*$\"}", "string: {pattern: \"^a*$\", max_len: 2}", "tightened", "v: \"aaa\"", "-"),
        ("string", "string: {pattern: \"^[ab]{2}$\"}", "string: {in: [\"aa\", \"ab\", \"ba\", \"bb\"]}", "equal", "-", "-"),
        ("string", "string: {pattern: \"\\\\d\"}", "string: {pattern: \"[0-9]\"}", "equal", "-", "-"),
        ("string", "string: {pattern: \"a\\\\1\"}", "string: {pattern: \"b\\\\1\"}", "unproven", "-", "-"),
        ("string", "string: {pattern: \"(a|b)*a(a|b){40}$\"}", "string: {pattern: \"(a|b)*b(a|b){40}$\"}", "unproven", "-", "-"),
        ("string", "string: {in: [\"a\", \"b\"]}", "string: {in: [\"a\"]}", "tightened", "v: \"b\"", "-"),
        ("string", "string: {not_in: [\"a\"]}", "string: {not_contains: \"a\"}", "tightened", "v: \"aa\"", "-"),
        ("string", "", "string: {email: true}", "tightened", "", "-"),
        ("string", "string: {ip: true}", "string: {ipv4: true}", "tightened", "v: \"::\"", "-"),
        ("string", "string: {hostname: true}", "string: {address: true}", "loosened", "-", "v: \"::\""),
        ("string", "string: {hostname: true}", "pgv string: {hostname: true}", "loosened", "-", "v: \"0\""),
        ("string", "string: {uri: true}", "string: {uri_ref: true}", "loosened", "-", ""),
        ("string", "string: {uuid: true}", "string: {len: 36, pattern: \"^[0-9a-fA-F-]+$\"}", "loosened", "-", "v: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""),
        ("string", "pgv string: {well_known_regex: HTTP_HEADER_NAME, strict: false}", "pgv string: {well_known_regex: HTTP_HEADER_NAME}", "tightened", "", "-"),
        ("string", "pgv string: {well_known_regex: HTTP_HEADER_NAME}", "string: {well_known_regex: KNOWN_REGEX_HTTP_HEADER_NAME}", "equal", "-", "-"),
        ("string", "pgv string: {min_len: 1, max_bytes: 16384}", "pgv string: {min_len: 1}", "loosened", "-", "*"),
        ("string", "string: {hostname: true}", "string: {hostname: true, max_len: 5}", "tightened", "v: \"aaaaaa\"", "-"),
        ("bytes", "bytes: {min_len: 2}", "bytes: {len: 4}", "tightened", "v: \"aa\"", "-"),
        ("bytes", "bytes: {ip: true}", "bytes: {ipv4: true}", "tightened", "v: \"aaaaaaaaaaaaaaaa\"", "-"),
        ("bytes", "bytes: {prefix: \"\\xff\"}", "bytes: {contains: \"\\xff\"}", "loosened", "-", "v: \"a\\377\""),
        ("google.protobuf.Any", "any: {in: [\"x/a\", \"x/b\"]}", "any: {in: [\"x/a\"]}", "tightened", "v { type_url: \"x/b\" }", "-"),
        ("google.protobuf.Any", "", "pgv any: {required: true}", "tightened", "", "-"),
        // Lists and maps.
        ("repeated int32", "", "repeated: {min_items: 1}", "tightened", "", "-"),
        ("repeated int32", "repeated: {max_items: 2}", "repeated: {max_items: 1}", "tightened", "v: 0 v: 0", "-"),
        ("repeated int32", "", "repeated: {unique: true}", "tightened", "v: 0 v: 0", "-"),
        ("repeated int32", "repeated: {max_items: 1}", "repeated: {max_items: 1, unique: true}", "equal", "-", "-"),
        ("repeated int32", "repeated: {min_items: 2, unique: true}", "repeated: {min_items: 2, unique: true, items: {int32: {gt: 0}}}", "tightened", "v: 0 v: 1", "-"),
        ("repeated string", "repeated: {items: {string: {min_len: 1}}}", "repeated: {items: {string: {min_len: 2}}}", "tightened", "v: \"a\"", "-"),
        ("repeated int32", "repeated: {min_items: 3}, ignore: IGNORE_IF_ZERO_VALUE", "repeated: {min_items: 3}", "tightened", "", "-"),
        ("repeated int32", "repeated: {items: {int32: {gt: 3}, ignore: IGNORE_IF_ZERO_VALUE}}", "repeated: {items: {int32: {gt: 3}}}", "tightened", "v: 0", "-"),
        ("repeated google.protobuf.FieldMask", "repeated: {min_items: 1}", "repeated: {min_items: 2}", "tightened", "v { }", "-"),
        ("repeated int32", "repeated: {max_items: 9000}", "repeated: {max_items: 5000}", "tightened", "-", "-"),
        ("map<string, int32>", "", "map: {min_pairs: 2}", "tightened", "", "-"),
        ("map<string, int32>", "map: {keys: {string: {min_len: 1}}}", "", "loosened", "-", "v { key: \"\" value: 0 }"),
        ("map<string, int32>", "map: {max_pairs: 3}", "map: {max_pairs: 1}", "tightened", "v { key: \"\" value: 0 } v { key: \"a\" value: 0 }", "-"),
        ("map<string, int32>", "", "map: {values: {int32: {lt: 3}}}", "tightened", "v { key: \"\" value: 3 }", "-"),
        ("map<string, int32>", "pgv map: {no_sparse: true}", "", "equal", "-", "-"),
        // Oneofs, expressions, both libraries.
        ("oneof int32", "", "int32: {gt: 3}", "tightened", "v: 0", "-"),
        ("oneof int32", "int32: {gt: 3}", "int32: {gt: 3}, required: true", "tightened", "", "-"),
        ("int32", "cel: {id: \"a\", expression: \"this>3\"}", "cel: {id: \"b\", expression: \"this > 3\"}", "equal", "-", "-"),
        ("int32", "cel: {expression: \"this>3\"}", "cel_expression: \"this > 3\"", "equal", "-", "-"),
        ("int32", "cel: {expression: \"this > 3\"}", "cel: {expression: \"this > 4\"}", "unproven", "-", "-"),
        ("int32", "", "cel: {expression: \"this > 4\"}", "unproven", "-", "-"),
    ];
    let mut wrong = Vec::new();
    for &(ty, old, new, verdict, less, more) in rows {
        let shows = |text: &str, wanted: &str| {
            text == wanted || wanted == "*" && text.len() > 16_000
        };
        let (found, tightened, loosened) = compared((ty, old), (ty, new));
        let fits = word(&found.inclusion) == verdict
            && shows(&tightened, less)
            && shows(&loosened, more)
            && found.facets.is_empty() == (verdict == "equal");
        if !fits {
            wrong.push(format!("{ty} | {old} | {new}: {:?} {tightened} {loosened}", found.inclusion));
        }
        // The other way round it is the reverse.
        let (back, tightened, loosened) = compared((ty, new), (ty, old));
        let reverse = match verdict {
            "tightened" => "loosened",
            "loosened" => "tightened",
            same => same,
        };
        if word(&back.inclusion) != reverse || !shows(&loosened, less) || !shows(&tightened, more) {
            wrong.push(format!("back: {ty} | {old} | {new}: {:?}", back.inclusion));
        }
        // And nothing is a change of itself.
        for rule in [old, new] {
            assert_eq!(compared((ty, rule), (ty, rule)).0, ConstraintChange::equal(), "{ty} {rule}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_change_of_type_is_compared_as_far_as_it_can_be() {
    let rows = [
        ("int32", "int32: {gt: 3}", "int64", "int64: {gt: 3}", "equal"),
        ("int32", "int32: {gt: 3}", "int64", "int64: {gt: 4}", "tightened"),
        ("E", "enum: {in: [1, 5]}", "int32", "int32: {in: [1]}", "tightened"),
        ("int32", "int32: {gt: 3}", "string", "string: {min_len: 3}", "unproven"),
        ("int32", "int32: {gt: 3}", "int32", "int32: {gt: 3}", "equal"),
        ("int32", "int32: {gt: 3}", "repeated int32", "", "unproven"),
        ("int32", "int32: {gt: 3}", "optional int32", "int32: {gt: 3}", "loosened"),
    ];
    for (old_type, old, new_type, new, verdict) in rows {
        let (found, ..) = compared((old_type, old), (new_type, new));
        assert_eq!(
            word(&found.inclusion),
            verdict,
            "{old_type} {old} | {new_type} {new}: {found:?}"
        );
    }
}

#[test]
fn a_facet_says_what_it_was_and_is() {
    let whats = |ty: &str, old: &str, new: &str| -> Vec<String> {
        let (found, ..) = compared((ty, old), (ty, new));
        let each = found.facets.iter();
        each.map(|it| format!("{}: {}", it.what, word(&it.inclusion))).collect()
    };
    let old = "string: {min_len: 1, max_len: 64, in: [\"a\", \"b\"]}";
    let new = "string: {min_len: 1, max_len: 32, prefix: \"a\"}";
    assert_eq!(
        whats("string", old, new),
        [
            "`max_len` 64 → 32: equal",
            "`in` [\"a\", \"b\"] removed: loosened",
            "`prefix` \"a\" added: tightened"
        ],
    );
    assert_eq!(
        whats(
            "repeated google.protobuf.Duration",
            "",
            "repeated: {items: {duration: {gt: {nanos: 500000000}}}}"
        ),
        ["`items.gt` 0.5s added: tightened"],
    );
    let (found, ..) = compared(("int32", "int32: {gt: 3}"), ("int32", "int32: {gt: 5}"));
    let [facet] = found.facets.as_slice() else { panic!("one facet") };
    assert!(facet.place_old.is_some() && facet.place_new.is_some());
    assert_ne!(facet.place_old.map(|it| it.span), None);
}

/// Two trees of one body each, and the comparison of `M.v`.
fn bodies(old: &str, new: &str) -> (ConstraintChange, Tree, Tree) {
    let (old, new) = (tree(old), tree(new));
    let found = compare_fields(field(&old, "v"), field(&new, "v"));
    (found, old, new)
}

#[test]
fn declared_values_are_what_defined_only_accepts() {
    let body = |values: &str| {
        format!(
            "enum E {{ {values} }} message M {{ E v = 1 [(validate.rules).enum.defined_only = true]; }}"
        )
    };
    let (found, _, new) = bodies(&body("A = 0;"), &body("A = 0; B = 1;"));
    assert_eq!(found.inclusion, Inclusion::Loosened);
    assert_eq!(Codec::new(&new).to_text(&found.loosened_by.expect("it is shown")).trim(), "v: B");
    assert_eq!(found.facets[0].what, "`defined_only` of 1 value → of 2 values");
}

#[test]
fn a_witness_is_valid_but_for_the_field() {
    let body = |rule: &str| {
        format!(
            "message In {{ string s = 1 [(validate.rules).string.min_len = 2]; }}\n\
             message M {{ int32 v = 1 [(validate.rules).int32 = {{{rule}}}];\n\
             In in = 2 [(validate.rules).message.required = true];\n\
             repeated E e = 3 [(validate.rules).repeated = {{min_items: 1, items: {{enum: {{not_in: 0}}}}}}];\n\
             oneof o {{ option (validate.required) = true; In a = 4; string b = 5 [(validate.rules).string.prefix = \"/\"]; }}\n\
             }} enum E {{ E0 = 0; E1 = 1; }}"
        )
    };
    let (found, old, _) = bodies(&body("lt: 9"), &body("lt: 5"));
    let text = Codec::new(&old).to_text(&found.tightened_by.expect("it is shown"));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text, "v: 5 in { s: \"aa\" } e: E1 a { s: \"aa\" }");
}

#[test]
fn a_message_that_cannot_be_filled_gives_no_witness() {
    let body = |rule: &str| {
        format!(
            "message M {{ int32 v = 1 [(validate.rules).int32 = {{{rule}}}];\n\
             M m = 2 [(validate.rules).message.required = true]; }}"
        )
    };
    let (found, ..) = bodies(&body("lt: 9"), &body("lt: 5"));
    assert_eq!((word(&found.inclusion), found.tightened_by), ("tightened", None));
}

#[test]
fn a_message_that_is_not_known_to_be_valid_is_no_witness() {
    let body = |rule: &str| {
        format!(
            "message M {{ int32 v = 1 [(buf.validate.field).int32 = {{{rule}}}];\n\
             int32 c = 2 [(buf.validate.field).cel_expression = \"timestamp(this) < now\"]; }}"
        )
    };
    let (found, ..) = bodies(&body("lt: 9"), &body("lt: 5"));
    assert_eq!((word(&found.inclusion), found.tightened_by), ("tightened", None));

    // What the one library does not look at any more the other still rejects.
    let body = |option: &str| {
        tree(&format!(
            "message M {{ {option} int32 v = 1 [(validate.rules).int32.gt = 3,\n\
             (buf.validate.field).int32.gt = 3]; }}"
        ))
    };
    let (old, new) = (body("option (validate.disabled) = true;"), body(""));
    let found = compare_messages(message(&old, "t.M"), message(&new, "t.M"));
    assert_eq!((word(&found.inclusion), found.tightened_by), ("unproven", None));
}

#[test]
fn types_that_need_each_other_come_to_an_end() {
    let fields = |rule: &str| {
        let one = |number: i32| format!("R r{number} = {number}{rule};");
        (1..=9).map(one).collect::<String>()
    };
    let (old, new) = ("lt: 9", "lt: 5");
    for rule in ["", " [(validate.rules).message.required = true]"] {
        let body = |skip: &str, bound: &str| {
            format!(
                "message R {{ {} string s = 10 [(buf.validate.field).string.hostname = true,\n\
                 (buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE]; }}\n\
                 message M {{ R v = 1 [(validate.rules).message.skip = {skip}]; R r = 2{rule};\n\
                 int32 w = 3 [(validate.rules).int32 = {{{bound}}}]; }}",
                fields(rule)
            )
        };
        let (was, is) = (tree(&body("true", old)), tree(&body("false", new)));
        let w = |tree| message(tree, "t.M").field_named("w").expect("it is declared");
        assert_eq!(word(&compare_fields(w(&was), w(&is)).inclusion), "tightened");
        let nested = compare_fields(field(&was, "v"), field(&is, "v"));
        assert_ne!(word(&nested.inclusion), "loosened");
    }
}

#[test]
fn a_rejection_for_another_reason_is_no_witness() {
    let old = "message M { int32 v = 1 [(validate.rules).int32.lt = 9]; }";
    let new = "message M { int32 v = 3 [(validate.rules).int32.lt = 5];\n\
               int32 n = 2 [(validate.rules).int32.gt = 3]; }";
    let (found, ..) = bodies(old, new);
    assert_eq!((word(&found.inclusion), found.tightened_by), ("tightened", None));
}

#[test]
fn nested_rules_count_where_they_are_not_skipped() {
    let body = |rule: &str| {
        format!(
            "message In {{ string s = 1 [(validate.rules).string.prefix = \"a\"]; }}\n\
             message M {{ In v = 1{rule}; }}"
        )
    };
    let skip = body(" [(validate.rules).message.skip = true]");
    let (found, old, _) = bodies(&skip, &body(""));
    assert_eq!(word(&found.inclusion), "tightened");
    assert_eq!(
        Codec::new(&old).to_text(&found.tightened_by.expect("it is shown")).trim(),
        "v {\n}"
    );
    let (found, ..) = bodies(&body(""), &skip);
    assert_eq!(word(&found.inclusion), "loosened");
    let plain = "message In { string s = 1; } message M { In v = 1 [(validate.rules).message.skip = true]; }";
    let (found, ..) = bodies(plain, "message In { string s = 1; } message M { In v = 1; }");
    assert_eq!(found, ConstraintChange::equal());
}

#[test]
fn a_library_may_be_joined_or_replaced_by_the_other() {
    let body = |rules: &str| format!("message M {{ string v = 1 [{rules}]; }}");
    let pgv = "(validate.rules).string.max_len = 5";
    let buf = "(buf.validate.field).string.max_len = 5";
    let both = format!("{pgv}, {buf}");
    for (old, new) in [(pgv, buf), (pgv, &both), (&both, buf)] {
        assert_eq!(bodies(&body(old), &body(new)).0, ConstraintChange::equal(), "{old} | {new}");
    }
    let less = body("(validate.rules).string.max_len = 5, (buf.validate.field).string.max_len = 3");
    let (found, old, _) = bodies(&body(&both), &less);
    assert_eq!(word(&found.inclusion), "tightened");
    assert_eq!(
        Codec::new(&old).to_text(&found.tightened_by.expect("it is shown")).trim(),
        "v: \"aaaa\""
    );
}

#[test]
fn oneofs_are_required_or_not() {
    let body = |option: &str| {
        format!(
            "message M {{ int32 n = 3 [(validate.rules).int32.gt = 1]; oneof o {{ {option} int32 v = 1; string w = 2; }} }}"
        )
    };
    let (free, pgv, buf) = (
        tree(&body("")),
        tree(&body("option (validate.required) = true;")),
        tree(&body("option (buf.validate.oneof).required = true;")),
    );
    fn o(tree: &Tree) -> Oneof<'_> {
        message(tree, "t.M").oneofs().next().expect("it has one")
    }
    for required in [&pgv, &buf] {
        let found = compare_oneofs(o(&free), o(required));
        assert_eq!(found.inclusion, Inclusion::Tightened);
        assert_eq!(
            Codec::new(&free).to_text(&found.tightened_by.expect("it is shown")).trim(),
            "n: 2"
        );
        let found = compare_oneofs(o(required), o(&free));
        assert_eq!((word(&found.inclusion), found.loosened_by.is_some()), ("loosened", true));
        assert!(rejects_absence_of_oneof(o(required)) && !rejects_absence_of_oneof(o(&free)));
    }
    assert_eq!(compare_oneofs(o(&pgv), o(&buf)), ConstraintChange::equal());
}

#[test]
#[rustfmt::skip]
fn rules_of_messages_are_compared() {
    let rows = [
        ("", "option (validate.disabled) = true;", "loosened", "-", "v: 1"),
        ("option (validate.ignored) = true;", "option (validate.disabled) = true;", "equal", "-", "-"),
        ("", "option (buf.validate.message).oneof = {fields: [\"a\", \"b\"]};", "tightened", "v: 4 a: 1 b: 0", "-"),
        ("option (buf.validate.message).oneof = {fields: [\"a\", \"b\"]};", "option (buf.validate.message).oneof = {fields: [\"b\", \"a\"], required: true};", "tightened", "v: 4", "-"),
        ("option (buf.validate.message).oneof = {fields: [\"a\", \"b\"]};", "option (buf.validate.message).oneof = {fields: [\"a\", \"b\", \"c\"]};", "tightened", "v: 4 a: 1 c: 1", "-"),
        ("option (buf.validate.message).cel_expression = \"this.a>1\";", "option (buf.validate.message).cel = {expression: \"this.a > 1\"};", "equal", "-", "-"),
        ("", "option (buf.validate.message).cel_expression = \"this.a>1\";", "unproven", "-", "-"),
    ];
    let body = |option: &str| format!("message M {{ {option} int32 v = 1 [(validate.rules).int32.gt = 3]; int32 a = 2; optional int32 b = 3; int32 c = 4; }}");
    for (old, new, verdict, less, more) in rows {
        let (was, is) = (tree(&body(old)), tree(&body(new)));
        let found = compare_messages(message(&was, "t.M"), message(&is, "t.M"));
        let text = |tree: &Tree, found: &Option<Data>| {
            found.as_ref().map_or("-".to_owned(), |it| Codec::new(tree).to_text(it).trim().replace('\n', " "))
        };
        assert_eq!(word(&found.inclusion), verdict, "{old} | {new}: {found:?}");
        assert_eq!(text(&was, &found.tightened_by), less, "{old} | {new}");
        if more != "v: 1" || found.loosened_by.is_none() {
            assert_eq!(text(&is, &found.loosened_by), more, "{old} | {new}");
        }
        let back = compare_messages(message(&is, "t.M"), message(&was, "t.M"));
        assert_eq!(word(&back.inclusion), match verdict { "tightened" => "loosened", "loosened" => "tightened", same => same });
        // What the message says as a whole is no change of its fields.
        let fields = compare_fields(field(&was, "v"), field(&is, "v"));
        assert_eq!(fields, ConstraintChange::equal(), "{old} | {new}");
    }
}

/// A small generator of the same numbers in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const INT_RULES: &[&str] = &[
    "gt: 1",
    "gte: 1",
    "lt: 3",
    "lte: 3",
    "gt: 3",
    "lt: 1",
    "in: [0, 1]",
    "in: [1, 5]",
    "not_in: [2]",
    "const: 1",
];
const ENUM_RULES: &[&str] =
    &["defined_only: true", "in: [0, 1]", "in: [1, 2]", "not_in: [0]", "not_in: [5]", "const: 1"];
const TEXT_RULES: &[&str] = &[
    "min_len: 1",
    "min_len: 2",
    "max_len: 2",
    "max_bytes: 2",
    "len: 1",
    "prefix: \"a\"",
    "suffix: \"a\"",
    "contains: \"b\"",
    "not_contains: \"b\"",
    "pattern: \"^[ab]*$\"",
    "pattern: \"^a?b+$\"",
    "in: [\"a\", \"ab\", \"\"]",
    "not_in: [\"a\"]",
    "const: \"a\"",
    "ip: true",
    "ipv4: true",
    "ipv6: true",
    "hostname: true",
    "address: true",
    "uri: true",
    "uri_ref: true",
    "email: true",
    "uuid: true",
];
const BYTES_RULES: &[&str] = &[
    "min_len: 1",
    "max_len: 2",
    "len: 1",
    "prefix: \"a\"",
    "contains: \"b\"",
    "in: [\"a\", \"ab\"]",
    "not_in: [\"a\"]",
    "pattern: \"^[ab]*$\"",
    "ipv4: true",
    "ip: true",
];

/// Up to three rules of a group, no key twice.
fn rules_of(numbers: &mut Numbers, group: &str) -> String {
    let all = match group {
        "int32" => INT_RULES,
        "enum" => ENUM_RULES,
        "bytes" => BYTES_RULES,
        _ => TEXT_RULES,
    };
    // Of bounds on one side, and of formats, one is enough.
    let known = |rule: &str| match rule.split(':').next().unwrap_or_default() {
        "ip" | "ipv4" | "ipv6" | "hostname" | "address" | "uri" | "uri_ref" | "email" | "uuid" => {
            "known".to_owned()
        }
        key => key.trim_end_matches('e').to_owned(),
    };
    let mut rules = Vec::<&str>::new();
    for _ in 0..numbers.below(3) + 1 {
        let rule = numbers.of(all);
        if !rules.iter().any(|it| known(it) == known(rule)) {
            rules.push(rule);
        }
    }
    format!("{group}: {{{}}}", rules.join(", "))
}

/// Any constraint of one of a few types.
fn any(numbers: &mut Numbers, ty: &str) -> String {
    let group = |ty: &str| match ty.trim_start_matches("optional ").trim_start_matches("oneof ") {
        "E" => "enum".to_owned(),
        "google.protobuf.StringValue" => "string".to_owned(),
        ty => ty.to_owned(),
    };
    let pgv = numbers.below(3) == 0;
    let list = |numbers: &mut Numbers, ty: &str| {
        let more = numbers.of(&[
            "",
            ", min_items: 1",
            ", min_items: 2",
            ", max_items: 1",
            ", max_items: 2",
            ", unique: true",
        ]);
        let zero = if pgv { "" } else { numbers.of(&["", "", ", ignore: IGNORE_IF_ZERO_VALUE"]) };
        format!("repeated: {{items: {{{}{zero}}}{more}}}", rules_of(numbers, &group(ty)))
    };
    let mut rules = if let Some(ty) = ty.strip_prefix("repeated ") {
        list(numbers, ty)
    } else if ty.starts_with("map") {
        let more = numbers.of(&[
            "",
            ", min_pairs: 1",
            ", min_pairs: 2",
            ", max_pairs: 1",
            ", max_pairs: 2",
        ]);
        let (keys, values) = (rules_of(numbers, "string"), rules_of(numbers, "int32"));
        match numbers.below(3) {
            0 => format!("map: {{keys: {{{keys}}}{more}}}"),
            1 => format!("map: {{values: {{{values}}}{more}}}"),
            _ => format!("map: {{keys: {{{keys}}}, values: {{{values}}}{more}}}"),
        }
    } else {
        rules_of(numbers, &group(ty))
    };
    if !pgv {
        rules += numbers.of(&["", "", ", required: true", ", ignore: IGNORE_IF_ZERO_VALUE"]);
    }
    match numbers.below(8) {
        0 => String::new(),
        _ if pgv => format!("pgv {rules}"),
        _ => rules,
    }
}

/// Random contents for the field.
fn random(numbers: &mut Numbers, field: Field<'_>) -> Data {
    let mut message = Data::new(field.parent().expect("it has one").id);
    let count = match field.cardinality() {
        Cardinality::Repeated | Cardinality::Map => numbers.below(4),
        Cardinality::Singular => numbers.below(2),
    };
    for _ in 0..count {
        message.entries.push(Entry::new(field.id, random_value(numbers, field)));
    }
    message
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aa",
    "bb",
    "\u{e9}",
    "abb",
    "aab",
    "c",
    "caa",
    "bab",
    "::",
    "::1",
    "1.1.1.1",
    "a.b",
    "a.1",
    "1",
    "fe80::1%a",
    "a:b",
    "a@b",
    "a b",
    "%zz",
    "_",
    "123e4567-e89b-12d3-a456-426614174000",
];

fn random_value(numbers: &mut Numbers, field: Field<'_>) -> Value {
    match field.ty() {
        Type::Scalar(Scalar::Int32) => Value::I32(numbers.below(8) as i32 - 1),
        Type::Scalar(Scalar::Bytes) => Value::Bytes(numbers.of(TEXTS).as_bytes().into()),
        Type::Enum(_) => Value::Enum(numbers.below(7) as i32 - 1),
        Type::Message(id) => {
            let mut message = Data::new(id);
            for field in field.tree.message(id).fields() {
                message.entries.push(Entry::new(field.id, random_value(numbers, field)));
            }
            Value::Message(Box::new(message))
        }
        _ => Value::String(numbers.of(TEXTS).into()),
    }
}

/// Whatever is claimed of two constraints holds for random values, and for the
/// reverse; what is claimed to differ is shown.
#[test]
fn claims_hold_for_generated_constraints() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let types = [
        "int32",
        "optional int32",
        "string",
        "optional string",
        "repeated int32",
        "repeated string",
    ];
    let mut seen = [0; 5];
    let mut shown = 0;
    for round in 0..400 {
        let ty = types[round % types.len()];
        let (a, b) = (any(&mut numbers, ty), any(&mut numbers, ty));
        let (old, new) = (tree(&one(ty, &a)), tree(&one(ty, &b)));
        let (v, w) = (field(&old, "v"), field(&new, "v"));
        let found = compare_fields(v, w);
        let back = compare_fields(w, v);
        let row = format!("{ty} | {a} | {b}: {:?}", found.inclusion);
        let (at, reverse) = match &found.inclusion {
            Inclusion::Equal => (0, Inclusion::Equal),
            Inclusion::Tightened => (1, Inclusion::Loosened),
            Inclusion::Loosened => (2, Inclusion::Tightened),
            Inclusion::Incomparable => (3, Inclusion::Incomparable),
            Inclusion::Unproven { .. } => (4, back.inclusion.clone()),
        };
        seen[at] += 1;
        assert_eq!(back.inclusion, reverse, "{row}");
        assert_eq!(matches!(back.inclusion, Inclusion::Unproven { .. }), at == 4, "{row}");
        assert_eq!(compare_fields(v, v), ConstraintChange::equal(), "{row}");
        shown += usize::from(found.tightened_by.is_some());
        if matches!(found.inclusion, Inclusion::Tightened | Inclusion::Incomparable) {
            assert!(found.tightened_by.is_some(), "{row}");
        }
        if let Some(message) = &found.tightened_by {
            let there =
                Codec::new(&new).decode(message_of(w), &Codec::new(&old).encode(message)).unwrap();
            assert!(evaluate(&old, message).accepts() && evaluate(&new, &there).rejects(), "{row}");
        }
        for _ in 0..60 {
            let here = random(&mut numbers, v);
            let there =
                Codec::new(&new).decode(message_of(w), &Codec::new(&old).encode(&here)).unwrap();
            let (here, there) = (evaluate(&old, &here), evaluate(&new, &there));
            if here.accepts() && there.rejects() {
                let excluded = matches!(found.inclusion, Inclusion::Equal | Inclusion::Loosened);
                assert!(!excluded, "{row}: {there:?}");
            }
        }
    }
    assert!(seen[..4].iter().all(|&count| count > 5) && shown > 100, "{seen:?}, {shown} shown");
    assert!(seen[4] < 20, "{seen:?}");
}

fn message_of(field: Field<'_>) -> MessageId {
    field.parent().expect("it has one").id
}
