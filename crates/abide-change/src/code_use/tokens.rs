//! The tokens of source code in Go, Java, Python and C++: names, what joins them, texts and signs.
//! Comments are left out.

use crate::symbols::Language;

/// A token of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'c> {
    pub(super) kind: TokenKind,
    /// The token as it is written; of a text what is between the quotes.
    pub(super) text: &'c str,
    /// Its line; the first is 1.
    pub(super) line: u32,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// `.`, `::` or `->` between two names.
    Join,
    /// A text in quotes.
    Text,
    /// A number.
    Number,
    /// Any other character.
    Sign,
}

impl Token<'_> {
    pub(super) fn is(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text == sign
    }

    pub(super) fn is_name(&self) -> bool {
        self.kind == TokenKind::Name
    }

    pub(super) fn is_join(&self) -> bool {
        self.kind == TokenKind::Join
    }
}

/// Splits a source code into tokens. Nothing is refused: what does not end, ends with the code.
pub(super) fn split_tokens(language: Language, code: &str) -> Vec<Token<'_>> {
    let mut reader = TokenReader { language, code, at: 0, line: 1, tokens: Vec::new() };
    while reader.at < code.len() {
        reader.read_token();
    }
    reader.tokens
}

struct TokenReader<'c> {
    language: Language,
    code: &'c str,
    at: usize,
    line: u32,
    tokens: Vec<Token<'c>>,
}

impl<'c> TokenReader<'c> {
    fn rest(&self) -> &'c str {
        &self.code[self.at..]
    }

    /// Passes over so many bytes.
    fn pass(&mut self, count: usize) {
        let passed = &self.rest().as_bytes()[..count];
        self.line += passed.iter().filter(|it| **it == b'\n').count() as u32;
        self.at += count;
    }

    fn push(&mut self, kind: TokenKind, count: usize) {
        let text = &self.rest()[..count];
        self.tokens.push(Token { kind, text, line: self.line });
        self.pass(count);
    }

    fn read_token(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if let Some(length) = self.measure_comment() {
            return self.pass(length);
        }
        if first.is_whitespace() {
            return self.pass(first.len_utf8());
        }
        if is_name_start(first) {
            let length = rest.find(|it| !is_name_part(it)).unwrap_or(rest.len());
            let is_raw = self.language == Language::Cpp
                && rest[length..].starts_with("\"")
                && rest[..length].ends_with('R');
            return if is_raw {
                self.read_raw_text(length)
            } else {
                self.push(TokenKind::Name, length)
            };
        }
        if first.is_ascii_digit() {
            let length = rest.find(|it| !is_name_part(it) && it != '.' && it != '\'');
            return self.push(TokenKind::Number, length.unwrap_or(rest.len()));
        }
        match first {
            '"' | '\'' | '`' => self.read_text(first),
            ':' if rest.starts_with("::") => self.push(TokenKind::Join, 2),
            '-' if rest.starts_with("->") && self.language == Language::Cpp => {
                self.push(TokenKind::Join, 2);
            }
            // Three of them are an ellipsis.
            '.' if rest.starts_with("...") => self.push(TokenKind::Sign, 3),
            '.' => self.push(TokenKind::Join, 1),
            _ => self.push(TokenKind::Sign, first.len_utf8()),
        }
    }

    /// The length of the comment at the current place.
    fn measure_comment(&self) -> Option<usize> {
        let rest = self.rest();
        let to_end = |end: &str| rest.find(end).unwrap_or(rest.len());
        match self.language {
            Language::Python => rest.starts_with('#').then(|| to_end("\n")),
            _ if rest.starts_with("//") => Some(to_end("\n")),
            _ if rest.starts_with("/*") => {
                Some(rest[2..].find("*/").map_or(rest.len(), |it| it + 4))
            }
            _ => None,
        }
    }

    /// Reads a text up to its closing quote; one in single quotes of one line.
    fn read_text(&mut self, quote: char) {
        let rest = self.rest();
        let triple: String = [quote; 3].iter().collect();
        let has_triple = matches!(self.language, Language::Python | Language::Java);
        if has_triple && quote != '`' && rest.starts_with(&triple) {
            let length = rest[3..].find(&triple).unwrap_or(rest.len() - 3);
            return self.push_text(3, length, 3);
        }
        let is_raw = quote == '`';
        let mut length = 0;
        let mut characters = rest[1..].chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' if !is_raw => {
                    length += 1 + characters.next().map_or(0, char::len_utf8);
                    continue;
                }
                '\n' if !is_raw => break,
                it if it == quote => break,
                it => length += it.len_utf8(),
            }
        }
        self.push_text(1, length, 1);
    }

    /// Reads a raw text of C++ behind its prefix: `R"x(…)x"`.
    fn read_raw_text(&mut self, prefix: usize) {
        let rest = &self.rest()[prefix + 1..];
        let Some(open) = rest.find('(') else { return self.pass(prefix + 1) };
        let close = format!("){}\"", &rest[..open]);
        let length = rest[open + 1..].find(&close).unwrap_or(rest.len() - open - 1);
        self.push_text(prefix + 1 + open + 1, length, close.len());
    }

    fn push_text(&mut self, before: usize, length: usize, after: usize) {
        self.pass(before.min(self.rest().len()));
        self.push(TokenKind::Text, length.min(self.rest().len()));
        let after = self.rest().char_indices().nth(after).map_or(self.rest().len(), |it| it.0);
        self.pass(after);
    }
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == '$'
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, split_tokens};
    use crate::symbols::Language;

    fn texts(language: Language, code: &str) -> Vec<String> {
        let tokens = split_tokens(language, code);
        tokens.iter().map(|it| format!("{}:{}", it.line, it.text)).collect()
    }

    #[test]
    fn comments_are_left_out_and_lines_are_counted() {
        let go = "a // b\n/* c\nd */ e.F(`g\nh`, 'i')";
        let found = texts(Language::Go, go);
        assert_eq!(found, ["1:a", "3:e", "3:.", "3:F", "3:(", "3:g\nh", "4:,", "4:i", "4:)"]);
        assert_eq!(texts(Language::Python, "a # 'b\n\"\"\"c\n\"\"\" d"), ["1:a", "2:c\n", "3:d"]);
        let cpp = "a->b::c R\"x(\" )x\" d";
        assert_eq!(
            texts(Language::Cpp, cpp),
            ["1:a", "1:->", "1:b", "1:::", "1:c", "1:\" ", "1:d"]
        );
    }

    #[test]
    fn anything_ends() {
        for code in ["\"a\\", "'", "`é", "/*", "R\"(", "R\"", "\"\"\"", "é\"ü\\é", "1.e", "..."]
        {
            for language in Language::ALL {
                let tokens = split_tokens(language, code);
                assert!(tokens.iter().all(|it| it.kind != TokenKind::Join), "{code}: {tokens:?}");
            }
        }
    }
}
