//! The tokens of an expression.

use std::ops::Range;

use super::CelError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name, or one of the keywords `in`, `true`, `false` and `null`.
    Name(String),
    /// A field name between backticks.
    Quoted(String),
    Int,
    Uint,
    Double,
    String,
    Bytes,
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// The operators and brackets. Longer ones come first.
const SIGNS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}",
];

/// Splits a text into tokens; the last one is `End`.
pub(super) fn split_tokens(text: &str) -> Result<Vec<Token>, CelError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.read_token()?;
        let ended = token.kind == TokenKind::End;
        tokens.push(token);
        if ended {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes the bytes that fit; they are ASCII.
    fn take(&mut self, fits: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().take_while(|&byte| byte.is_ascii() && fits(byte)).count();
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        loop {
            self.take(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c));
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn read_token(&mut self) -> Result<Token, CelError> {
        self.skip_space();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.bytes().next() else {
            return Ok(Token { kind: TokenKind::End, span: start..start });
        };
        let digit_follows = rest.as_bytes().get(1).is_some_and(|byte| byte.is_ascii_digit());
        let kind = if let Some((raw, bytes, length)) = read_string_prefix(rest) {
            self.at += length;
            self.read_string(start, raw, bytes)?;
            if bytes { TokenKind::Bytes } else { TokenKind::String }
        } else if first.is_ascii_digit() || first == b'.' && digit_follows {
            self.read_number(start)?
        } else if first.is_ascii_alphabetic() || first == b'_' {
            let name = self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            TokenKind::Name(name.to_owned())
        } else if first == b'`' {
            self.at += 1;
            let name = self.take(|byte| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(&byte));
            let name = name.to_owned();
            if name.is_empty() || !self.rest().starts_with('`') {
                return Err(CelError::new(start..self.at, "a name between backticks is malformed"));
            }
            self.at += 1;
            TokenKind::Quoted(name)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            TokenKind::Sign(sign)
        } else {
            let letter = rest.chars().next().unwrap_or_default();
            let span = start..start + letter.len_utf8();
            return Err(CelError::new(span, format!("unexpected character `{letter}`")));
        };
        Ok(Token { kind, span: start..self.at })
    }

    fn read_number(&mut self, start: usize) -> Result<TokenKind, CelError> {
        let wrong = |at: usize, what: &str| CelError::new(start..at, format!("invalid {what}"));
        let rest = self.rest();
        if rest.starts_with("0x") || rest.starts_with("0X") {
            self.at += 2;
            let digits = self.take(|byte| byte.is_ascii_hexdigit());
            return self.read_integer(start, u64::from_str_radix(digits, 16).ok());
        }
        let digits = self.take(|byte| byte.is_ascii_digit());
        let mut whole = true;
        let mut after = self.rest().bytes();
        if after.next() == Some(b'.') && after.next().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            self.take(|byte| byte.is_ascii_digit());
            whole = false;
        }
        if self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            if self.take(|byte| byte.is_ascii_digit()).is_empty() {
                return Err(wrong(self.at, "double"));
            }
            whole = false;
        }
        if whole { self.read_integer(start, digits.parse().ok()) } else { Ok(TokenKind::Double) }
    }

    fn read_integer(&mut self, start: usize, value: Option<u64>) -> Result<TokenKind, CelError> {
        let unsigned = !self.take(|byte| matches!(byte, b'u' | b'U')).is_empty();
        // The least integer is one further from zero than the greatest.
        let negative = self.text.get(..start).is_some_and(|it| it.trim_end().ends_with('-'));
        let most = if unsigned { u64::MAX } else { i64::MAX as u64 + u64::from(negative) };
        match value.filter(|value| *value <= most) {
            Some(_) if unsigned => Ok(TokenKind::Uint),
            Some(_) => Ok(TokenKind::Int),
            None => Err(CelError::new(start..self.at, "a number has more than 64 bits")),
        }
    }

    /// Reads a string from its opening quote.
    fn read_string(&mut self, start: usize, raw: bool, bytes: bool) -> Result<(), CelError> {
        let rest = self.rest();
        let quote = if rest.starts_with('"') { '"' } else { '\'' };
        let long = rest.bytes().take(3).filter(|&byte| byte == quote as u8).count() == 3;
        let width = if long { 3 } else { 1 };
        let closing = rest.get(..width).unwrap_or_default();
        self.at += width;
        while !self.rest().starts_with(closing) {
            let Some(letter) = self.rest().chars().next() else {
                return Err(CelError::new(start..self.at, "a string is not closed"));
            };
            if matches!(letter, '\n' | '\r') && !long {
                return Err(CelError::new(start..self.at, "a string is not closed"));
            }
            let length = if letter == '\\' && !raw { self.escape(bytes)? } else { 0 };
            self.at += length.max(letter.len_utf8());
            // A raw string keeps its backslashes, also that of its last quote.
            if letter == '\\' && raw && self.rest().is_empty() {
                return Err(CelError::new(start..self.at, "a string is not closed"));
            }
        }
        self.at += width;
        Ok(())
    }

    /// The length of the escape that begins here.
    fn escape(&self, bytes: bool) -> Result<usize, CelError> {
        let rest = self.rest().as_bytes();
        let digits = |count: usize, radix: u32| {
            let digits = rest.get(2..2 + count)?;
            let text = std::str::from_utf8(digits).ok()?;
            u32::from_str_radix(text, radix).ok().filter(|_| !text.starts_with('+'))
        };
        let length = match rest.get(1) {
            Some(
                b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'?' | b'"' | b'\'' | b'`',
            ) => Some(2),
            Some(b'x' | b'X') => digits(2, 16).map(|_| 4),
            Some(b'u') if !bytes => digits(4, 16).and_then(char::from_u32).map(|_| 6),
            Some(b'U') if !bytes => digits(8, 16).and_then(char::from_u32).map(|_| 10),
            Some(b'0'..=b'3') => {
                let octal = rest.get(2..4).unwrap_or_default();
                let all = octal.len() == 2 && octal.iter().all(|it| (b'0'..=b'7').contains(it));
                all.then_some(4)
            }
            _ => None,
        };
        length.ok_or_else(|| CelError::new(self.at..self.at + 1, "unknown escape in a string"))
    }
}

/// Returns true if a string begins here: whether it is raw, whether it is bytes, and how
/// long its prefix is.
fn read_string_prefix(text: &str) -> Option<(bool, bool, usize)> {
    let length = text.bytes().take_while(|byte| matches!(byte, b'r' | b'R' | b'b' | b'B')).count();
    let prefix = text.get(..length)?.to_ascii_lowercase();
    let (raw, bytes) = match prefix.as_str() {
        "" => (false, false),
        "r" => (true, false),
        "b" => (false, true),
        "rb" | "br" => (true, true),
        _ => return None,
    };
    text.get(length..)?.starts_with(['"', '\'']).then_some((raw, bytes, length))
}
