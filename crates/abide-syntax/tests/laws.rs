//! What holds for every text, over texts from a deterministic generator.

#![allow(clippy::disallowed_methods, reason = "the test reads its fixtures")]

mod sound;

use std::path::Path;

use abide_syntax::{DeclKind, Lexer, TokenKind, parse};

/// Files that protoc accepts, of some kilobytes in all.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|it| it == "proto"))
        .map(|path| {
            let text = std::fs::read(&path).expect("the file is readable");
            (path.display().to_string(), text)
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixture");
    files
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The tokens of a text, with their gaps in front.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let mut lexer = Lexer::new(text, 0);
    let mut last = 0;
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token();
        tokens.push(&text[last..token.span.end as usize]);
        last = token.span.end as usize;
        if token.kind == TokenKind::End {
            return tokens;
        }
    }
}

#[test]
fn the_tokens_are_the_text() {
    for (name, text) in fixtures() {
        assert_eq!(tokens(&text).concat(), text, "{name}");
    }
}

#[test]
fn a_truncated_file_is_an_error_or_a_valid_prefix() {
    for (name, text) in fixtures() {
        // A prefix that ends outside of every declaration is a file; others
        // are not.
        let (whole, errors) = parse(&text);
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let step = 1 + text.len() / 1500;
        for end in (0..text.len()).step_by(step) {
            let (ast, errors) = sound::check(&text[..end]);
            let within = whole.decls.iter().any(|decl| {
                let span = decl.span;
                (span.start as usize) < end && end < span.end as usize
            });
            // What is cut outside of declarations is a comment, or the mark.
            let cut = |at: u32| text[at as usize] == b'/' || end < 3;
            assert!(
                within || errors.iter().all(|error| cut(error.span.start)),
                "{name}: {end} bytes have {errors:?}"
            );
            assert!(!within || !errors.is_empty(), "{name}: {end} bytes have no error");
            if errors.is_empty() {
                assert!(!ast.decls.iter().any(|it| matches!(it.kind, DeclKind::Error)));
            }
        }
    }
}

#[test]
fn changed_tokens_do_not_break_the_tree() {
    let mut random = Random(0x5eed);
    for (_, text) in fixtures() {
        let original = tokens(&text);
        for _ in 0..60 {
            let mut tokens = original.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(tokens.len());
                match random.below(4) {
                    0 => drop(tokens.remove(at)),
                    1 => tokens.insert(at, tokens[at]),
                    2 => {
                        let other = random.below(tokens.len());
                        tokens.swap(at, other);
                    }
                    _ => {
                        let symbols: [&[u8]; 10] =
                            [b"{", b"}", b"[", b"]", b"(", b"<", b";", b"\"", b"/*", b"\xff"];
                        tokens.insert(at, symbols[random.below(symbols.len())]);
                    }
                }
                if tokens.is_empty() {
                    break;
                }
            }
            let (ast, errors) = sound::check(&tokens.concat());
            let broken = ast.decls.iter().any(|it| matches!(it.kind, DeclKind::Error));
            assert!(!broken || !errors.is_empty(), "a broken declaration without an error");
        }
    }
}

/// Texts that are hard on a parser: `unit` many times, perhaps behind and
/// before something.
fn hard(times: usize) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for unit in [
        "{",
        "}",
        "[",
        "]",
        "(",
        "<",
        "\"",
        "'",
        "/*",
        "//",
        "\"\n",
        "08 ",
        "1.",
        ".",
        "-",
        ";",
        "\u{a7} ",
        "message a {",
        "message a\n",
        "option a = {",
        "message a { x {",
        "a ",
        "a.",
        "export ",
        "local message ",
        "map ",
        "map<",
        "group ",
        "\n",
        "/**/",
        "//\n",
        "= ",
        "\"\" ",
        "extend a { optional group B = 1 {",
        "oneof a {",
        "rpc a(",
        "service a { rpc a(a",
    ] {
        texts.push(unit.repeat(times).into_bytes());
    }
    for (before, unit) in [
        ("option a = {", "a {"),
        ("option a = {", "a: <"),
        ("option a = {", "a: ["),
        ("option a = {", "[a/"),
        ("option a = {", "a: 1 "),
        ("option a = {a: [", "{},"),
        ("option (a", ".a"),
        ("option a = ", "\"\" "),
        ("option a = \"", "\\\\"),
        ("message a { reserved 1", ",1"),
        ("message a { a a = 1 [", "a = 1,"),
        ("message a { a a = 1 [", "a = {"),
        ("message a { oneof a { ", "group A = 1 { oneof a { "),
        ("message a {", "a a = 1;"),
        ("enum a {", "a = 1;"),
        ("package a", ".a"),
    ] {
        texts.push([before, &unit.repeat(times)].concat().into_bytes());
    }
    texts
}

#[test]
fn hard_texts_are_parsed() {
    for text in hard(20_000) {
        sound::check(&text);
    }
    for unit in ["{", "\"", "/*", "message a {", "a"] {
        let text = unit.repeat(1_000_000 / unit.len());
        parse(text.as_bytes());
    }
}

/// A tree holds no more nodes than its text has bytes, and the errors have a
/// bound, however broken the text.
#[test]
fn the_size_of_a_tree_is_bounded_by_its_text() {
    for text in hard(5_000) {
        let (ast, errors) = parse(&text);
        let nodes = ast.decls.len() + ast.options.len() + ast.name_parts.len() + ast.ranges.len();
        assert!(nodes <= text.len() && ast.values.len() <= text.len());
        assert!(errors.len() <= abide_syntax::MAX_ERRORS);
        assert!(errors.iter().all(|error| error.message.len() < 300), "{errors:?}");
    }
}

#[test]
fn a_hundred_thousand_statements() {
    let mut text = String::from("message A {\n");
    for number in 1..=100_000 {
        text += &format!("  string field_{number} = {number}; // comment\n");
    }
    text += "}\n";
    let (ast, errors) = parse(text.as_bytes());
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(ast.children_of(Some(0)).count(), 100_000);
}
