//! Literals mean what they mean to protoc: `Tokenizer::ParseInteger`,
//! `ParseFloat` and `ParseStringAppend` of protobuf.

use abide_syntax::{Lexer, NumberLiteral, Span, TokenKind, split_sign, unescape, unescape_all};

fn string(token: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    unescape(token.as_bytes(), &mut out)
        .map(|()| out)
        .map_err(|error| format!("{}: {}", error.span.str(token.as_bytes()), error.message))
}

#[track_caller]
fn means(token: &str, bytes: &[u8]) {
    assert_eq!(string(token).as_deref(), Ok(bytes), "{token}");
}

#[test]
fn numbers() {
    use NumberLiteral::{Float, Integer, TooLarge};
    for (token, value) in [
        ("0", Integer(0)),
        ("00", Integer(0)),
        ("017", Integer(15)),
        ("0x1F", Integer(31)),
        ("0Xff", Integer(255)),
        ("18446744073709551615", Integer(u64::MAX)),
        ("18446744073709551616", Float(18_446_744_073_709_551_616.0)),
        ("01777777777777777777777", Integer(u64::MAX)),
        ("02000000000000000000000", TooLarge),
        ("0xFFFFFFFFFFFFFFFF", Integer(u64::MAX)),
        ("0x10000000000000000", TooLarge),
        ("0x00000000000000000001", Integer(1)),
        ("1.", Float(1.0)),
        (".5", Float(0.5)),
        ("0.5", Float(0.5)),
        ("0e5", Float(0.0)),
        ("1.5e3", Float(1500.0)),
        ("1e+3", Float(1000.0)),
        ("1E-2", Float(0.01)),
        ("0.1", Float(0.1)),
        ("1e400", Float(f64::INFINITY)),
        ("4.9e-324", Float(5e-324)),
        ("1e-400", Float(0.0)),
        ("123456789012345678901234567890.", Float(1.234_567_890_123_456_8e29)),
    ] {
        assert_eq!(NumberLiteral::parse(token.as_bytes()), Some(value), "{token}");
    }
    for token in [
        "",
        "0x",
        "08",
        "08.5",
        "00.5",
        "+1",
        "0x+1",
        "0-1",
        "1_000",
        ".",
        "inf",
        "+1.",
        "e1",
        "1e",
        "1.2.3",
        "\u{661}.5",
    ] {
        assert_eq!(NumberLiteral::parse(token.as_bytes()), None, "{token}");
    }
}

#[test]
fn signs() {
    for (text, negative, digits) in [
        ("12", false, "12"),
        ("-12", true, "12"),
        ("- 0x1", true, "0x1"),
        ("-/* - */ // 9\n 12", true, "12"),
    ] {
        let text = text.as_bytes();
        let (found, span) = split_sign(text, Span::new(0, text.len() as u32));
        assert_eq!((found, span.str(text)), (negative, digits));
    }
}

#[test]
fn tokens_of_numbers() {
    use TokenKind::{BadNumber, Float, Ident, Int, NumberTouchesIdent, Symbol};
    for (text, kinds) in [
        ("0", &[Int][..]),
        ("0x1f", &[Int]),
        ("0x", &[BadNumber]),
        ("0xg", &[NumberTouchesIdent]),
        ("08", &[BadNumber]),
        ("08.5", &[BadNumber]),
        ("1.5", &[Float]),
        ("1.", &[Float]),
        (".5", &[Float]),
        (".", &[Symbol(b'.')]),
        ("1e5", &[Float]),
        ("1e", &[BadNumber]),
        ("1e+", &[BadNumber]),
        ("1.2.3", &[BadNumber]),
        ("1.2.3.4 5", &[BadNumber, Int]),
        ("0x1.5", &[BadNumber]),
        ("12a", &[NumberTouchesIdent]),
        ("1.5f", &[NumberTouchesIdent]),
        ("-1", &[Symbol(b'-'), Int]),
        ("a1", &[Ident]),
        ("a.1", &[Ident, Float]),
    ] {
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        let mut found = Vec::new();
        loop {
            match lexer.next_token().kind {
                TokenKind::End => break,
                kind => found.push(kind),
            }
        }
        assert_eq!(found, kinds, "{text}");
    }
}

#[test]
fn simple_escapes() {
    means(r#""""#, b"");
    means(r#""plain""#, b"plain");
    means(r#""\a\b\f\n\r\t\v""#, b"\x07\x08\x0c\n\r\t\x0b");
    means(r#""\\\?\'\"""#, b"\\?'\"");
    means(r#"'"'"#, b"\"");
    means("\"\u{e9}\"", "\u{e9}".as_bytes());
}

#[test]
fn octal_and_hexadecimal_escapes() {
    means(r#""\0""#, b"\0");
    means(r#""\18""#, b"\x018");
    means(r#""\1011""#, b"A1");
    means(r#""\377""#, b"\xff");
    means(r#""\400""#, b"\0");
    means(r#""\x41\X42""#, b"AB");
    means(r#""\x414""#, b"A4");
    means(r#""\x4""#, b"\x04");
    means(r#""\x4g""#, b"\x04g");
    assert_eq!(string(r#""a\xg""#), Err("\\x: `\\x` needs a hexadecimal digit".into()));
}

#[test]
fn unicode_escapes() {
    means(r#""\u00e9""#, "\u{e9}".as_bytes());
    means(r#""\u00e9f""#, "\u{e9}f".as_bytes());
    means(r#""\U0001F600""#, "\u{1f600}".as_bytes());
    means(r#""\uD83D\uDE00""#, "\u{1f600}".as_bytes());
    means(r#""\uD83D""#, b"\xed\xa0\xbd");
    means(r#""\uD83Dx""#, b"\xed\xa0\xbdx");
    assert_eq!(string(r#""\u12""#), Err(r"\u12: `\u` needs 4 digits".into()));
    assert_eq!(string(r#""\U0001F60""#), Err(r"\U0001F60: `\U` needs 8 digits".into()));
    means(r#""\U00110000""#, br"\U00110000");
    let above = r"\U00200000: the code point is above 1FFFFF";
    assert_eq!(string(r#""\U00200000""#), Err(above.into()));
}

#[test]
fn unknown_escapes() {
    let text = "unknown escape; write `\\\\` for a backslash";
    let unknown = |escape: &str| Err(format!("{escape}: {text}"));
    assert_eq!(string(r#""a\qb""#), unknown(r"\q"));
    assert_eq!(string(r#""\8""#), unknown(r"\8"));
}

#[test]
fn adjacent_strings_are_joined() {
    let text = br#"  "a" /* "x" */ 'b'  // "y"
        "\x63" "d""#;
    assert_eq!(unescape_all(text, Span::new(0, text.len() as u32)).as_deref(), Ok(&b"abcd"[..]));
    assert_eq!(unescape_all(text, Span::new(2, 19)).as_deref(), Ok(&b"ab"[..]));
    let text = br#""a" "b\q""#;
    let error = unescape_all(text, Span::new(0, text.len() as u32)).expect_err("`\\q` is none");
    assert_eq!(error.span.of(text), br"\q");
}
