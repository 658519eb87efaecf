//! Markdown in which nothing that comes from the input is live.

use abide_lint::backtick;
use abide_source::printable::escape_unprintable;

use super::prose::{ProsePiece, split_pieces};

/// A text in GitHub Flavored Markdown, also for GitLab, in the making.
///
/// Markup is a literal of this program. Everything else is added as words or as code, and is shown
/// as it is: it can be no markup, HTML, link, mention or reference. Services look for mentions and
/// references in the finished page, where no escape is left; they pass over code. So a word that
/// could be one is added as code.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MarkdownText {
    text: String,
    /// True for a cell of a table, where a bar ends the cell, also in code.
    is_cell: bool,
}

impl MarkdownText {
    pub(crate) fn new() -> MarkdownText {
        MarkdownText::default()
    }

    /// The content of a cell of a table.
    pub(crate) fn new_cell() -> MarkdownText {
        MarkdownText { is_cell: true, ..MarkdownText::default() }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Adds markup.
    pub(crate) fn add_markup(&mut self, markup: &'static str) -> &mut MarkdownText {
        self.text.push_str(markup);
        self
    }

    /// Adds Markdown.
    pub(crate) fn add(&mut self, other: MarkdownText) -> &mut MarkdownText {
        self.text.push_str(&other.text);
        self
    }

    /// Adds words.
    pub(crate) fn add_words(&mut self, words: &str) -> &mut MarkdownText {
        let words = escape_unprintable(words);
        for word in words.split_inclusive(char::is_whitespace) {
            let bare = word.trim_end();
            let start = bare.len() - bare.trim_start_matches(['(', '"', '\'']).len();
            let end = bare.trim_end_matches(['.', ',', ';', ')', '"', '\'', '?']).len();
            match bare.get(start..end) {
                Some(core) if is_live(core) => {
                    self.add_escaped(&word[..start]);
                    self.add_code(core);
                    self.add_escaped(&word[end..]);
                }
                _ => self.add_escaped(word),
            }
        }
        self
    }

    /// Adds a code span, whatever the text contains.
    pub(crate) fn add_code(&mut self, text: &str) -> &mut MarkdownText {
        let text = escape_unprintable(text);
        // Two runs of backticks side by side would be one.
        if self.text.ends_with('`') {
            self.text.push_str("<!-- -->");
        }
        if self.is_cell && text.contains('|') {
            // Parsers disagree on a bar after a backslash; an entity is no bar to any of them.
            self.text.push_str("<code>");
            for c in text.chars() {
                if c.is_ascii_punctuation() { self.add_entity(c) } else { self.text.push(c) }
            }
            self.text.push_str("</code>");
            return self;
        }
        // One space on each side is not part of a span, and a span of nothing is none.
        let is_stripped = text.starts_with(' ') && text.ends_with(' ') && !text.contains('`');
        self.text.push_str(&match text.as_str() {
            "" => backtick(" "),
            _ if is_stripped && !text.trim().is_empty() => backtick(format!(" {text} ")),
            text => backtick(text),
        });
        self
    }

    /// Adds a text of a finding, in which backticks mark code.
    pub(crate) fn add_prose(&mut self, text: &str) -> &mut MarkdownText {
        for piece in split_pieces(text) {
            match piece {
                ProsePiece::Words(words) => self.add_words(words),
                ProsePiece::Code(code) => self.add_code(code),
            };
        }
        self
    }

    /// Adds an owner as `CODEOWNERS` names one, to be notified.
    pub(crate) fn add_owner(&mut self, owner: &str) -> &mut MarkdownText {
        match owner.strip_prefix('@') {
            Some(name)
                if !name.is_empty()
                    && name.chars().all(|c: char| {
                        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
                    }) =>
            {
                for c in owner.chars() {
                    if c == '_' { self.text.push_str("\\_") } else { self.text.push(c) }
                }
            }
            _ => drop(self.add_code(owner)),
        }
        self
    }

    /// Adds a row of a table.
    pub(crate) fn add_row(
        &mut self,
        cells: impl IntoIterator<Item = MarkdownText>,
    ) -> &mut MarkdownText {
        self.add_markup("|");
        for cell in cells {
            debug_assert!(cell.is_cell, "a bar in `{}` would end the cell", cell.text);
            self.add_markup(" ").add(cell).add_markup(" |");
        }
        self.add_markup("\n")
    }

    fn add_escaped(&mut self, text: &str) {
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '<' => self.text.push_str("&lt;"),
                '&' => self.text.push_str("&amp;"),
                '|' | '`' => self.add_entity(c),
                '\\' | '*' | '_' | '[' | ']' | '#' | '~' | '$' => self.text.extend(['\\', c]),
                // A list, a quotation or an underline; and four spaces are code.
                '-' | '+' | '=' | '>' if self.get_line_start() == Some("") => {
                    self.text.extend(['\\', c])
                }
                ' ' if self.get_line_start() == Some("") => self.add_entity(c),
                // `1. ` and `1) ` begin a list.
                '.' | ')'
                    if self.get_line_start().is_some_and(is_number)
                        && rest.peek().is_none_or(|it| it.is_whitespace()) =>
                {
                    self.text.extend(['\\', c]);
                }
                c => self.text.push(c),
            }
        }
    }

    /// The last line without the markup that begins it. A cell cannot begin a block.
    fn get_line_start(&self) -> Option<&str> {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        (!self.is_cell).then(|| line.trim_start_matches([' ', '-', '#']))
    }

    fn add_entity(&mut self, c: char) {
        self.text.push_str(&format!("&#{};", u32::from(c)));
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// Returns true if GitHub or GitLab could make a link or a mention of a word.
fn is_live(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    // `@user`, an address, `https://…`.
    if lower.contains('@') || lower.contains("://") || lower.contains("www.") {
        return true;
    }
    // `#1`, `!1`, `$1`, `%1`, `&1`, `~label`, `GH-1`.
    let bytes = lower.as_bytes();
    let is_reference = bytes.windows(2).any(|pair| match pair {
        [b'#' | b'!' | b'$' | b'%' | b'&' | b'~' | b'^', next] => {
            next.is_ascii_alphanumeric() || *next == b'"'
        }
        _ => false,
    });
    // `GH-1`, also inside a word.
    let is_issue = lower.match_indices("gh-").any(|(at, word)| {
        (at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
            && bytes.get(at + word.len()).is_some_and(u8::is_ascii_digit)
    });
    // The id of a commit, also inside a word.
    let is_commit = bytes.split(|it| !it.is_ascii_alphanumeric()).any(|part| {
        (7..=40).contains(&part.len())
            && part.iter().all(u8::is_ascii_hexdigit)
            && part.iter().any(u8::is_ascii_digit)
            && part.iter().any(u8::is_ascii_alphabetic)
    });
    is_reference || is_issue || is_commit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut MarkdownText) -> &mut MarkdownText) -> String {
        let mut markdown = MarkdownText::new();
        write(&mut markdown);
        markdown.into_text()
    }

    #[test]
    fn words_are_shown_as_they_are() {
        for (words, markdown) in [
            ("not a_b, and *", "not a\\_b, and \\*"),
            ("<i> & [x](y) | `", "&lt;i> &amp; \\[x\\](y) &#124; &#96;"),
            ("ask @me, see #1.", "ask `@me`, see `#1`."),
            ("(https://x.y/z) GH-7 UTF-8", "(`https://x.y/z`) `GH-7` UTF-8"),
            ("0123abcd 536870911", "`0123abcd` 536870911"),
            ("x:0123abcd** a/GH-7 `GH-7`", "`x:0123abcd**` `a/GH-7` `` `GH-7` ``"),
            ("high-7 0123abcdx", "high-7 0123abcdx"),
            ("# x", "\\# x"),
            ("1. x", "1\\. x"),
            ("1.4 x", "1.4 x"),
            ("- x - 1. y", "\\- x - 1. y"),
            (" x", "&#32;x"),
            ("a\nb", "a\\\\nb"),
        ] {
            assert_eq!(written(|it| it.add_words(words)), markdown, "{words}");
        }
    }

    #[test]
    fn code_ends_where_it_ends() {
        for (code, markdown) in [
            ("a", "`a`"),
            ("a`b", "`` a`b ``"),
            ("``", "``` `` ```"),
            (" a ", "`  a  `"),
            ("", "` `"),
            ("a|b", "`a|b`"),
        ] {
            assert_eq!(written(|it| it.add_code(code)), markdown, "{code}");
        }
        let mut cell = MarkdownText::new_cell();
        cell.add_code("a\\|`");
        assert_eq!(cell.into_text(), "<code>a&#92;&#124;&#96;</code>");
        assert_eq!(written(|it| it.add_prose("`a``b`")), "``` a``b ```");
        assert_eq!(written(|it| it.add_code("a").add_code("b")), "`a`<!-- -->`b`");
    }
}
