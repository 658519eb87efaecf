//! The canonical layout of a file: only the syntax tree decides its white space.
//!
//! A level is two columns, and a line breaks before it gets too wide. There is a
//! blank line between declarations, but not between options, imports of one
//! block, and values of an enum without comments. Imports are sorted within their
//! blocks, and `reserved` statements without comments are joined. Everything else
//! keeps its order. By protoc's rules each comment still belongs to the same
//! element, so descriptors keep their comments.

mod groups;
mod order;
mod source_text;

use abide_syntax::{CommentBlock, DeclId, DeclKind, Span, parse};

use self::groups::{DocItem, ValueDoc};
use self::order::CommentedStatement;
use self::source_text::SourceText;
use super::lines::{MAX_LINE_WIDTH, has_windows_line_ends, to_windows_line_ends};

/// The indentation of continuation lines.
const CONTINUED: usize = 4;

/// The indentation inside braces.
const LEVEL: usize = 2;

/// A text in the canonical layout. Any layout of the same text gives the same
/// result. `None` if the text has syntax errors.
pub fn format_canonically(text: &[u8]) -> Option<Vec<u8>> {
    let is_windows = has_windows_line_ends(text);
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (ast, errors) = parse(text.as_bytes());
    if !errors.is_empty() {
        return None;
    }
    let mut printer = LayoutPrinter {
        source: SourceText { text: &text, ast: &ast },
        out: String::with_capacity(text.len()),
    };
    printer.print_body(None, 0);
    let made = printer.out.into_bytes();
    Some(if is_windows { to_windows_line_ends(&made) } else { made })
}

struct LayoutPrinter<'t> {
    source: SourceText<'t>,
    out: String,
}

impl LayoutPrinter<'_> {
    /// Prints the body of a declaration, or the whole file.
    fn print_body(&mut self, parent: Option<DeclId>, indent: usize) {
        let (opening, statements, closing) = self.source.collect_statements(parent);
        if let Some(run) = opening {
            self.print_trailing_comment(run, indent);
        }
        let is_value = |it: &CommentedStatement| {
            matches!(self.source.ast.decls[it.id as usize].kind, DeclKind::EnumValue { .. })
        };
        let roomy = statements.iter().any(|it| is_value(it) && it.is_headed());
        let mut before: Option<&CommentedStatement> = None;
        for statement in &statements {
            let blank = match before {
                None => opening.is_some() || !statement.detached.is_empty(),
                Some(before) => {
                    statement.is_headed()
                        || before.trailing.is_some_and(|run| self.source.is_tall(run))
                        || !self.is_adjacent(before, statement)
                        || roomy && is_value(statement)
                }
            };
            if blank && !self.out.is_empty() {
                self.start_line();
            }
            self.print_statement(statement, indent);
            before = Some(statement);
        }
        for run in closing {
            if !self.out.is_empty() {
                self.start_line();
            }
            self.print_comment(run.span, indent);
            self.start_line();
        }
    }

    /// Returns true if two declarations have no blank line between them by default.
    fn is_adjacent(&self, before: &CommentedStatement, statement: &CommentedStatement) -> bool {
        let kind = |it: &CommentedStatement| self.source.ast.decls[it.id as usize].kind;
        match (kind(before), kind(statement)) {
            (DeclKind::Import { .. }, DeclKind::Import { .. }) => !statement.has_blank_line_before,
            (DeclKind::Option(_), DeclKind::Option(_))
            | (DeclKind::EnumValue { .. }, DeclKind::EnumValue { .. }) => true,
            _ => false,
        }
    }

    fn print_statement(&mut self, statement: &CommentedStatement, indent: usize) {
        for run in &statement.detached {
            self.print_comment(run.span, indent);
            self.out.push_str("\n\n");
        }
        if let Some(run) = statement.leading {
            self.print_comment(run.span, indent);
            self.start_line();
        }
        let decl = self.source.ast.decls[statement.id as usize];
        let body = self.source.ast.body_of(&decl);
        let end = body.map_or(decl.span.end.saturating_sub(1), |body| body.start);
        let (head, value, rest) = self.source.split_parts(statement.id, end);
        let mut words = self.source.split_words(head);
        for id in &statement.joined {
            let decl = self.source.ast.decls[*id as usize];
            if let Some(last) = words.last_mut() {
                last.push(',');
            }
            let more = self
                .source
                .split_words(Span::new(decl.span.start, decl.span.end.saturating_sub(1)));
            words.extend(more.into_iter().skip(1));
        }
        self.write_indent(indent);
        self.print_words_within(&words, indent, if body.is_some() { 2 } else { 1 });
        let mut comments = self.source.find_comments(head);
        comments.extend(self.source.find_comments(rest));
        for comment in comments {
            // A comment in an unexpected place is not moved far.
            self.write_space();
            self.out.push_str(comment.str(self.source.text.as_bytes()));
            if comment.str(self.source.text.as_bytes()).starts_with("//") {
                self.start_line();
                self.write_indent(indent + CONTINUED);
            }
        }
        if let Some(value) = value {
            self.write_space();
            self.print_value(&value, indent, if body.is_some() { 2 } else { 1 });
        }
        if body.is_none() {
            self.out.push(';');
        } else {
            self.write_space();
            self.out.push('{');
            let start = self.out.len();
            self.start_line();
            self.print_body(Some(statement.id), indent + LEVEL);
            if self.out.len() == start + 1 {
                self.out.truncate(start);
            } else {
                self.write_indent(indent);
            }
            self.out.push('}');
        }
        self.start_line();
        if let Some(run) = statement.trailing {
            self.print_trailing_comment(run, indent);
        }
    }

    /// Prints a value on the current line, if it fits with `tail` columns after it,
    /// or on its own lines.
    fn print_value(&mut self, doc: &ValueDoc, indent: usize, tail: usize) {
        if let Some(flat) = doc.render_flat() {
            let breaks = match doc {
                ValueDoc::Word(_) => false,
                ValueDoc::Literals(items) | ValueDoc::Group { items, .. } => !items.is_empty(),
            };
            if !breaks || self.count_columns() + flat.chars().count() + tail <= MAX_LINE_WIDTH {
                self.out.push_str(&flat);
                return;
            }
        }
        match doc {
            ValueDoc::Word(word) => self.out.push_str(word),
            ValueDoc::Literals(items) => {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                let alone = self.out.ends_with('\n');
                let indent = if alone { indent } else { indent + CONTINUED };
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || !alone {
                        self.start_line();
                    }
                    self.print_item(item, indent, "");
                }
            }
            ValueDoc::Group { marks: (open, close), commas, items, rest } => {
                self.out.push(*open);
                self.start_line();
                for (at, item) in items.iter().enumerate() {
                    let comma = if *commas && at + 1 < items.len() { "," } else { "" };
                    self.print_item(item, indent + LEVEL, comma);
                    self.start_line();
                }
                for comment in rest {
                    self.print_comment(*comment, indent + LEVEL);
                    self.start_line();
                }
                self.write_indent(indent);
                self.out.push(*close);
            }
        }
    }

    /// Prints an item on its own lines.
    fn print_item(&mut self, item: &DocItem, indent: usize, comma: &str) {
        for comment in &item.before {
            self.print_comment(*comment, indent);
            self.start_line();
        }
        self.write_indent(indent);
        self.out.push_str(&item.name);
        self.print_value(&item.value, indent, comma.len());
        self.out.push_str(comma);
        for comment in &item.after {
            self.write_space();
            self.out.push_str(comment.str(self.source.text.as_bytes()));
        }
    }

    /// Prints words, on several lines if one is too short.
    fn print_words_within(&mut self, words: &[String], indent: usize, tail: usize) {
        let length: usize = words.iter().map(|it| it.chars().count() + 1).sum();
        let fits = self.count_columns() + length.saturating_sub(1) + tail <= MAX_LINE_WIDTH;
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                let may_break = word == "returns" || words[at - 1].ends_with(',');
                if !fits
                    && may_break
                    && self.count_columns() + 1 + word.chars().count() + tail > MAX_LINE_WIDTH
                    || !fits && word == "returns"
                {
                    self.start_line();
                    self.write_indent(indent + CONTINUED);
                } else {
                    self.write_space();
                }
            }
            self.out.push_str(word);
        }
    }

    /// Prints a comment that belongs to the line before.
    fn print_trailing_comment(&mut self, run: CommentBlock, indent: usize) {
        if self.source.is_tall(run) {
            self.print_comment(run.span, indent);
        } else {
            self.out.truncate(self.out.trim_end_matches('\n').len());
            self.write_space();
            self.out.push_str(run.span.str(self.source.text.as_bytes()));
        }
        self.start_line();
    }

    /// Prints a comment on its own lines, with its new indentation.
    fn print_comment(&mut self, span: Span, indent: usize) {
        let comment = span.str(self.source.text.as_bytes());
        let is_block = comment.starts_with("/*");
        let start = span.start as usize;
        let line = self.source.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let column = self.source.text[line..start].chars().count();
        for (at, line) in comment.split('\n').enumerate() {
            if at > 0 {
                self.start_line();
            }
            let bare = line.trim_start_matches([' ', '\t']);
            let own = match is_block && at > 0 {
                true if bare.is_empty() => 0,
                true => (line.len() - bare.len() + indent).saturating_sub(column),
                false => indent,
            };
            self.write_indent(own);
            self.out.push_str(bare);
        }
    }

    fn start_line(&mut self) {
        self.out.push('\n');
    }

    fn write_indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// Prints a space, unless a line begins here.
    fn write_space(&mut self) {
        if !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    fn count_columns(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].chars().count()
    }
}
