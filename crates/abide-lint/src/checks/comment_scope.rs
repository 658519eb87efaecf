//! Comments of a text, and what each of them covers.

use abide_syntax::{Ast, Comment, Decl, DeclKind, Lexer, Span, TokenKind, find_comments};
use rustc_hash::FxHashMap;

/// The text that marks a comment as a waiver.
pub(crate) const MARKER: &str = "abide:allow";
/// The text that marks a comment as one of buf's.
pub(crate) const BUF_MARKER: &str = "buf:lint:ignore";

/// The part of a file that a comment covers.
#[derive(Clone, Copy)]
pub(crate) enum Covers {
    File,
    Span(Span),
}

/// Every comment of a text with the end of the token before it.
pub(crate) fn collect_comments(text: &[u8]) -> Vec<(Comment, u32)> {
    let mut lexer = Lexer::new(text, 0);
    let mut comments = Vec::new();
    let mut gap = 0;
    loop {
        let token = lexer.next_token();
        let between = Span::new(gap, token.span.start);
        comments.extend(find_comments(text, between).map(|comment| (comment, gap)));
        if token.kind == TokenKind::End {
            return comments;
        }
        gap = token.span.end;
    }
}

/// The lines of a comment without its comment marks and surrounding space.
pub(crate) fn split_lines(text: &[u8], comment: Span) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut start = comment.start as usize;
    for line in comment.of(text).split_inclusive(|&byte| byte == b'\n') {
        let marks = |byte: &u8| matches!(byte, b'/' | b'*') || byte.is_ascii_whitespace();
        let first = line.iter().position(|byte| !marks(byte)).unwrap_or(line.len());
        let last = line.iter().rposition(|byte| !marks(byte)).map_or(first, |at| at + 1);
        lines.push(Span::new((start + first) as u32, (start + last) as u32));
        start += line.len();
    }
    lines
}

/// The statements of a file, to find those around a comment.
pub(crate) struct CommentScopes<'a> {
    ast: &'a Ast,
    text: &'a [u8],
    /// By declaration: the one that it is in.
    holders: Vec<Option<usize>>,
    /// By the end of a declaration: the innermost that ends there.
    by_end: FxHashMap<u32, usize>,
}

impl<'a> CommentScopes<'a> {
    pub(crate) fn of(ast: &'a Ast, text: &'a [u8]) -> CommentScopes<'a> {
        debug_assert!(ast.decls.is_sorted_by_key(|it| it.span.start), "they are in pre-order");
        let mut holders = Vec::with_capacity(ast.decls.len());
        let mut by_end = FxHashMap::default();
        // Declarations come before those in them.
        let mut open: Vec<(usize, Span)> = Vec::new();
        for (index, decl) in ast.decls.iter().enumerate() {
            while open.pop_if(|(_, span)| span.end <= decl.span.start).is_some() {}
            holders.push(open.last().map(|(holder, _)| *holder));
            open.push((index, decl.span));
            by_end.insert(decl.span.end, index);
        }
        CommentScopes { ast, text, holders, by_end }
    }

    /// Returns what a comment covers: the statement before it on its line, or below it.
    pub(crate) fn find_covered(&self, comment: Comment, token_end: u32) -> Covers {
        let before = Span::new(token_end, comment.span.start).of(self.text);
        let decl = if token_end > 0 && !before.contains(&b'\n') {
            let behind = self.by_end.get(&token_end).and_then(|it| self.ast.decls.get(*it));
            behind.or_else(|| self.holder(comment))
        } else {
            let holder = self.holder(comment);
            let is_inside =
                |next: &&Decl| holder.is_none_or(|holder| next.span.end <= holder.span.end);
            self.next(comment).filter(is_inside).or(holder)
        };
        match decl {
            Some(decl) => match decl.kind {
                DeclKind::Syntax { .. } | DeclKind::Package { .. } => Covers::File,
                _ => Covers::Span(decl.span),
            },
            None => Covers::File,
        }
    }

    /// Returns what a comment of buf covers. Above `syntax` or `package` that is the statement
    /// alone if settings follow the rule of buf, which then reports each file at that statement.
    pub(crate) fn find_covered_for_buf(
        &self,
        comment: Comment,
        covers: Covers,
        follows: bool,
    ) -> Covers {
        match (covers, self.next(comment)) {
            (Covers::File, Some(next)) if follows => Covers::Span(next.span),
            _ => covers,
        }
    }

    /// The first line of the statement below a comment: up to its body or its end.
    pub(crate) fn head_below(&self, comment: Comment) -> Option<Span> {
        let Span { start, end } = self.next(comment)?.span;
        let head = Span::new(start, end).of(self.text).iter();
        let length = head.take_while(|byte| !matches!(byte, b'{' | b';')).count();
        Some(Span::new(start, start + length as u32))
    }

    /// The line in front of a comment.
    pub(crate) fn line_before(&self, comment: Comment) -> Span {
        let before = Span::new(0, comment.span.start).of(self.text);
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Span::new(line as u32, comment.span.start)
    }

    /// Returns true if protoc would treat the comment as leading: alone on its lines, and
    /// without a blank line before the statement.
    pub(crate) fn leads(&self, comment: Comment, token_end: u32) -> bool {
        let before = Span::new(token_end, comment.span.start).of(self.text);
        let Some(next) = self.next(comment) else { return false };
        let after = Span::new(comment.span.end, next.span.start).str(self.text);
        let inner = after.split_once('\n').and_then(|(_, rest)| rest.rsplit_once('\n'));
        let blank =
            inner.is_some_and(|(lines, _)| lines.split('\n').any(|it| it.trim().is_empty()));
        (token_end == 0 || before.contains(&b'\n')) && !blank
    }

    /// The innermost declaration around a comment.
    fn holder(&self, comment: Comment) -> Option<&'a Decl> {
        let Span { start, end, .. } = comment.span;
        let before = self.ast.decls.partition_point(|it| it.span.start < start);
        let mut at = before.checked_sub(1);
        while let Some(index) = at {
            let decl = self.ast.decls.get(index)?;
            if end < decl.span.end {
                return Some(decl);
            }
            at = self.holders.get(index).copied().flatten();
        }
        None
    }

    /// The first declaration after a comment.
    fn next(&self, comment: Comment) -> Option<&'a Decl> {
        let after = self.ast.decls.partition_point(|it| it.span.start < comment.span.end);
        self.ast.decls.get(after)
    }
}
