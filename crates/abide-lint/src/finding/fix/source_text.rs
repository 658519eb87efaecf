//! The text of a file, and how a statement is added or removed so that it looks as if it had
//! always been so.

use abide_schema::{File, Node};
use abide_syntax::{Ast, DeclId, Span};
use abide_upgrade::Edit;
use memchr::{memchr, memrchr};

/// The text of a file that was read from source.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'t> {
    pub(crate) file: File<'t>,
    pub(crate) ast: &'t Ast,
    pub(crate) text: &'t [u8],
}

impl<'t> SourceText<'t> {
    /// `None` for a file that was read from a descriptor.
    pub(crate) fn of(file: File<'t>) -> Option<SourceText<'t>> {
        let decl = file.decl();
        Some(SourceText { file, ast: decl.ast()?, text: decl.source_text()? })
    }

    /// Returns how its lines end: as the first one does.
    pub(crate) fn newline(self) -> &'static str {
        match memchr(b'\n', self.text).and_then(|at| at.checked_sub(1)) {
            Some(before) if self.text.get(before) == Some(&b'\r') => "\r\n",
            _ => "\n",
        }
    }

    /// The white space at the start of the line of an offset.
    pub(crate) fn indent(self, offset: u32) -> &'t str {
        let line = Span::new(line_start(self.text, offset), offset).str(self.text);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns true if only white space stands before an offset in its line.
    pub(crate) fn begins_line(self, offset: u32) -> bool {
        is_blank(Span::new(line_start(self.text, offset), offset).of(self.text))
    }

    /// The end of the line of a statement that ends at an offset, if nothing but a line comment
    /// follows it there; without the end of the line itself.
    pub(crate) fn end_of_own_line(self, end: u32) -> Option<u32> {
        let rest = Span::new(end, self.text.len() as u32).of(self.text);
        let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        let is_own = is_blank(line) || line.trim_ascii_start().starts_with(b"//");
        let length = line.strip_suffix(b"\r").unwrap_or(line).len() as u32;
        is_own.then_some(end + length)
    }

    /// Removes a statement or a comment; with its lines, if nothing else stands there.
    pub(crate) fn removal(self, span: Span) -> Edit {
        let text = self.text;
        // A line comment ends where the line does, but not with it.
        let is_windows = span.of(text).ends_with(b"\r");
        let span = Span::new(span.start, span.end - u32::from(is_windows));
        let start = line_start(text, span.start);
        let end = next_line(text, span.end);
        let before = Span::new(start, span.start);
        let after = Span::new(span.end, end);
        match (is_blank(before.of(text)), is_blank(after.of(text))) {
            (true, true) => Edit::delete(with_blank_line(text, Span::new(start, end))),
            // What follows on the line moves to its place.
            (_, false) => {
                let rest = after.of(text);
                let blanks = rest.len() - rest.trim_ascii_start().len();
                Edit::delete(Span::new(span.start, span.end + blanks as u32))
            }
            (false, true) => {
                let kept = before.of(text).trim_ascii_end().len();
                Edit::delete(Span::new(start + kept as u32, span.end))
            }
        }
    }

    /// Adds statements behind one that ends at an offset: each on a line of its own, if it had one.
    pub(crate) fn addition_after(self, end: u32, indent: &str, statements: &[String]) -> Edit {
        let newline = self.newline();
        // A line comment has the first half of the end of its line.
        let is_windows = Span::new(0, end).of(self.text).ends_with(b"\r");
        let end = end - u32::from(is_windows);
        match self.end_of_own_line(end) {
            Some(at) => {
                let lines = statements.iter().map(|it| format!("{newline}{indent}{it}"));
                Edit::insert(at, lines.collect::<String>())
            }
            None => {
                let words = statements.iter().map(|it| format!(" {it}"));
                Edit::insert(end, words.collect::<String>())
            }
        }
    }

    /// Adds a statement before one that starts at an offset.
    pub(crate) fn addition_before(self, start: u32, statement: &str) -> Edit {
        let gap = match self.begins_line(start) {
            true => format!("{}{}", self.newline(), self.indent(start)),
            false => " ".to_owned(),
        };
        Edit::insert(start, format!("{statement}{gap}"))
    }

    /// The end of the `{` of a declaration, with the comment behind it.
    pub(crate) fn end_of_head(self, node: Node) -> Option<u32> {
        let body = self.ast.body_of(self.ast.decls.get(node.0 as usize)?)?;
        let trailing = self.file.decl().comments(node).trailing;
        Some(trailing.map_or(body.start + 1, |it| it.span.end))
    }

    /// The end of a statement, with the comment behind it.
    pub(crate) fn end_of_statement(self, id: DeclId) -> Option<u32> {
        let end = self.ast.decls.get(id as usize)?.span.end;
        let trailing = self.file.decl().comments(Node(id)).trailing;
        Some(trailing.map_or(end, |it| it.span.end))
    }
}

/// Of lines that are removed, also the blank line below them, if one stands above them.
pub(crate) fn with_blank_line(text: &[u8], lines: Span) -> Span {
    let above = match lines.start.checked_sub(1) {
        Some(end) => is_blank(Span::new(line_start(text, end), end).of(text)),
        None => true,
    };
    let below = Span::new(lines.end, next_line(text, lines.end));
    let is_whole = line_start(text, lines.start) == lines.start
        && (lines.end as usize == text.len() || line_start(text, lines.end) == lines.end);
    match is_whole && above && !below.is_empty() && is_blank(below.of(text)) {
        true => Span::new(lines.start, below.end),
        false => lines,
    }
}

/// Returns where the line of an offset starts.
fn line_start(text: &[u8], offset: u32) -> u32 {
    memrchr(b'\n', Span::new(0, offset).of(text)).map_or(0, |at| at as u32 + 1)
}

/// Returns where the line after that of an offset starts.
fn next_line(text: &[u8], offset: u32) -> u32 {
    let rest = Span::new(offset, text.len() as u32).of(text);
    memchr(b'\n', rest).map_or(text.len() as u32, |at| offset + at as u32 + 1)
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}
