//! Tokens of a text, written one after the other with the comments between them.

use abide_syntax::{Ast, Comment, Lexer, Span, Token, TokenKind, comments_between, text_start};

use crate::comments::{Unix, lines_of};

/// The white space for one step of depth.
const STEP: &[u8] = b"  ";

/// Writes a file anew. It walks over the tokens of the text, and never passes a comment without
/// writing it.
pub(crate) struct Printer<'t> {
    pub text: &'t [u8],
    pub ast: &'t Ast,
    out: Vec<u8>,
    /// Of the line that is written.
    depth: usize,
    /// Everything in the text before it is written: the end of a token or of a comment.
    pub at: u32,
    /// Whether comments of one line stay such where the statement goes on after them.
    pub breaks_lines: bool,
}

/// What stands before a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// No empty line.
    Nothing,
    /// An empty line.
    EmptyLine,
    /// An empty line if the text has one.
    AsWritten,
}

/// What ends an entry or a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Maybe a separator, which is still to come.
    Separated,
    /// What is written.
    Whole,
}

impl<'t> Printer<'t> {
    pub(crate) fn new(text: &'t [u8], ast: &'t Ast) -> Printer<'t> {
        let mut printer = Printer::from(text, ast, text_start(text));
        printer.out.reserve(text.len() + text.len() / 8);
        printer
    }

    /// One that begins at a place.
    pub(crate) fn from(text: &'t [u8], ast: &'t Ast, at: u32) -> Printer<'t> {
        Printer { text, ast, out: Vec::new(), depth: 0, at, breaks_lines: false }
    }

    /// What was written, as a text that ends with the end of a line.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
        if Unix::has(self.text) { self.out } else { Unix::undo(&self.out) }
    }

    /// Whether nothing is written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    /// Begins a line, unless it is the first.
    pub(crate) fn line(&mut self, empty_line: bool) {
        if !self.out.is_empty() {
            self.out.extend_from_slice(if empty_line { b"\n\n" } else { b"\n" });
        }
        for _ in 0..self.depth {
            self.out.extend_from_slice(STEP);
        }
    }

    /// The token after what is written.
    pub(crate) fn next(&self) -> Token {
        Lexer::new(self.text, self.at).next_token()
    }

    /// The token after what is written that is no separator. Of those that only end an entry or a
    /// statement nothing is written from the text.
    fn next_entry(&self) -> Token {
        let mut lexer = Lexer::new(self.text, self.at);
        loop {
            let token = lexer.next_token();
            if !matches!(token.kind, TokenKind::Symbol(b',' | b';')) {
                return token;
            }
        }
    }

    pub(crate) fn comments_to(&self, end: u32) -> impl Iterator<Item = Comment> + use<'t> {
        comments_between(self.text, Span::new(self.at, end))
    }

    /// Whether there is a comment before a place, however many tokens are.
    pub(crate) fn is_commented(&self, end: u32) -> bool {
        let mut place = Printer::from(self.text, self.ast, self.at);
        while place.at < end {
            let token = place.next().span;
            if place.comments_to(token.start).next().is_some() {
                return true;
            }
            place.at = token.end;
        }
        false
    }

    /// How many lines end between two places.
    pub(crate) fn line_ends(&self, start: u32, end: u32) -> usize {
        Span::new(start, end).of(self.text).iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Writes the next token, after the comments before it.
    pub(crate) fn token(&mut self, space: bool) -> Token {
        let token = self.next();
        self.token_as(token.span.of(self.text), space)
    }

    /// Writes a text for the next token, after the comments before it.
    pub(crate) fn token_as(&mut self, written: &[u8], space: bool) -> Token {
        let token = self.next();
        let closes = matches!(token.kind, TokenKind::Symbol(b';' | b',' | b')' | b'>' | b']'));
        let mut space = space;
        for comment in self.comments_to(token.span.start) {
            let text = comment.span.of(self.text);
            self.push(b" ");
            space = !closes;
            let stays = self.breaks_lines || token.kind == TokenKind::Symbol(b';');
            if comment.block {
                self.comment(comment);
            } else if stays || !can_be_block(text) {
                self.comment(comment);
                self.line(false);
                space = false;
            } else {
                self.push(b"/*");
                self.push(text[2..].trim_ascii_end());
                self.push(b" */");
            }
        }
        if space {
            self.push(b" ");
        }
        self.push(written);
        self.at = token.span.end;
        token
    }

    /// Writes the tokens up to a place: the first after a space, the others without.
    pub(crate) fn word(&mut self, space: bool, end: u32) {
        let mut space = space;
        while self.next().span.end <= end {
            self.token(space);
            space = false;
            if self.at >= end {
                break;
            }
        }
    }

    pub(crate) fn comment(&mut self, comment: Comment) {
        let mut lines = lines_of(comment.span.of(self.text));
        self.push(&lines.next().unwrap_or_default());
        for text in lines {
            if text.is_empty() {
                self.out.push(b'\n');
            } else {
                self.line(false);
                self.push(&text);
            }
        }
    }

    /// Begins the line of a statement or an entry, after the lines of the comments before it.
    pub(crate) fn begin(&mut self, before: Before) {
        let start = self.next_entry().span.start;
        let before = self.comment_lines(start, before);
        self.line(self.has_empty_line(before, start));
        self.at = start;
    }

    /// Writes the comments before a place, each on lines of its own. Returns what stands before
    /// that which follows.
    pub(crate) fn comment_lines(&mut self, end: u32, mut before: Before) -> Before {
        for comment in self.comments_to(end) {
            self.line(self.has_empty_line(before, comment.span.start));
            self.comment(comment);
            self.at = comment.span.end;
            before = Before::AsWritten;
        }
        before
    }

    pub(crate) fn has_empty_line(&self, before: Before, start: u32) -> bool {
        match before {
            Before::Nothing => false,
            Before::EmptyLine => true,
            Before::AsWritten => {
                let gap = Span::new(self.at, start).of(self.text);
                let lines: Vec<_> = gap.split(|&byte| byte == b'\n').collect();
                let whole = lines.get(1..lines.len() - 1).unwrap_or_default();
                whole.iter().any(|line| line.trim_ascii().is_empty())
            }
        }
    }

    /// Where the comments end that stand behind what is written, on the same line.
    pub(crate) fn end_of_trailing(&self, entry: Entry) -> u32 {
        let next = match entry {
            Entry::Separated => self.next_entry(),
            // What stands behind a lone `;` is about nothing.
            Entry::Whole => self.next(),
        };
        let closes = matches!(next.kind, TokenKind::Symbol(b'}' | b']' | b'>'));
        let mut at = self.at;
        for comment in self.comments_to(next.span.start) {
            let Span { start, end } = comment.span;
            let inside = closes && self.line_ends(end, next.span.start) == 0;
            if self.line_ends(at, start) > 0 || inside {
                break;
            }
            at = end;
        }
        at
    }

    /// Writes the comments that stand behind what is written, on the same line.
    pub(crate) fn trailing(&mut self, entry: Entry) {
        for comment in self.comments_to(self.end_of_trailing(entry)) {
            self.push(b" ");
            self.comment(comment);
            self.at = comment.span.end;
        }
    }

    /// Writes the comments behind an opening bracket, if their line ends after them. An entry must
    /// follow.
    pub(crate) fn trailing_of_bracket(&mut self) {
        let end = self.end_of_trailing(Entry::Whole);
        if self.line_ends(end, self.next().span.start) > 0 {
            self.trailing(Entry::Whole);
        }
    }

    /// Writes entries, each on lines of its own, and the bracket that closes them.
    pub(crate) fn entries<T>(
        &mut self,
        entries: impl IntoIterator<Item = T>,
        bracket: u8,
        entry: Entry,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.depth += 1;
        let mut before = Before::Nothing;
        for it in entries {
            self.begin(before);
            write(self, it);
            self.trailing(entry);
            before = Before::AsWritten;
        }
        let closing = self.next_entry().span;
        before = self.comment_lines(closing.start, before);
        self.depth -= 1;
        if before != Before::Nothing {
            self.line(false);
        }
        self.push(&[bracket]);
        self.at = closing.end;
    }

    /// Writes lines one step deeper.
    pub(crate) fn deeper(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }
}

/// Whether a comment of one line can be a block: none can hold the marks of another.
fn can_be_block(comment: &[u8]) -> bool {
    let holds = |mark: &[u8]| comment[2..].windows(2).any(|it| it == mark);
    // The first mark of the block may be the first half of its last one, as in `//*/`.
    !holds(b"/*") && !comment.windows(2).any(|it| it == b"*/")
}
