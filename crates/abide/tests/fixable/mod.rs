//! Trees with findings that can be fixed, some of them only with harm, and the law of fixes: each
//! stands or falls by itself.
//!
//! The soundness program runs the same on many more of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use abide::{Applied, Config, Finding, FixRequest, Fixed, Options, Policy, check, fix};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::date;

/// Texts by path.
type Files = BTreeMap<String, String>;

/// What fixes of a tree did.
#[derive(Default)]
pub(crate) struct Tried {
    /// How many findings they fixed.
    pub(crate) fixed: usize,
    /// How many were refused.
    pub(crate) refused: usize,
}

/// A part of a tree that has nothing to do with the others: all of its names bear its number.
fn part(rng: &mut Rng, n: u32) -> Files {
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

fn link(files: &Files) -> Tree {
    let parse = |(path, text): (&String, &String)| {
        let path: Arc<str> = path.as_str().into();
        let display = Arc::clone(&path);
        let text = text.clone().into_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.iter().map(parse).collect())
}

fn options() -> Options<'static> {
    Options::on(date(2026, 1, 15))
}

fn fixed(files: &Files, policy: &Policy) -> Fixed {
    let request = FixRequest { wants: &|_| true, may_edit: &|_| true };
    fix(&link(files), policy, options(), request)
}

/// The files with the texts that fixes gave them.
fn after(files: &Files, fixed: &Fixed) -> Files {
    let new = fixed
        .texts
        .iter()
        .map(|(path, text)| (path.to_string(), String::from_utf8_lossy(text).into_owned()));
    files.clone().into_iter().chain(new).collect()
}

/// What was refused, with the reasons.
fn refused(fixed: &Fixed) -> BTreeSet<[String; 4]> {
    let each = fixed.refused.iter();
    each.map(|it| [it.path.to_string(), it.element.clone(), it.title.clone(), it.why.clone()])
        .collect()
}

/// Fixes a tree of several parts, and each part alone. The error says which law does not hold.
pub(crate) fn try_fixes(rng: &mut Rng) -> Result<Tried, String> {
    let rules = "[rules]\nfield-name-case = \"warning\"\nenum-value-name-case = \"warning\"\n";
    let policy = Config::parse(rules, None).map_err(|_| "the policy is not valid")?.policy;
    let parts: Vec<Files> = (0..rng.u32(1..4)).map(|n| part(rng, n)).collect();
    let whole: Files = parts.iter().flatten().map(|(a, b)| (a.clone(), b.clone())).collect();
    let made = fixed(&whole, &policy);
    let result = after(&whole, &made);
    let fail = |what: String| {
        let texts = |files: &Files| {
            files.iter().map(|(path, text)| format!("// {path}\n{text}")).collect::<String>()
        };
        Err(format!("{what}\nof\n{}\nfixes made\n{}", texts(&whole), texts(&result)))
    };
    let (mut alone, mut refused_alone) = (Files::new(), BTreeSet::new());
    for part in &parts {
        let made = fixed(part, &policy);
        alone.extend(after(part, &made));
        refused_alone.extend(refused(&made));
    }
    if alone != result || refused_alone != refused(&made) {
        let both = format!("{:#?} and together {:#?}", refused_alone, refused(&made));
        return fail(format!("the parts alone are fixed otherwise: alone refused {both}"));
    }
    let before = check(&link(&whole), &policy, options()).findings;
    let now = check(&link(&result), &policy, options()).findings;
    let count =
        |findings: &[Finding], rule: &str| findings.iter().filter(|it| it.rule == rule).count();
    for it in &now {
        if count(&now, it.rule) > count(&before, it.rule) {
            return fail(format!("`{}` came: {}", it.rule, it.message));
        }
    }
    for it in &before {
        let mut fixes = it.fixes.iter().filter(|fix| fix.applied != Applied::Never);
        let is_refused = |title: &str| {
            made.refused
                .iter()
                .any(|refused| refused.element == it.element && refused.title == title)
        };
        let fixable = fixes.next().is_some_and(|fix| !is_refused(&fix.title));
        if fixable && now.iter().any(|left| left.fingerprint() == it.fingerprint()) {
            return fail(format!("`{}` is still there: {}", it.rule, it.message));
        }
    }
    let again = fixed(&result, &policy);
    if !again.texts.is_empty() {
        return fail("a second run fixes more".to_owned());
    }
    Ok(Tried { fixed: made.findings, refused: made.refused.len() })
}
