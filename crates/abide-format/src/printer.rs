//! Tokens of a text, written one after the other with the comments between them.

use abide_syntax::{
    Ast, Comment, Lexer, Span, Token, TokenKind, find_comments, skip_byte_order_mark,
};

use crate::comments::{LineEnding, split_comment_lines};

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
    /// True if comments of one line stay such where the statement goes on after them.
    pub breaks_lines: bool,
}

/// The empty line before a statement or an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesBefore {
    /// No empty line.
    Nothing,
    /// An empty line.
    EmptyLine,
    /// An empty line if the text has one.
    AsWritten,
}

/// The end of an entry or a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryEnd {
    /// Maybe a separator, which is still to come.
    Separated,
    /// The text written so far.
    Whole,
}

impl<'t> Printer<'t> {
    pub(crate) fn new(text: &'t [u8], ast: &'t Ast) -> Printer<'t> {
        let mut printer = Printer::from(text, ast, skip_byte_order_mark(text));
        printer.out.reserve(text.len() + text.len() / 8);
        printer
    }

    /// One that begins at a place.
    pub(crate) fn from(text: &'t [u8], ast: &'t Ast, at: u32) -> Printer<'t> {
        Printer { text, ast, out: Vec::new(), depth: 0, at, breaks_lines: false }
    }

    /// Returns the written text, which ends with the end of a line.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
        if LineEnding::has(self.text) {
            self.out
        } else {
            LineEnding::restore_carriage_returns(&self.out)
        }
    }

    /// Returns true if nothing is written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    /// Begins a line, unless it is the first.
    pub(crate) fn start_line(&mut self, empty_line: bool) {
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

    pub(crate) fn comments_until(&self, end: u32) -> impl Iterator<Item = Comment> + use<'t> {
        find_comments(self.text, Span::new(self.at, end))
    }

    /// Returns true if there is a comment before a place, however many tokens are.
    pub(crate) fn is_commented(&self, end: u32) -> bool {
        let mut place = Printer::from(self.text, self.ast, self.at);
        while place.at < end {
            let token = place.next().span;
            if place.comments_until(token.start).next().is_some() {
                return true;
            }
            place.at = token.end;
        }
        false
    }

    /// Counts the line ends between two places.
    pub(crate) fn count_line_ends(&self, start: u32, end: u32) -> usize {
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
        for comment in self.comments_until(token.span.start) {
            let text = comment.span.of(self.text);
            self.push(b" ");
            space = !closes;
            let stays = self.breaks_lines || token.kind == TokenKind::Symbol(b';');
            if comment.block {
                self.write_comment(comment);
            } else if stays || !can_be_block(text) {
                self.write_comment(comment);
                self.start_line(false);
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

    pub(crate) fn write_comment(&mut self, comment: Comment) {
        let mut lines = split_comment_lines(comment.span.of(self.text));
        self.push(&lines.next().unwrap_or_default());
        for text in lines {
            if text.is_empty() {
                self.out.push(b'\n');
            } else {
                self.start_line(false);
                self.push(&text);
            }
        }
    }

    /// Begins the line of a statement or an entry, after the lines of the comments before it.
    pub(crate) fn begin_entry(&mut self, before: LinesBefore) {
        let start = self.next_entry().span.start;
        let before = self.write_comment_lines(start, before);
        self.start_line(self.needs_empty_line(before, start));
        self.at = start;
    }

    /// Writes the comments before a place, each on lines of its own. Returns what stands before
    /// that which follows.
    pub(crate) fn write_comment_lines(&mut self, end: u32, mut before: LinesBefore) -> LinesBefore {
        for comment in self.comments_until(end) {
            self.start_line(self.needs_empty_line(before, comment.span.start));
            self.write_comment(comment);
            self.at = comment.span.end;
            before = LinesBefore::AsWritten;
        }
        before
    }

    pub(crate) fn needs_empty_line(&self, before: LinesBefore, start: u32) -> bool {
        match before {
            LinesBefore::Nothing => false,
            LinesBefore::EmptyLine => true,
            LinesBefore::AsWritten => {
                let gap = Span::new(self.at, start).of(self.text);
                let lines: Vec<_> = gap.split(|&byte| byte == b'\n').collect();
                let whole = lines.get(1..lines.len() - 1).unwrap_or_default();
                whole.iter().any(|line| line.trim_ascii().is_empty())
            }
        }
    }

    /// Finds the end of the comments behind what is written, on the same line.
    pub(crate) fn find_trailing_end(&self, entry: EntryEnd) -> u32 {
        let next = match entry {
            EntryEnd::Separated => self.next_entry(),
            // What stands behind a lone `;` is about nothing.
            EntryEnd::Whole => self.next(),
        };
        let closes = matches!(next.kind, TokenKind::Symbol(b'}' | b']' | b'>'));
        let mut at = self.at;
        for comment in self.comments_until(next.span.start) {
            let Span { start, end } = comment.span;
            let inside = closes && self.count_line_ends(end, next.span.start) == 0;
            if self.count_line_ends(at, start) > 0 || inside {
                break;
            }
            at = end;
        }
        at
    }

    /// Writes the comments that stand behind what is written, on the same line.
    pub(crate) fn write_trailing(&mut self, entry: EntryEnd) {
        for comment in self.comments_until(self.find_trailing_end(entry)) {
            self.push(b" ");
            self.write_comment(comment);
            self.at = comment.span.end;
        }
    }

    /// Writes the comments behind an opening bracket, if their line ends after them. An entry must
    /// follow.
    pub(crate) fn write_trailing_of_bracket(&mut self) {
        let end = self.find_trailing_end(EntryEnd::Whole);
        if self.count_line_ends(end, self.next().span.start) > 0 {
            self.write_trailing(EntryEnd::Whole);
        }
    }

    /// Writes entries, each on lines of its own, and the bracket that closes them.
    pub(crate) fn write_entries<T>(
        &mut self,
        entries: impl IntoIterator<Item = T>,
        bracket: u8,
        entry: EntryEnd,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.depth += 1;
        let mut before = LinesBefore::Nothing;
        for it in entries {
            self.begin_entry(before);
            write(self, it);
            self.write_trailing(entry);
            before = LinesBefore::AsWritten;
        }
        let closing = self.next_entry().span;
        before = self.write_comment_lines(closing.start, before);
        self.depth -= 1;
        if before != LinesBefore::Nothing {
            self.start_line(false);
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

/// Returns true if a comment of one line can be a block: none can hold the marks of another.
fn can_be_block(comment: &[u8]) -> bool {
    let holds = |mark: &[u8]| comment[2..].windows(2).any(|it| it == mark);
    // The first mark of the block may be the first half of its last one, as in `//*/`.
    !holds(b"/*") && !comment.windows(2).any(|it| it == b"*/")
}
