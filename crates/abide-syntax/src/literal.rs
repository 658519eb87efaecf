//! The meaning of literals, as protoc's tokenizer reads them.

use std::num::IntErrorKind;

use crate::lexer::{Lexer, TokenKind};
use crate::span::Span;

/// The reason why a literal has no value, and the bytes to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralError {
    /// One lower-case phrase.
    pub message: String,
    /// The bytes of the literal that are wrong, counted from its beginning.
    pub span: Span,
}

fn error(message: &str, start: usize, end: usize) -> LiteralError {
    LiteralError { message: message.to_owned(), span: Span::new(start as u32, end as u32) }
}

/// The value of a number token, without its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberLiteral {
    /// An integer of at most 64 bits.
    Integer(u64),
    /// A number with a point or an exponent, or a decimal integer of more than
    /// 64 bits; infinite where it is too large for a double.
    Float(f64),
    /// A hexadecimal or octal integer of more than 64 bits, which is no value of
    /// any type.
    TooLarge,
}

impl NumberLiteral {
    /// Reads a token; `None` if it is malformed, such as `0x`, `08` or `1e`.
    pub fn parse(token: &[u8]) -> Option<NumberLiteral> {
        // Rust's own numbers may have a sign, and be `inf` or `nan`.
        token.first().filter(|&&byte| byte == b'.' || byte.is_ascii_digit())?;
        let text = std::str::from_utf8(token).ok()?;
        let radix = |digits: &str, radix: u32| match u64::from_str_radix(digits, radix) {
            _ if digits.starts_with('+') => None,
            Ok(value) => Some(NumberLiteral::Integer(value)),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                Some(NumberLiteral::TooLarge)
            }
            Err(_) => None,
        };
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return radix(digits, 16);
        }
        if text.starts_with('0') && text.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            return radix(text, 8);
        }
        match text.parse() {
            Ok(value) => Some(NumberLiteral::Integer(value)),
            Err(_) => text.parse().ok().map(NumberLiteral::Float),
        }
    }

    /// The value, if it is an integer of at most 64 bits.
    pub fn to_integer(self) -> Option<u64> {
        match self {
            NumberLiteral::Integer(value) => Some(value),
            NumberLiteral::Float(_) | NumberLiteral::TooLarge => None,
        }
    }

    /// The nearest double, if the token is a value of any type.
    pub fn to_double(self) -> Option<f64> {
        match self {
            NumberLiteral::Integer(value) => Some(value as f64),
            NumberLiteral::Float(value) => Some(value),
            NumberLiteral::TooLarge => None,
        }
    }
}

/// Splits the number of a declaration, such as that of an enum value, into its
/// sign (`true` for `-`) and its digits. White space and comments may stand
/// between them.
pub fn split_sign(text: &[u8], span: Span) -> (bool, Span) {
    if text.get(span.start as usize) != Some(&b'-') {
        return (false, span);
    }
    (true, Lexer::new(text, span.start + 1).next_token().span)
}

/// The bytes that a quoted string stands for.
///
/// Escapes are those of protoc: `\a \b \f \n \r \t \v \\ \? \' \"`, up to three
/// octal digits, `\x` with one or two hexadecimal digits, `\u` with four and
/// `\U` with eight. Octal escapes above 255 keep their low byte.
///
/// # Errors
/// An escape that is none of these, or a code point above 1FFFFF. protoc's
/// tokenizer reports the same.
pub fn unescape(token: &[u8], out: &mut Vec<u8>) -> Result<(), LiteralError> {
    let end = token.len().saturating_sub(1).max(1);
    let mut at = 1;
    while at < end {
        // Few strings have escapes.
        let plain = memchr::memchr(b'\\', &token[at..end]).unwrap_or(end - at);
        out.extend_from_slice(&token[at..at + plain]);
        at += plain;
        if at == end {
            break;
        }
        let start = at;
        let escape = token.get(at + 1).copied().unwrap_or(0);
        at += 2;
        match escape {
            b'a' => out.push(0x07),
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(0x0b),
            b'\\' | b'?' | b'\'' | b'"' => out.push(escape),
            b'0'..=b'7' => {
                let mut value = u32::from(escape - b'0');
                for _ in 0..2 {
                    match token.get(at) {
                        Some(&digit @ b'0'..=b'7') if at < end => {
                            value = value * 8 + u32::from(digit - b'0');
                            at += 1;
                        }
                        _ => break,
                    }
                }
                out.push(value as u8);
            }
            b'x' | b'X' => {
                let (value, digits) = parse_hex(&token[at..end], 2);
                if digits == 0 {
                    return Err(error("`\\x` needs a hexadecimal digit", start, at));
                }
                at += digits;
                out.push(value as u8);
            }
            b'u' | b'U' => {
                let length = if escape == b'u' { 4 } else { 8 };
                let (mut value, digits) = parse_hex(&token[at..end], length);
                if digits < length {
                    let message = format!("`\\{}` needs {length} digits", escape as char);
                    return Err(error(&message, start, at + digits));
                }
                at += digits;
                // A high and a low surrogate in a row are one character.
                if (0xd800..0xdc00).contains(&value) && token[at..end].starts_with(b"\\u") {
                    let (low, digits) = parse_hex(&token[at + 2..end], 4);
                    if digits == 4 && (0xdc00..0xe000).contains(&low) {
                        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
                        at += 6;
                    }
                }
                push_code_point(value, out)
                    .ok_or_else(|| error("the code point is above 1FFFFF", start, at))?;
            }
            _ => {
                let end = at.min(end).max(start + 1);
                return Err(error("unknown escape; write `\\\\` for a backslash", start, end));
            }
        }
    }
    Ok(())
}

fn parse_hex(digits: &[u8], most: usize) -> (u32, usize) {
    let mut value = 0;
    let mut length = 0;
    for &byte in digits.iter().take(most) {
        match (byte as char).to_digit(16) {
            Some(digit) => value = value * 16 + digit,
            None => break,
        }
        length += 1;
    }
    (value, length)
}

/// A lone surrogate has no UTF-8 form. protoc writes its three bytes anyway,
/// and so does this: a later check for valid UTF-8 reports a better place.
/// Code points above 10FFFF stay escapes, as in `AppendUTF8` of protobuf.
fn push_code_point(value: u32, out: &mut Vec<u8>) -> Option<()> {
    match char::from_u32(value) {
        Some(character) => out.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        None if value > 0x1f_ffff => return None,
        None if value > 0x10_ffff => out.extend(format!("\\U{value:08x}").bytes()),
        None => out.extend([
            0xe0 | (value >> 12) as u8,
            0x80 | (value >> 6 & 0x3f) as u8,
            0x80 | (value & 0x3f) as u8,
        ]),
    }
    Some(())
}

/// The bytes of all string tokens inside `span`, joined: the value of
/// adjacent literals such as `"a" 'b'`.
///
/// # Errors
/// The first literal that [`unescape`] refuses; its span counts from the
/// beginning of `text`.
pub fn unescape_all(text: &[u8], span: Span) -> Result<Vec<u8>, LiteralError> {
    // Most are one literal without escapes, whose quotes are left out.
    let mut out = Vec::with_capacity((span.end - span.start).saturating_sub(2) as usize);
    let mut lexer = Lexer::new(text, span.start);
    loop {
        let token = lexer.next_token();
        if token.span.start >= span.end || token.kind == TokenKind::End {
            return Ok(out);
        }
        if matches!(token.kind, TokenKind::String | TokenKind::NulInString) {
            unescape(token.span.of(text), &mut out).map_err(|mut error| {
                error.span.start += token.span.start;
                error.span.end += token.span.start;
                error
            })?;
        }
        if token.span.end >= span.end {
            return Ok(out);
        }
    }
}
