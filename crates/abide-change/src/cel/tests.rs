use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

use super::{CelType, type_of};

const PROTO: &str = "syntax = \"proto3\"; package t; message M { string s = 1; M m = 2; \
                     repeated int32 n = 3; enum E { A = 0; } } enum F { B = 0; }";

fn tree() -> Tree {
    let (path, display) = ("t.proto".into(), "t.proto".into());
    let text = PROTO.as_bytes().into();
    let file = SourceFile { path, display, root: 0, imported: false, text };
    Tree::link(vec![Arc::new(FileDecl::parse(file))])
}

/// The type of an expression about a `t.M`, or what is wrong with which part of it.
fn judged(tree: &Tree, text: &str) -> Result<String, String> {
    let message = tree.files().flat_map(abide_schema::File::messages).next();
    let this = CelType::of_message(message.expect("it is declared"));
    match type_of(tree, text, &[("this", this)]) {
        Ok(found) => Ok(found.to_string()),
        Err(error) => {
            let part = text.get(error.span.clone()).expect("the span is inside of the text");
            Err(format!("{part}: {}", error.message))
        }
    }
}

#[test]
fn expressions_have_types() {
    let tree = tree();
    for (text, expected) in [
        ("this", "t.M"),
        ("this.m.s", "string"),
        ("this.n.map(x, x > 0)", "list(bool)"),
        ("this.n.filter(x, x > 0)", "list(int)"),
        ("{'a': 1u}", "map(string, uint)"),
        ("[1, 'a']", "list(dyn)"),
        ("[]", "list(dyn)"),
        ("true ? this : null", "t.M"),
        ("now - timestamp(0)", "duration"),
        ("t.M.E.A", "int"),
        ("t.F.B", "int"),
        ("t.M{s: 'a', n: [1]}", "t.M"),
        ("type(1)", "type"),
        ("dyn(1).x.y", "dyn"),
        ("'a'.split('b')", "list(string)"),
    ] {
        assert_eq!(judged(&tree, text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn errors_have_places() {
    let tree = tree();
    for (text, expected) in [
        ("this.x == 1", "x: `t.M` has no field `x`"),
        ("1 + this.n.all(x, x == 'a')", "x == 'a': `==` does not take `int` and `string`"),
        ("y", "y: `y` is not declared"),
        ("this.s.foo(1)", ".foo(1): there is no function `foo`"),
        ("this.s.size(1)", "this.s.size(1): `string` has no function `size(int)`"),
        ("(1 + ", ": it ends where an expression is expected"),
        ("'a", "'a: a string is not closed"),
        ("t.M{x: 1}", "x: `t.M` has no field `x`"),
        ("has(this)", "this: `has` takes a field of something, such as `this.name`"),
        ("true && 1", "1: expected `bool`, not `int`"),
    ] {
        assert_eq!(judged(&tree, text), Err(expected.to_owned()), "{text}");
    }
}

/// Random pieces of expressions: no input panics, and every error has a place.
#[test]
fn no_expression_breaks_the_checker() {
    const PIECES: &[&str] = &[
        "this",
        ".s",
        ".m",
        ".n",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "?",
        "!",
        "-",
        "&&",
        "||",
        "==",
        "in",
        "1",
        "2u",
        ".5",
        "'a'",
        "b'\\x00'",
        "r\"\\\"",
        "'''",
        "\\",
        "has(",
        ".all(x, ",
        ".map(",
        "x",
        " ",
        "//",
        "\n",
        "é",
        "`a`",
        "t.M{",
        "null",
        "true",
        "\u{1d11e}",
        "0x",
        "1e",
    ];
    let tree = tree();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let count = random.usize(..13);
        let text: String =
            (0..count).filter_map(|_| random.choice(PIECES.iter().copied())).collect();
        let _ = judged(&tree, &text);
    }
}
