//! Trees with findings that can be fixed, some of them only with harm.

use std::collections::BTreeMap;
use std::fmt::Write;

use fastrand::Rng;

/// Texts by path.
pub(crate) type Files = BTreeMap<String, String>;

/// The policy that they are judged by.
pub(crate) const POLICY: &str =
    "[rules]\nfield-name-case = \"warning\"\nenum-value-name-case = \"warning\"\n";

/// A part of a tree that has nothing to do with the others: all of its names bear its number.
pub(crate) fn part(rng: &mut Rng, n: u32) -> Files {
    let version = if rng.u8(..4) == 0 { "v1" } else { "v1alpha" };
    let mut extra = |text: &str| match rng.bool() {
        true => text.replace('#', &n.to_string()),
        false => String::new(),
    };
    let unused = extra("import \"google/protobuf/any.proto\";\n");
    let clash = extra("  optional string userName# = 10;\n  optional string user_name# = 11;\n");
    let meets = extra("  optional string itemName# = 12;\n  optional string item_Name# = 13;\n");
    let quoted = extra(
        "  optional string quotedName# = 14;\n  optional string x = 15 [default = \
                        \"see quotedName#\"];\n",
    );
    let oneof = extra("  oneof pick {\n    string pickOne# = 16;\n    int32 pickTwo# = 17;\n  }\n");
    let taken = extra("  aRed# = 3;\n");
    let taker = extra("message A_RED# {\n  optional string inTaker# = 1;\n}\n");
    let mut defining = format!(
        "syntax = \"proto2\";\npackage acme.p{n}.{version};\nimport \
         \"google/protobuf/descriptor.proto\";\n{unused}\nmessage Note{n} {{\n  optional string \
         shortText{n} = 1;\n  optional Note{n} inNote{n} = 2;\n  optional Kind{n} kind = 3 [default \
         = kindTwo{n}];\n  repeated Kind{n} allKinds{n} = 4;\n{clash}{meets}{quoted}{oneof}}}\nenum \
         Kind{n} {{\n  KIND{n}_NONE = 0;\n{taken}  kindTwo{n} = 2;\n}}\n"
    );
    let number = 50001 + n;
    let _ = writeln!(
        defining,
        "extend google.protobuf.FieldOptions {{\n  optional Note{n} note{n} = {number};\n}}"
    );
    let option = format!("acme.p{n}.{version}.note{n}");
    let mut using = format!(
        "syntax = \"proto2\";\npackage acme.q{n}.v1alpha;\nimport \"acme/p{n}/{version}/a.proto\";\n"
    );
    using += &extra("import \"google/protobuf/empty.proto\";\n");
    using += &format!("message Use{n} {{\n  optional string ownName{n} = 1;\n");
    let mut uses = vec![
        format!("({option}).shortText{n} = \"x\""),
        format!("({option}).inNote{n} = {{ shortText{n}: \"y\", allKinds{n}: [kindTwo{n}] }}"),
        format!("({option}) = {{ inNote{n} {{ kind: kindTwo{n} }} }}"),
    ];
    rng.shuffle(&mut uses);
    for (at, option) in (2..).zip(&uses[..rng.usize(..4)]) {
        let _ = writeln!(using, "  optional string f{at} = {at} [{option}];");
    }
    let mut extra = |text: &str| match rng.bool() {
        true => text.replace('#', &n.to_string()),
        false => String::new(),
    };
    using += &extra("  optional Nowhere# nowhere = 6;\n");
    using += &extra("  optional acme.r#.v1alpha.Found found = 7;\n");
    using += "}\n";
    let found = format!(
        "syntax = \"proto3\";\npackage acme.r{n}.v1alpha;\nmessage Found {{\n  string theirName{n} = \
         1;\n}}\n"
    );
    let mut files = Files::new();
    files.insert(format!("acme/p{n}/{version}/a.proto"), defining);
    files.insert(format!("acme/q{n}/v1alpha/b.proto"), using);
    files.insert(format!("acme/r{n}/v1alpha/c.proto"), found);
    if !taker.is_empty() {
        let text = format!("syntax = \"proto2\";\npackage acme.p{n}.{version};\n{taker}");
        files.insert(format!("acme/p{n}/{version}/d.proto"), text);
    }
    files
}
