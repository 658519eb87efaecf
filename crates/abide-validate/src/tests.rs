//! Values that constraints accept and reject.

use std::sync::Arc;

use abide_schema::value::{Codec, Message as Data, UndeclaredPolicy};
use abide_schema::{Field, FileDecl, Message, SourceFile, Tree, find_well_known};

use crate::{evaluate, rejects_absence};

const PGV: &str = include_str!("../../../testdata/imports/validate/validate.proto");
const BUF: &str = include_str!("../../../testdata/imports/buf/validate/validate.proto");

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

#[test]
fn a_new_field_may_reject_what_was_written_before_it() {
    let rules = [
        ("int32", "(validate.rules).int32.gt = 3", true),
        ("int32", "(validate.rules).int32.lt = 3", false),
        ("optional int32", "(validate.rules).int32.gt = 3", false),
        ("optional int32", "(buf.validate.field).required = true", true),
        ("google.protobuf.Any", "(validate.rules).any.required = true", true),
        ("repeated int32", "(validate.rules).repeated.min_items = 1", true),
        ("google.protobuf.StringValue", "(validate.rules).string.min_len = 1", false),
    ];
    for (ty, rule, rejects) in rules {
        let tree = tree(&format!("message M {{ {ty} v = 1 [{rule}]; }}"));
        assert_eq!(rejects_absence(field(&tree, "v")), rejects, "{ty} {rule}");
    }
}

#[test]
fn defaults_stand_for_absent_fields() {
    let body = |default: &str| {
        format!("message M {{ optional int32 v = 1 [{default}(validate.rules).int32.gt = 3]; }}")
    };
    for (default, rejects) in [("", true), ("default = 4, ", false), ("default = 3, ", true)] {
        let tree = tree_of("proto2", &body(default));
        assert_eq!(rejects_absence(field(&tree, "v")), rejects, "{default}");
    }
}

#[test]
fn trees_without_the_definitions_have_no_constraints() {
    let text = "syntax = \"proto3\"; import \"validate/validate.proto\";\n\
                message M { int32 v = 1 [(validate.rules).int32.gt = 3]; }";
    let file = SourceFile {
        path: "t.proto".into(),
        display: "t.proto".into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    };
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(file))]);
    assert!(evaluate(&tree, &Data::new(message(&tree, "M").id)).accepts());
}

#[test]
fn a_judgement_names_the_path_and_what_it_cannot_tell() {
    let tree = tree(
        "message In { string s = 1 [(validate.rules).string.min_len = 2]; }\n\
         message M { repeated In v = 1; int32 c = 2 [(buf.validate.field).cel_expression = \"this > 0\"];\
         google.protobuf.Timestamp t = 3 [(buf.validate.field).timestamp.lt_now = true]; }",
    );
    let value = Codec::new(&tree).read_text(
        message(&tree, "t.M").id,
        b"v { s: \"aa\" } v { } c: 1 t { }",
        UndeclaredPolicy::Refuse,
    );
    let found = evaluate(&tree, &value.into_result().expect("it is well-formed"));
    assert_eq!(found.violations.len(), 1);
    assert_eq!(found.violations[0].path, "v[1].s");
    assert_eq!(found.violations[0].field, Some(field(&tree, "v").id));
    assert_eq!(found.undetermined.len(), 1);
    assert!(found.rejects() && !found.accepts());
}
