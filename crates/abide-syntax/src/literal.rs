//! The meaning of literals, as protoc's tokenizer reads them.

use crate::lexer::{Lexer, TokenKind};
use crate::span::Span;

/// Why a literal has no value, and which of its bytes are to blame.
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

/// The value of an integer token, `None` where it needs more than 64 bits.
pub fn parse_integer(token: &[u8]) -> Option<u64> {
    // Rust's own numbers may have a sign.
    let text = std::str::from_utf8(token).ok().filter(|text| !text.contains('+'))?;
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(text, 8).ok()
    } else {
        text.parse().ok()
    }
}

/// The value of a float token (`1.`, `.5`, `1e9`); infinite where it is too
/// large for a double.
pub fn parse_float(token: &[u8]) -> Option<f64> {
    // Rust's own numbers may have a sign, and be `inf` or `nan`.
    token.first().filter(|&&byte| byte == b'.' || byte.is_ascii_digit())?;
    std::str::from_utf8(token).ok()?.parse().ok()
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
        let byte = token[at];
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
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
                let (value, digits) = hex(&token[at..end], 2);
                if digits == 0 {
                    return Err(error("`\\x` needs a hexadecimal digit", start, at));
                }
                at += digits;
                out.push(value as u8);
            }
            b'u' | b'U' => {
                let length = if escape == b'u' { 4 } else { 8 };
                let (mut value, digits) = hex(&token[at..end], length);
                if digits < length {
                    let message = format!("`\\{}` needs {length} digits", escape as char);
                    return Err(error(&message, start, at + digits));
                }
                at += digits;
                // A high and a low surrogate in a row are one character.
                if (0xd800..0xdc00).contains(&value) && token[at..end].starts_with(b"\\u") {
                    let (low, digits) = hex(&token[at + 2..end], 4);
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

fn hex(digits: &[u8], most: usize) -> (u32, usize) {
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
    let mut out = Vec::with_capacity((span.end - span.start) as usize);
    let mut lexer = Lexer::new(text, span.start);
    loop {
        let token = lexer.next_token();
        if token.span.start >= span.end || token.kind == TokenKind::End {
            return Ok(out);
        }
        if token.kind == TokenKind::String {
            unescape(token.span.of(text), &mut out).map_err(|mut error| {
                error.span.start += token.span.start;
                error.span.end += token.span.start;
                error
            })?;
        }
    }
}
