//! The statements of a file or a body, and the comments between them.
//!
//! protoc gives each comment between two statements to one of them, or to neither. It decides by
//! the lines, so a line that goes, or a statement that moves, could turn a title into documentation.
//! Here every comment stays with whom it belongs to: lines and empty lines are those of the text,
//! and where the layout changes them, an empty line stands where protoc needs one.

use abide_syntax::{
    CommentBlock, CommentGap, DeclId, DeclKind, Span, find_comments, skip_byte_order_mark,
};

use crate::printer::{LinesBefore, Printer};

/// A statement, with the comments that go where it goes.
pub(crate) struct CommentedStatement {
    pub id: DeclId,
    /// The statement before it in the text.
    pub previous: Option<DeclId>,
    /// The comments before it.
    pub own: LeadingComments,
    /// The comment behind it that is about it.
    pub trailing: Option<CommentBlock>,
}

/// Comments before a statement, or before the end of a body.
#[derive(Default)]
pub(crate) struct LeadingComments {
    /// The start of the text that moves with them, behind the comment about the statement before.
    pub start: u32,
    /// The comments about nothing.
    pub detached: Vec<CommentBlock>,
    /// The comment about the statement.
    leading: Option<CommentBlock>,
}

/// The statements of a file or a body, in the order of the text.
pub(crate) struct CommentedBody {
    /// The comment behind the opening brace that is about the declaration.
    opening: Option<CommentBlock>,
    pub statements: Vec<CommentedStatement>,
    /// The comments behind all statements.
    pub closing: LeadingComments,
}

/// The last thing written between two statements.
#[derive(Clone, Copy)]
enum LastWritten {
    /// A token, or nothing yet.
    Token,
    /// The comment about a statement, on its line.
    OnItsLine,
    /// Comments on lines of their own, maybe about the statement that follows.
    Lines { run: CommentBlock, leading: bool },
}

impl LastWritten {
    /// Returns true if an empty line has to follow, before comments or before the next statement.
    /// Without it protoc would read comments together that are apart, or give them to another
    /// statement.
    fn needs_empty_line(self, next: Option<(CommentBlock, bool)>) -> bool {
        match (self, next) {
            (LastWritten::Token, Some((_, leading))) => !leading,
            (LastWritten::Token | LastWritten::OnItsLine, _) => false,
            (LastWritten::Lines { run, .. }, Some((next, _))) => !run.block && !next.block,
            (LastWritten::Lines { leading, .. }, None) => !leading,
        }
    }
}

impl Printer<'_> {
    /// Writes the body of a declaration, from its brace on.
    pub(crate) fn write_body(&mut self, id: DeclId) {
        self.token(true);
        let start = self.at;
        let end = self.ast.decls[id as usize].span.end - 1;
        let body = self.collect_body(Some(id));
        if body.statements.is_empty() && self.count_line_ends(start, end) == 0 {
            for comment in self.comments_until(end) {
                self.push(b" ");
                self.write_comment(comment);
                self.at = comment.span.end;
            }
            if self.at > start {
                self.push(b" ");
            }
        } else {
            self.deeper(|it| it.write_body_lines(&body, end));
            if self.at > start {
                self.start_line(false);
            }
        }
        self.push(b"}");
        self.at = end + 1;
    }

    fn write_body_lines(&mut self, body: &CommentedBody, end: u32) {
        let mut trailing = body.opening;
        let mut before = LinesBefore::Nothing;
        for statement in &body.statements {
            let line_end = self.find_end_of_line(self.start(statement));
            self.next_statement(trailing, line_end, statement, before);
            trailing = statement.trailing;
            before = LinesBefore::AsWritten;
        }
        // What is alone in a body gets a line of its own.
        let is_alone = body.statements.is_empty() && body.closing.detached.is_empty();
        let line_end = if is_alone { self.at } else { self.find_end_of_line(end) };
        self.write_comments_between(trailing, line_end, &body.closing, before);
    }

    /// Returns the start of a statement in the text.
    pub(crate) fn start(&self, statement: &CommentedStatement) -> u32 {
        self.ast.decls[statement.id as usize].span.start
    }

    /// Writes a statement on a line of its own, after the comment about what is written and its own.
    pub(crate) fn next_statement(
        &mut self,
        trailing: Option<CommentBlock>,
        line_end: u32,
        statement: &CommentedStatement,
        before: LinesBefore,
    ) {
        let (needed, before) =
            self.write_comments_between(trailing, line_end, &statement.own, before);
        let start = self.start(statement);
        self.start_line(needed || self.needs_empty_line(before, start));
        self.at = start;
        self.write_statement(statement.id);
    }

    /// Writes the comment about what is written, and those before what follows. All that end at
    /// `line_end` or before stay on the line, if the first of them is about it. Returns whether an
    /// empty line has to follow, and what stands there otherwise.
    pub(crate) fn write_comments_between(
        &mut self,
        trailing: Option<CommentBlock>,
        line_end: u32,
        own: &LeadingComments,
        mut before: LinesBefore,
    ) -> (bool, LinesBefore) {
        let mut last = LastWritten::Token;
        let line = Span::new(self.at, trailing.map_or(self.at, |_| line_end));
        if let Some(run) = trailing {
            let stays = run.span.end <= line_end;
            self.run(run, line, false);
            last = if stays {
                LastWritten::OnItsLine
            } else {
                LastWritten::Lines { run, leading: false }
            };
        }
        self.at = own.start;
        let detached = own.detached.iter().map(|&run| (run, false));
        for (run, leading) in detached.chain(own.leading.map(|run| (run, true))) {
            let needed = last.needs_empty_line(Some((run, leading)));
            let empty_line = needed || self.needs_empty_line(before, run.span.start);
            self.run(run, line, empty_line);
            last = LastWritten::Lines { run, leading };
            before = LinesBefore::AsWritten;
        }
        (last.needs_empty_line(None), before)
    }

    /// Writes comments: those in `line` on the line that is written, the others on lines of their
    /// own.
    fn run(&mut self, run: CommentBlock, line: Span, empty_line: bool) {
        let mut empty_line = empty_line;
        for comment in find_comments(self.text, run.span) {
            if line.start <= comment.span.start && comment.span.end <= line.end {
                self.push(b" ");
            } else {
                self.start_line(std::mem::take(&mut empty_line));
            }
            self.write_comment(comment);
            self.at = comment.span.end;
        }
    }

    /// Finds the end of the comments that share the line with what is written, if nothing else does
    /// up to `next`.
    pub(crate) fn find_end_of_line(&self, next: u32) -> u32 {
        let mut end = self.at;
        for comment in self.comments_until(next) {
            if self.count_line_ends(end, comment.span.start) > 0 {
                return end;
            }
            end = comment.span.end;
        }
        let is_whole = self.count_line_ends(end, next) > 0 || next as usize == self.text.len();
        if is_whole { end } else { self.at }
    }

    /// The statements of a body, or of the file, with the comments of each.
    ///
    /// Lone semicolons are left out. One stays that has a comment, which would be about something
    /// else without it; behind a `}` it would not.
    pub(crate) fn collect_body(&self, parent: Option<DeclId>) -> CommentedBody {
        let decl = |id: DeclId| &self.ast.decls[id as usize];
        let (start, mut gap) = match parent.and_then(|id| self.ast.body_of(decl(id))) {
            Some(body) => (body.start + 1, CommentGap::read_after(self.text, body.start + 1)),
            None => (
                skip_byte_order_mark(self.text),
                CommentGap::read_at_start(self.text, skip_byte_order_mark(self.text)),
            ),
        };
        let own = LeadingComments { start, ..LeadingComments::default() };
        let mut body = CommentedBody { opening: None, statements: Vec::new(), closing: own };
        for id in self.ast.children_of(parent) {
            let leading = gap.leading;
            body.add(gap);
            gap = CommentGap::read_after(self.text, decl(id).span.end);
            let is_empty = matches!(decl(id).kind, DeclKind::Empty);
            let takes_comments = || {
                let last = body.statements.last();
                let is_free = |it: &CommentedStatement| it.trailing.is_none();
                let ends_body = |it: &CommentedStatement| self.ast.body_of(decl(it.id)).is_some();
                body.closing.detached.is_empty()
                    && last.is_some_and(|it| is_free(it) && ends_body(it))
            };
            if is_empty && leading.is_none() && (gap.trailing.is_none() || takes_comments()) {
                continue;
            }
            let own = LeadingComments { start: decl(id).span.end, ..LeadingComments::default() };
            let own = LeadingComments { leading, ..std::mem::replace(&mut body.closing, own) };
            let previous = body.statements.last().map(|it| it.id);
            body.statements.push(CommentedStatement { id, previous, own, trailing: None });
        }
        body.add(gap);
        body
    }
}

impl CommentedBody {
    /// Adds the comments behind the last statement, but for those about the next.
    fn add(&mut self, gap: CommentGap) {
        if let Some(run) = gap.trailing {
            match self.statements.last_mut() {
                Some(last) => last.trailing = Some(run),
                None => self.opening = Some(run),
            }
            self.closing.start = run.span.end;
        }
        self.closing.detached.extend(gap.detached);
    }
}
