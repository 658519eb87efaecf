//! JSON text to a tree of its values, with places. Source: RFC 8259.

use std::borrow::Cow;

use abide_syntax::Span;

use crate::dynamic::MAX_NESTING;
use crate::value::error::DecodeError;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct JsonNode<'t> {
    pub(super) span: Span,
    pub(super) kind: JsonKind<'t>,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum JsonKind<'t> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'t str),
    String(Cow<'t, str>),
    Array(Vec<JsonNode<'t>>),
    Object(Vec<JsonMember<'t>>),
}

/// A key of an object with its value.
#[derive(Debug)]
pub(super) struct JsonMember<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) key_span: Span,
    pub(super) value: JsonNode<'t>,
}

/// Objects and arrays may nest this deep: each message may stand in a list.
const MAX_LEVELS: u32 = 2 * MAX_NESTING + 1;

/// Reads a text that is one JSON value.
pub(crate) fn parse(text: &[u8]) -> Result<JsonNode<'_>, DecodeError> {
    let fail = |offset: usize, message: &str| DecodeError { offset, message: message.to_owned() };
    if text.len() > u32::MAX as usize {
        return Err(fail(0, "texts of more than four gigabytes are not read"));
    }
    let text = std::str::from_utf8(text)
        .map_err(|error| fail(error.valid_up_to(), "the text is not valid UTF-8"))?;
    let mut parser = Parser { text, at: 0 };
    parser.space();
    let node = parser.value(0)?;
    parser.space();
    match parser.byte() {
        None => Ok(node),
        Some(_) => Err(parser.error("nothing may follow the value")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn error(&self, message: impl Into<String>) -> DecodeError {
        DecodeError { offset: self.at, message: message.into() }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// What was read from `start` on.
    fn since(&self, start: usize) -> &'t str {
        // Both ends stand beside an ASCII byte, which no character contains.
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn value(&mut self, depth: u32) -> Result<JsonNode<'t>, DecodeError> {
        let start = self.at;
        let kind = match self.byte() {
            Some(b'{' | b'[') if depth >= MAX_LEVELS => {
                return Err(self.error(format!("the text nests deeper than {MAX_LEVELS} levels")));
            }
            Some(b'{') => JsonKind::Object(self.object(depth)?),
            Some(b'[') => JsonKind::Array(self.array(depth)?),
            Some(b'"') => JsonKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => JsonKind::Number(self.number()?),
            _ => self.word()?,
        };
        Ok(JsonNode { span: Span::new(start as u32, self.at as u32), kind })
    }

    fn word(&mut self) -> Result<JsonKind<'t>, DecodeError> {
        let words = [
            ("null", JsonKind::Null),
            ("true", JsonKind::Bool(true)),
            ("false", JsonKind::Bool(false)),
        ];
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        for (word, kind) in words {
            if rest[..length] == *word.as_bytes() {
                self.at += length;
                return Ok(kind);
            }
        }
        Err(self.error("expected a JSON value"))
    }

    fn object(&mut self, depth: u32) -> Result<Vec<JsonMember<'t>>, DecodeError> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b'}') {
            return Ok(members);
        }
        loop {
            self.space();
            if self.byte() != Some(b'"') {
                return Err(self.error("expected a key in quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = Span::new(start as u32, self.at as u32);
            self.space();
            if !self.eat(b':') {
                return Err(self.error("expected `:` behind the key"));
            }
            self.space();
            let value = self.value(depth + 1)?;
            members.push(JsonMember { key, key_span, value });
            self.space();
            if self.eat(b'}') {
                return Ok(members);
            }
            if !self.eat(b',') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<Vec<JsonNode<'t>>, DecodeError> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b']') {
            return Ok(elements);
        }
        loop {
            self.space();
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.eat(b']') {
                return Ok(elements);
            }
            if !self.eat(b',') {
                return Err(self.error("expected `,` or `]`"));
            }
        }
    }

    fn number(&mut self) -> Result<&'t str, DecodeError> {
        let start = self.at;
        while matches!(
            self.byte(),
            Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
        ) {
            self.at += 1;
        }
        let number = self.since(start);
        if is_number(number) {
            return Ok(number);
        }
        self.at = start;
        Err(self.error("the number is malformed"))
    }

    fn string(&mut self) -> Result<Cow<'t, str>, DecodeError> {
        self.at += 1;
        let mut start = self.at;
        let mut text: Option<String> = None;
        loop {
            match self.byte() {
                Some(b'"') => {
                    let rest = self.since(start);
                    self.at += 1;
                    return Ok(match text {
                        Some(text) => Cow::Owned(text + rest),
                        None => Cow::Borrowed(rest),
                    });
                }
                Some(b'\\') => {
                    let part = self.since(start);
                    let text = text.get_or_insert_default();
                    text.push_str(part);
                    text.push(self.escape()?);
                    start = self.at;
                }
                Some(0..0x20) => {
                    return Err(self.error("a control character in a string must be escaped"));
                }
                Some(_) => self.at += 1,
                None => return Err(self.error("the string does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, DecodeError> {
        let start = self.at;
        self.at += 2;
        let character = match self.text.as_bytes().get(start + 1) {
            Some(b'u') => self.unicode(),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(&byte @ (b'"' | b'\\' | b'/')) => Some(byte.into()),
            _ => None,
        };
        character.ok_or_else(|| {
            self.at = start;
            self.error("the escape is no character")
        })
    }

    /// What `\u` means, which is passed; a character beyond the basic plane is
    /// written as a pair of surrogates.
    fn unicode(&mut self) -> Option<char> {
        let high = self.hex()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        if !(self.eat(b'\\') && self.eat(b'u')) {
            return None;
        }
        let low = self.hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Whether a text is a number of JSON.
pub(super) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|it| digits(it.strip_prefix(['+', '-']).unwrap_or(it)))
}

/// Appends a string in quotes.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
