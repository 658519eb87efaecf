//! Tokens, made on demand.
//!
//! The lexical grammar is that of protoc's `io::Tokenizer`: identifiers are
//! ASCII, a number may not touch an identifier, and white space is space, tab,
//! carriage return, line feed, vertical tab and form feed.

use crate::span::Span;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `[A-Za-z_][A-Za-z0-9_]*`.
    Ident,
    /// A decimal, octal (`0…`) or hexadecimal (`0x…`) integer.
    Int,
    /// A number with a point or an exponent.
    Float,
    /// A quoted string, quotes included.
    String,
    /// A single character of punctuation.
    Symbol(u8),
    /// A malformed number, such as `0x` or `08`.
    BadNumber,
    /// A number and the identifier that follows it without a space, as one token.
    NumberTouchesIdent,
    /// A string without its closing quote; ends before the end of the line.
    UnterminatedString,
    /// A string with a NUL byte inside.
    NulInString,
    /// `/*` without `*/`; reaches to the end of the file.
    UnterminatedComment,
    /// `/*` inside of a block comment, which protoc refuses; reaches to the
    /// end of that comment.
    NestedComment,
    /// A NUL byte inside a comment; reaches to the end of that comment.
    NulInComment,
    /// A run of bytes that are not allowed in any token.
    Garbage,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// Returns true if it is text that protoc refuses.
    #[inline]
    pub(crate) fn is_malformed(self) -> bool {
        !matches!(
            self,
            TokenKind::Ident
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::String
                | TokenKind::Symbol(_)
                | TokenKind::End
        )
    }
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its place.
    pub span: Span,
}

const SPACE: u8 = 1;
const LETTER: u8 = 2;
const DIGIT: u8 = 4;
const SYMBOL: u8 = 8;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'!'..=b'~' => SYMBOL,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Returns true if a byte may stand in a word: a letter, a digit or `_`.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & (LETTER | DIGIT) != 0
}

/// Returns the start of a text, after its byte order mark if it has one.
pub fn skip_byte_order_mark(text: &[u8]) -> u32 {
    if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// Reads the tokens of a text one after the other. The text between two
/// tokens is white space and comments, so nothing is lost.
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Lexer<'t> {
    /// Starts at `offset`, which must not lie inside a token or comment. A
    /// byte order mark at the beginning of the text is skipped.
    pub fn new(text: &'t [u8], offset: u32) -> Lexer<'t> {
        let at = if offset == 0 { skip_byte_order_mark(text) } else { offset };
        Lexer { text, at: at as usize }
    }

    fn peek_byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn peek_class(&self, at: usize) -> u8 {
        self.text.get(at).map_or(0, |&b| CLASS[b as usize])
    }

    /// Skips the bytes of some classes.
    #[inline]
    fn skip(&mut self, classes: u8) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| CLASS[byte as usize] & classes == 0);
        self.at += length.unwrap_or(rest.len());
    }

    /// Skips white space and comments. `Err` says what is wrong with a comment
    /// and where that is.
    #[inline]
    fn skip_trivia(&mut self) -> Result<(), (TokenKind, usize)> {
        self.skip(SPACE);
        if self.peek_byte(self.at) == b'/' { self.skip_comments() } else { Ok(()) }
    }

    /// Skips comments from a `/` on, and the white space behind them.
    #[inline(never)]
    fn skip_comments(&mut self) -> Result<(), (TokenKind, usize)> {
        loop {
            let rest = self.text.get(self.at + 2..).unwrap_or_default();
            match self.peek_byte(self.at + 1) {
                b'/' => {
                    let start = self.at + 2;
                    let line_end = |from: usize| {
                        memchr::memchr(b'\n', &rest[from..])
                            .map_or(self.text.len(), |length| start + from + length)
                    };
                    match memchr::memchr2(b'\n', 0, rest) {
                        Some(nul) if rest[nul] == 0 => {
                            self.at = line_end(nul);
                            return Err((TokenKind::NulInComment, start + nul));
                        }
                        Some(length) => self.at = start + length,
                        None => self.at = self.text.len(),
                    }
                }
                b'*' => match memchr::memmem::find(rest, b"*/") {
                    Some(length) => {
                        let start = self.at + 2;
                        self.at += length + 4;
                        // The `*` of the end may be that of a second beginning.
                        if let Some(inner) = memchr::memmem::find(&rest[..=length], b"/*") {
                            return Err((TokenKind::NestedComment, start + inner));
                        }
                        if let Some(nul) = memchr::memchr(0, &rest[..length]) {
                            return Err((TokenKind::NulInComment, start + nul));
                        }
                    }
                    None => {
                        let start = self.at;
                        self.at = self.text.len();
                        return Err((TokenKind::UnterminatedComment, start));
                    }
                },
                _ => return Ok(()),
            }
            self.skip(SPACE);
            if self.peek_byte(self.at) != b'/' {
                return Ok(());
            }
        }
    }

    /// The next token; at the end of the text [`TokenKind::End`], again and
    /// again.
    #[inline]
    pub fn next_token(&mut self) -> Token {
        if let Err((kind, start)) = self.skip_trivia() {
            return self.make_token(kind, start);
        }
        let start = self.at;
        if start >= self.text.len() {
            self.at = self.text.len();
            return self.make_token(TokenKind::End, self.at);
        }
        let first = self.text[start];
        match CLASS[first as usize] {
            LETTER => {
                self.skip(LETTER | DIGIT);
                self.make_token(TokenKind::Ident, start)
            }
            DIGIT => self.scan_number(start),
            SYMBOL => match first {
                b'"' | b'\'' => self.scan_string(first),
                b'.' if self.peek_class(start + 1) == DIGIT => self.scan_number(start),
                _ => {
                    self.at += 1;
                    self.make_token(TokenKind::Symbol(first), start)
                }
            },
            _ => {
                while self.at < self.text.len() && self.peek_class(self.at) == 0 {
                    self.at += 1;
                }
                self.make_token(TokenKind::Garbage, start)
            }
        }
    }

    fn make_token(&self, kind: TokenKind, start: usize) -> Token {
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    #[inline(never)]
    fn scan_number(&mut self, start: usize) -> Token {
        let mut kind = TokenKind::Int;
        // Only decimal numbers have a point.
        let mut decimal = false;
        if self.peek_byte(start) == b'0' && matches!(self.peek_byte(start + 1), b'x' | b'X') {
            self.at += 2;
            let digits = self.at;
            while self.peek_byte(self.at).is_ascii_hexdigit() {
                self.at += 1;
            }
            if self.at == digits {
                kind = TokenKind::BadNumber;
            }
        } else if self.peek_byte(start) == b'0' && self.peek_class(start + 1) == DIGIT {
            self.skip(DIGIT);
            let digits = &self.text[start..self.at];
            if digits.iter().any(|digit| matches!(digit, b'8' | b'9')) {
                kind = TokenKind::BadNumber;
            }
        } else {
            decimal = true;
            self.skip(DIGIT);
            if self.peek_byte(self.at) == b'.' {
                kind = TokenKind::Float;
                self.at += 1;
                self.skip(DIGIT);
            }
            if matches!(self.peek_byte(self.at), b'e' | b'E') {
                kind = TokenKind::Float;
                self.at += 1;
                if matches!(self.peek_byte(self.at), b'+' | b'-') {
                    self.at += 1;
                }
                if self.peek_class(self.at) != DIGIT {
                    kind = TokenKind::BadNumber;
                }
                self.skip(DIGIT);
            }
        }
        if self.peek_class(self.at) == LETTER {
            self.skip(LETTER | DIGIT);
            kind = TokenKind::NumberTouchesIdent;
        } else if (kind != TokenKind::Int || !decimal) && self.peek_byte(self.at) == b'.' {
            kind = TokenKind::BadNumber;
            while self.peek_byte(self.at) == b'.' {
                self.at += 1;
                self.skip(LETTER | DIGIT);
            }
        }
        self.make_token(kind, start)
    }

    #[inline(never)]
    fn scan_string(&mut self, quote: u8) -> Token {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let length = memchr::memchr3(quote, b'\\', b'\n', rest);
            self.at += length.unwrap_or(rest.len());
            match self.text.get(self.at) {
                None | Some(b'\n') => return self.make_token(TokenKind::UnterminatedString, start),
                Some(b'\\') if !matches!(self.peek_byte(self.at + 1), 0 | b'\n') => self.at += 2,
                Some(b'\\') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    let has_nul = memchr::memchr(0, &self.text[start..self.at]).is_some();
                    let kind = if has_nul { TokenKind::NulInString } else { TokenKind::String };
                    return self.make_token(kind, start);
                }
            }
        }
    }
}
