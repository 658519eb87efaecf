use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

use super::{CelType, check_type};

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
    match check_type(tree, text, &[("this", this)]) {
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

struct NoFunctions;

impl super::Library for NoFunctions {
    fn call<'v>(&self, _: &Tree, _: &str, _: &[super::CelValue<'v>]) -> Option<super::Outcome<'v>> {
        None
    }
}

/// Returns true if an expression about a `t.M` is true, or why that cannot be said.
#[track_caller]
fn value_of(text: &str, value: &str) -> Result<bool, String> {
    let tree = tree();
    let message = tree.message_named("t.M").expect("it is declared");
    let codec = abide_schema::value::Codec::new(&tree);
    let refuse = abide_schema::value::UndeclaredPolicy::Refuse;
    let read = codec.read_text(message.id, value.as_bytes(), refuse).into_result();
    let held = read.expect("the value is well-formed");
    let program = super::Program::compile(&tree, text, &[("this", CelType::of_message(message))]);
    let program = program.unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let this = super::CelValue::of_message(&tree, &held);
    match program.run(&tree, &NoFunctions, &[("this", this)])? {
        super::CelValue::Bool(value) => Ok(value),
        other => panic!("{text} gives {other:?}"),
    }
}

#[test]
fn expressions_are_evaluated() {
    let value = "s: 'bär' m { s: 'x' } n: [3, 1, 2]";
    for text in [
        "true && !false && !!true",
        "1 + 2 * 3 == 7 && -(-2) == 2 && --3 == 3 && 7 % 4 == 3 && -7 / 2 == -3",
        "-9223372036854775808 < 0 && 0xff == 255 && 3u - 1u == 2u && 1.5 + 1.0 == 2.5",
        "1 < 2u && 2u > 1.5 && 9007199254740993 > 9007199254740992.0",
        r"this.s == 'b\u00e4r' && this.s.size() == 3 && size(b'\xff\x00') == 2",
        r#"r'\n' == '\\n' && '''a'b''' == "a'b" && '\101' == 'A' && '\x41' == 'A'"#,
        "this.m.s == 'x' && this.m.m.m.s == '' && !has(this.m.m) && has(this.m.s) && has(this.n)",
        "this.n.all(x, x > 0) && this.n.exists(x, x == 2) && this.n.exists_one(x, x < 2)",
        "this.n.filter(x, x > 1) == [3, 2] && this.n.map(x, x > 1, x * 2) == [6, 4]",
        "this.n[0] == 3 && 2 in this.n && !(5 in this.n) && this.n.size() == 3",
        "{'a': 1, 'b': 2}.all(k, k in ['a', 'b']) && {'a': 1}['a'] == 1 && has({'a': 1}.a)",
        "(false && 1 / 0 == 1) ? false : true || 1 / 0 == 1",
        "this.s.startsWith('b') && this.s.endsWith('r') && 'abcb'.replace('b', 'x', 1) == 'axcb'",
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'ab'.charAt(1) == 'b'",
        "'hello'.substring(1, 3) == 'el' && 'hello'.lastIndexOf('l') == 3 && ' a '.trim() == 'a'",
        "int('12') == 12 && string(1u) == '1' && double('0.5') == 0.5 && uint(3) == 3u",
        "duration('1h30m') > duration('89m') && string(duration('1.5s')) == '1.5s'",
        "timestamp('2024-02-29T12:30:15.5Z') + duration('24h') > timestamp('2024-03-01T00:00:00Z')",
        "timestamp('2024-02-29T12:30:15Z').getMonth() == 1",
        "timestamp('2024-02-29T23:30:15Z').getDate('+01:00') == 1",
        "timestamp('2024-02-29T12:30:15Z').getDayOfWeek() == 4",
        "t.F.B == 0 && t.M.E.A == 0 && type(1) == int && type(this) == t.M",
        "t.M{s: 'x'} == this.m && t.M{n: [1]}.n[0] == 1",
    ] {
        assert_eq!(value_of(text, value), Ok(true), "{text}");
    }
}

#[test]
fn an_expression_that_gives_nothing_says_why() {
    for (text, why) in [
        ("1 / this.n[0] == 0", "a division by zero"),
        ("this.n[1] == 0", "an index is out of range"),
        ("9223372036854775807 + this.n[0] + 1 == 0", "a number is out of range"),
        ("now > timestamp('2024-01-01T00:00:00Z')", "it depends on the time"),
        ("int(this.s) == 1", "a number is out of range"),
        (
            "timestamp(0).getHours('Europe/Berlin') == 1",
            "`getHours` is not evaluated for these values",
        ),
    ] {
        assert_eq!(value_of(text, "n: 0"), Err(why.to_owned()), "{text}");
    }
    let many = vec!["0"; 200].join(",");
    let text = "this.n.all(a, this.n.all(b, this.n.all(c, a + b + c == 0)))";
    let found = value_of(text, &format!("n: [{many}]"));
    assert_eq!(found, Err("it takes too long to evaluate".to_owned()));
}
