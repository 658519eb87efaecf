//! JSON text to a tree of its values, with places. Source: RFC 8259.

use std::borrow::Cow;

use abide_syntax::Span;

use super::mapping::JsonMapping;
use crate::dynamic::MAX_NESTING;
use crate::value::reading::{ReadError, ReadErrorKind};

/// A value of JSON, or of a notation with the same values, and where it stands.
#[derive(Clone, Debug)]
pub struct JsonNode<'t> {
    /// Its place.
    pub span: Span,
    /// Its kind.
    pub kind: JsonKind<'t>,
}

/// The kind of a value of JSON.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is named as in JSON")]
pub enum JsonKind<'t> {
    Null,
    Bool(bool),
    /// As it is written in JSON.
    Number(Cow<'t, str>),
    String(Cow<'t, str>),
    Array(Vec<JsonNode<'t>>),
    Object(Vec<JsonMember<'t>>),
}

/// A key of an object with its value.
#[derive(Clone, Debug)]
pub struct JsonMember<'t> {
    /// The key, without quotes and escapes.
    pub key: Cow<'t, str>,
    /// The place of the key, quotes included.
    pub key_span: Span,
    /// Its value.
    pub value: JsonNode<'t>,
}

/// Objects and arrays may nest this deep: each message may be in a list.
const MAX_LEVELS: u32 = 2 * MAX_NESTING + 1;

/// Reads a text that is one JSON value, and all that is malformed in it:
/// a malformed member or element is left out, and reading goes on behind it.
/// What only the lenient mapping takes is among the errors as a
/// [`Leniency`](ReadErrorKind::Leniency).
pub fn parse(text: &[u8], mapping: JsonMapping) -> (Option<JsonNode<'_>>, Vec<ReadError>) {
    let fail = |offset: usize, message: &str| {
        let place = Span::at(offset as u32);
        (None, vec![ReadError::new(ReadErrorKind::Syntax, place, message)])
    };
    if text.len() > u32::MAX as usize {
        return fail(0, "texts over four gigabytes are not supported");
    }
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => return fail(error.valid_up_to(), "the text is not valid UTF-8"),
    };
    let mut parser = JsonParser { text, at: 0, mapping, errors: Vec::new() };
    parser.skip_space();
    let node = match parser.parse_value(0) {
        Ok(node) => Some(node),
        Err(error) => {
            parser.report(error);
            None
        }
    };
    parser.skip_space();
    let is_liberty = |error: &ReadError| error.kind == ReadErrorKind::Leniency;
    if parser.errors.iter().all(is_liberty) && parser.peek_byte().is_some() {
        let error = parser.make_error("unexpected text after the value");
        parser.report(error);
    }
    (node, parser.errors)
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
    mapping: JsonMapping,
    errors: Vec<ReadError>,
}

impl<'t> JsonParser<'t> {
    fn make_error(&self, message: impl Into<String>) -> ReadError {
        ReadError::new(ReadErrorKind::Syntax, Span::at(self.at as u32), message)
    }

    /// Records an error; one is enough for each place.
    fn report(&mut self, error: ReadError) {
        if self.errors.last().is_none_or(|last| last.span != error.span) {
            self.errors.push(error);
        }
    }

    /// Takes what only the lenient mapping takes, at the current byte.
    fn allow_leniency(&mut self, message: &str) -> bool {
        let lenient = self.mapping == JsonMapping::Lenient;
        if lenient {
            let span = Span::new(self.at as u32, self.at as u32 + 1);
            self.errors.push(ReadError::new(ReadErrorKind::Leniency, span, message));
        }
        lenient
    }

    fn max_levels(&self) -> u32 {
        match self.mapping {
            JsonMapping::Strict => MAX_LEVELS,
            // As the C++ runtime counts.
            JsonMapping::Lenient => MAX_NESTING,
        }
    }

    /// Passes what is left of a malformed member or element: up to the comma
    /// behind it, or to the end of what it stands in.
    fn skip_element(&mut self) {
        let mut open = 0_u32;
        while let Some(byte) = self.peek_byte() {
            match byte {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' if open == 0 => return,
                b'}' | b']' => open -= 1,
                b',' if open == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Passes a string, perhaps a malformed one: it ends with its line.
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek_byte() {
            match byte {
                b'\n' => return,
                b'\\' => self.at = (self.at + 2).min(self.text.len()),
                _ => self.at += 1,
            }
            if byte == b'"' {
                return;
            }
        }
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek_byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek_byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The text from `start` to the current byte.
    fn text_since(&self, start: usize) -> &'t str {
        // Both ends are next to an ASCII byte, so they do not split a character.
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn parse_value(&mut self, depth: u32) -> Result<JsonNode<'t>, ReadError> {
        let start = self.at;
        let kind = match self.peek_byte() {
            Some(b'{' | b'[') if depth >= self.max_levels() => {
                let levels = self.max_levels();
                return Err(self.make_error(format!("the text nests deeper than {levels} levels")));
            }
            Some(b'{') => JsonKind::Object(self.parse_object(depth)),
            Some(b'[') => JsonKind::Array(self.parse_array(depth)),
            Some(b'"') => JsonKind::String(self.parse_string(b'"')?),
            Some(b'\'') if self.allow_leniency("a text is in single quotes") => {
                JsonKind::String(self.parse_string(b'\'')?)
            }
            Some(b'-' | b'0'..=b'9') => JsonKind::Number(Cow::Borrowed(self.parse_number()?)),
            _ => self.parse_word()?,
        };
        Ok(JsonNode { span: Span::new(start as u32, self.at as u32), kind })
    }

    fn parse_word(&mut self) -> Result<JsonKind<'t>, ReadError> {
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
        Err(self.make_error("expected a JSON value"))
    }

    fn parse_object(&mut self, depth: u32) -> Vec<JsonMember<'t>> {
        self.parse_list(b'}', "expected `,` or `}`", |it| it.parse_member(depth))
    }

    fn parse_array(&mut self, depth: u32) -> Vec<JsonNode<'t>> {
        self.parse_list(b']', "expected `,` or `]`", |it| it.parse_value(depth + 1))
    }

    fn parse_member(&mut self, depth: u32) -> Result<JsonMember<'t>, ReadError> {
        let start = self.at;
        let key = self.parse_key()?;
        let key_span = Span::new(start as u32, self.at as u32);
        self.skip_space();
        if !self.eat(b':') {
            return Err(self.make_error("expected `:` after the key"));
        }
        self.skip_space();
        let value = self.parse_value(depth + 1)?;
        Ok(JsonMember { key, key_span, value })
    }

    fn parse_key(&mut self) -> Result<Cow<'t, str>, ReadError> {
        match self.peek_byte() {
            Some(b'"') => self.parse_string(b'"'),
            Some(b'\'') if self.allow_leniency("a key is in single quotes") => {
                self.parse_string(b'\'')
            }
            Some(byte)
                if is_word(byte)
                    && !byte.is_ascii_digit()
                    && self.allow_leniency("a key has no quotes") =>
            {
                let start = self.at;
                while self.peek_byte().is_some_and(is_word) {
                    self.at += 1;
                }
                Ok(Cow::Borrowed(self.text_since(start)))
            }
            _ => Err(self.make_error("expected a key in quotes")),
        }
    }

    /// Parses the items between commas up to the closing bracket.
    fn parse_list<T>(
        &mut self,
        closing: u8,
        expected: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.eat(closing) {
            return items;
        }
        loop {
            self.skip_space();
            let is_behind_comma = !items.is_empty() && self.peek_byte() == Some(closing);
            if is_behind_comma && self.allow_leniency("nothing follows the comma") {
                self.at += 1;
                return items;
            }
            match item(self) {
                Ok(item) => {
                    items.push(item);
                    self.skip_space();
                }
                Err(error) => {
                    self.report(error);
                    self.skip_element();
                }
            }
            if self.eat(closing) {
                return items;
            }
            if self.eat(b',') {
                continue;
            }
            let error = self.make_error(expected);
            self.report(error);
            self.skip_element();
            // Where another bracket closes, it closes what is around as well.
            if self.eat(closing) || !self.eat(b',') {
                return items;
            }
        }
    }

    fn parse_number(&mut self) -> Result<&'t str, ReadError> {
        let start = self.at;
        while matches!(
            self.peek_byte(),
            Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
        ) {
            self.at += 1;
        }
        let number = self.text_since(start);
        if is_number(number) {
            return Ok(number);
        }
        self.at = start;
        Err(self.make_error("the number is malformed"))
    }

    fn parse_string(&mut self, quote: u8) -> Result<Cow<'t, str>, ReadError> {
        self.at += 1;
        let mut start = self.at;
        let mut text: Option<String> = None;
        loop {
            match self.peek_byte() {
                Some(byte) if byte == quote => {
                    let rest = self.text_since(start);
                    self.at += 1;
                    return Ok(match text {
                        Some(text) => Cow::Owned(text + rest),
                        None => Cow::Borrowed(rest),
                    });
                }
                Some(b'\\') => {
                    let part = self.text_since(start);
                    let text = text.get_or_insert_default();
                    text.push_str(part);
                    text.push(self.escape()?);
                    start = self.at;
                }
                Some(0..0x20)
                    if self.allow_leniency("a control character in a text is not escaped") =>
                {
                    self.at += 1
                }
                Some(0..0x20) => {
                    return Err(self.make_error("a control character in a string must be escaped"));
                }
                Some(_) => self.at += 1,
                None => return Err(self.make_error("the string is not closed")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let start = self.at;
        self.at += 2;
        let character = match self.text.as_bytes().get(start + 1) {
            Some(b'u') => self.parse_unicode(),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(&byte @ (b'"' | b'\\' | b'/')) => Some(byte.into()),
            Some(b'\'') if self.mapping == JsonMapping::Lenient => Some('\''),
            _ => None,
        };
        character.ok_or_else(|| {
            self.at = start;
            self.make_error("the escape is not a character")
        })
    }

    /// Reads the digits after `\u`. A character outside the basic plane is
    /// written as a pair of surrogates.
    fn parse_unicode(&mut self) -> Option<char> {
        let high = self.parse_hex()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        if !(self.eat(b'\\') && self.eat(b'u')) {
            return None;
        }
        let low = self.parse_hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
    }

    fn parse_hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Returns true if a byte can be in a key without quotes.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a text is a JSON number.
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
