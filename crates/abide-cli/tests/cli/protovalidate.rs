//! Annotations of protovalidate and protoc-gen-validate, checked for sense.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// The findings of the checks of annotations in a folder.
fn findings(folder: &Path) -> Vec<Value> {
    let imports = repository().join("testdata/imports");
    let args = ["lint", ".", "-I", imports.to_str().unwrap(), "--format", "json"];
    let ran = abide(folder, &args);
    assert_ne!(ran.status, 2, "{}", ran.stderr);
    let all = ran.json();
    let ours = all.into_iter().filter(|it| {
        it["kind"] == "finding"
            && it["rule"].as_str().is_some_and(|rule| rule.starts_with("constraint-"))
    });
    ours.collect()
}

/// Each line of `testdata/protovalidate` is reported exactly if buf reports it; lines with
/// `// differs: REASON` the other way round.
#[test]
fn annotations_are_judged_as_by_buf() {
    let folder = repository().join("testdata/protovalidate");
    let verdicts = std::fs::read_to_string(folder.join("verdicts.txt")).unwrap();
    let theirs: BTreeSet<String> = verdicts.lines().map(str::to_owned).collect();
    let mut ours = BTreeSet::new();
    for finding in findings(&folder) {
        if finding["aliases"].as_array().is_some_and(|it| it.contains(&"buf:PROTOVALIDATE".into()))
        {
            let (path, line) = (finding["path"].as_str().unwrap(), &finding["start"]["line"]);
            ours.insert(format!("{path}:{line}"));
        }
    }
    let mut cases = 0;
    let mut wrong = Vec::new();
    for name in ["annotations.proto", "expressions.proto", "predefined.proto"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        for (at, line) in text.lines().enumerate().filter(|(_, it)| it.contains("buf.validate.")) {
            let place = format!("{name}:{}", at + 1);
            let agreed = ours.contains(&place) == theirs.contains(&place);
            if agreed == line.contains("// differs: ") {
                let buf = if theirs.contains(&place) { "reports" } else { "accepts" };
                wrong.push(format!("{place}: buf {buf} {line}"));
            }
            cases += 1;
        }
    }
    assert!(cases > 450 && theirs.len() > 200, "{cases} {}", theirs.len());
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is reported for a file: each rule with the text at its place.
fn reported(text: &str) -> Vec<(String, String)> {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/v1/a.proto", text)]);
    let part = |it: &Value| {
        let number = |at: &str, key: &str| it[at][key].as_u64().unwrap() as usize;
        let line = text.lines().nth(number("start", "line") - 1).unwrap();
        let place = line.get(number("start", "column") - 1..number("end", "column") - 1);
        (it["rule"].as_str().unwrap().to_owned(), place.unwrap_or(line).to_owned())
    };
    findings(folder.path()).iter().map(part).collect()
}

const HEAD: &str = "syntax = \"proto3\";\npackage acme.v1;\nimport \"buf/validate/validate.proto\";\n\
                    import \"validate/validate.proto\";\n";

/// The place in the expression, through several literals and their escapes.
#[test]
fn what_is_wrong_in_an_expression_is_its_place() {
    for (literals, place) in [
        (r#""this.b == 1""#, "b"),
        ("\"this.\"\n \"b == 1\"", "b"),
        (r#""this.a == \"\" && this.b""#, "b"),
        (r#""this.a == '\\n' && this.b""#, "b"),
        // Nothing is at its end, so that is the last quote.
        (r#""this.a ==""#, "\""),
        // Escapes of several letters: the whole rule.
        (r#""this.b == '\x41'""#, r#"cel_expression = "this.b == '\x41'""#),
    ] {
        let text = format!(
            "{HEAD}message A {{ string a = 1; A c = 2 [(buf.validate.field).cel_expression = {literals}]; }}\n"
        );
        let (rule, found) = reported(&text).pop().expect("it is reported");
        assert_eq!((rule.as_str(), found.as_str()), ("constraint-expression-invalid", place));
    }
}

/// No expression overflows the stack or takes forever: what is too deep is reported.
#[test]
fn hostile_expressions_are_refused() {
    let deep = 20_000;
    for expression in [
        ["(".repeat(deep), "true".into(), ")".repeat(deep)].concat(),
        ["[".repeat(deep), "]".repeat(deep)].concat(),
        ["this.c", &".c".repeat(deep)].concat(),
        ["true", &" + true".repeat(deep)].concat(),
        "true ? true : ".repeat(deep),
        "this.all(x, ".repeat(deep),
        ["{1: ".repeat(deep), "}".repeat(deep)].concat(),
        "a".repeat(200_000),
    ] {
        let text = format!(
            "{HEAD}message A {{ A c = 1 [(buf.validate.field).cel_expression = \"{expression}\"]; }}\n"
        );
        let rules: Vec<String> = reported(&text).into_iter().map(|it| it.0).collect();
        assert_eq!(rules, ["constraint-expression-invalid"], "{}", &expression[..20]);
    }
    // These are long, but nothing is wrong with them.
    for expression in [
        ["true", &" && true".repeat(10_000)].concat(),
        ["!".repeat(50_000), "true".into()].concat(),
        ["[", &"1, ".repeat(20_000), "].size() > 0"].concat(),
    ] {
        let text = format!(
            "{HEAD}message A {{ A c = 1 [(buf.validate.field).cel_expression = \"{expression}\"]; }}\n"
        );
        assert_eq!(reported(&text), [], "{}", &expression[..20]);
    }
}

/// protoc-gen-validate has the same defects; buf knows none of them.
#[test]
fn annotations_of_pgv_are_checked_too() {
    for (field, rule) in [
        ("string a = 1 [(validate.rules).int32.gt = 1]", "constraint-misplaced"),
        ("repeated string a = 1 [(validate.rules).string.min_len = 1]", "constraint-misplaced"),
        ("string a = 1 [(validate.rules).string.pattern = \"(a\"]", "constraint-malformed"),
        (
            "string a = 1 [(validate.rules).string = {min_len: 3, max_len: 2}]",
            "constraint-unsatisfiable",
        ),
        ("uint32 a = 1 [(validate.rules).uint32.lt = 0]", "constraint-unsatisfiable"),
        (
            "string a = 1 [(validate.rules).string = {const: \"a\", min_len: 1}]",
            "constraint-redundant",
        ),
    ] {
        let found = reported(&format!("{HEAD}message A {{ {field}; }}\n"));
        let rules: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(rules, [rule], "{field}");
    }
    for field in [
        "string a = 1 [(validate.rules).string = {min_len: 1, max_len: 2}]",
        "B a = 1 [(validate.rules).message.required = true]",
        "repeated B a = 1 [(validate.rules).repeated = {min_items: 1, items: {message: {skip: true}}}]",
        "int32 a = 1 [(validate.rules).int32 = {lt: 1, gt: 5}]",
    ] {
        let text = format!("{HEAD}message A {{ {field}; }}\nmessage B {{}}\n");
        assert_eq!(reported(&text), [], "{field}");
    }
}
