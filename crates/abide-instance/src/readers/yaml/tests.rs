use std::fmt::Write;

use super::*;

/// A value, each part with the text at its place where that says something else.
fn show(text: &str, node: &JsonNode<'_>, out: &mut String) {
    match &node.kind {
        JsonKind::Null => out.push_str("null"),
        JsonKind::Bool(value) => write!(out, "{value}").expect("a string"),
        JsonKind::Number(number) => out.push_str(number),
        JsonKind::String(value) => {
            write!(out, "{value:?}").expect("a string");
            let place = &text[node.span.range()];
            if place.trim_matches(['"', '\'']) != *value {
                write!(out, "@{place:?}").expect("a string");
            }
        }
        JsonKind::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                show(text, element, out);
            }
            out.push(']');
        }
        JsonKind::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write!(out, "{}: ", member.key).expect("a string");
                show(text, &member.value, out);
            }
            out.push('}');
        }
    }
}

#[track_caller]
fn check(text: &str, documents: &[&str], errors: &[&str]) {
    let parsed = parse(text, Dialect::Protobuf);
    let shown = parsed.documents.iter().map(|node| {
        let mut out = String::new();
        show(text, node, &mut out);
        out
    });
    assert_eq!(shown.collect::<Vec<_>>(), documents, "{text}");
    let found: Vec<String> = parsed.errors.iter().map(|error| error.message.clone()).collect();
    assert_eq!(found, errors, "{text}");
}

#[test]
fn values_have_the_places_of_the_text() {
    check("a: 1\nb: [x, 'y', \"z\"]\n", &[r#"{a: 1, b: ["x", "y", "z"]}"#], &[]);
    check("a:\n- 1\n- b: ~\n", &["{a: [1, {b: null}]}"], &[]);
    check("ü: \"é\"\nx: é\n", &["{ü: \"é\", x: \"é\"}"], &[]);
    check("a: |\n  one\n  two\nb: 1\n", &["{a: \"one\\ntwo\\n\"@\"one\\n  two\\n\", b: 1}"], &[]);
}

#[test]
fn every_document_is_read() {
    check("a: 1\n---\nb: 2\n...\n---\n# nothing\n", &["{a: 1}", "{b: 2}", "null"], &[]);
    check("", &[], &[]);
}

#[test]
fn a_malformed_document_does_not_hide_the_next() {
    let parsed = parse("a: [1\n---\nb: 2\n", Dialect::Protobuf);
    assert_eq!(parsed.documents.len(), 1);
    assert_eq!(parsed.errors.len(), 1);
}

#[test]
fn aliases_repeat_values() {
    check("a: &x [1]\nb: *x\n", &["{a: [1], b: [1]}"], &[]);
    check("a: *x\nb: 1\n", &[], &["no anchor `&x` stands before this alias"]);
    check("a: &x [*x]\n", &[], &["this alias stands inside of what it repeats"]);
    // An anchor is known in its own document only.
    check("a: &x 1\n---\nb: *x\n", &["{a: 1}"], &["no anchor `&x` stands before this alias"]);
}

#[test]
fn a_bomb_of_aliases_is_an_error() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..20 {
        let before = format!("*a{}, ", at - 1).repeat(10);
        writeln!(text, "a{at}: &a{at} [{before}]").expect("a string");
    }
    check(&text, &[], &["aliases repeat more than 1000000 values"]);
}

#[test]
fn tags_say_what_a_scalar_is() {
    check(
        "- !!str 1\n- ! 1\n- !!int '1'\n- !!binary |\n  YW\n  Jj\n",
        &[r#"["1", "1", 1, "YWJj"@"YW\n  Jj\n"]"#],
        &[],
    );
    check("a: !thing 1\n", &[], &["the tag `!thing` has no meaning here"]);
}

#[test]
fn keys_are_words() {
    check("1: a\ntrue: b\n? c\n: d\n", &[r#"{1: "a", true: "b", c: "d"}"#], &[]);
    check("[a, b]: c\n", &[], &["a key is one word or a quoted text, not a list or a mapping"]);
}

#[test]
fn nesting_has_a_limit() {
    let text = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let parsed = parse(&text, Dialect::Protobuf);
    assert!(parsed.documents.is_empty());
    assert_eq!(parsed.errors.len(), 1);
    let text: String = (0..10_000).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
    assert_eq!(parse(&text, Dialect::Protobuf).errors.len(), 1);
}

#[test]
fn comments_are_kept() {
    let text = "# one\na: 1 # two\n#three\n";
    let parsed = parse(text, Dialect::Protobuf);
    let comments: Vec<&str> = parsed.comments.iter().map(|it| &text[it.range()]).collect();
    assert_eq!(comments, ["# one", "# two", "#three"]);
}

#[test]
fn many_lines_of_comments_are_no_error() {
    let text = format!("a:\n{}  - 1\n", "  # line\n".repeat(5_000));
    check(&text, &["{a: [1]}"], &[]);
}

#[test]
fn long_texts_are_not_repeated_without_end() {
    let text = format!("a: &x |\n  {}\nb: [{}]\n", "x".repeat(1_000_000), "*x, ".repeat(1_000));
    check(&text, &[], &["aliases repeat more than 1000000 values"]);
    let inner = "1, ".repeat(100_000);
    let (open, close) = ("&a [".repeat(50), "]".repeat(50));
    check(&format!("{open}{inner}{close}"), &[], &["anchors stand for more than 4000000 values"]);
}

#[test]
fn a_long_scalar_is_read() {
    for text in
        [format!("a: {}\n", "x".repeat(10_000_000)), format!("a: '{}'\n", "''".repeat(500_000))]
    {
        let parsed = parse(&text, Dialect::Protobuf);
        assert_eq!((parsed.documents.len(), parsed.errors.len()), (1, 0));
    }
}

#[test]
fn envoy_takes_the_last_of_equal_keys_and_no_tags() {
    let parsed = parse("a: 1\nb: !x 2\na: [y]\n", Dialect::Envoy);
    let mut out = String::new();
    show("a: 1\nb: !x 2\na: [y]\n", &parsed.documents[0], &mut out);
    assert_eq!(out, "{b: 2, a: [true]}");
    let liberties: Vec<&str> = parsed.liberties.iter().map(|it| &*it.message).collect();
    assert_eq!(
        liberties,
        ["Envoy ignores the tag `!x`", "`a` is set again below; Envoy takes the last"]
    );
}
