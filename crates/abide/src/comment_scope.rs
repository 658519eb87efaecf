//! Comments of a text, and what each of them covers.

use abide_syntax::{Ast, Comment, DeclKind, Lexer, Span, TokenKind, comments_between};

/// The part of a file that a comment covers.
#[derive(Clone, Copy)]
pub(crate) enum Covers {
    File,
    Span(Span),
}

/// Every comment of a text with the end of the token before it.
pub(crate) fn comments(text: &[u8]) -> Vec<(Comment, u32)> {
    let mut lexer = Lexer::new(text, 0);
    let mut comments = Vec::new();
    let mut gap = 0;
    loop {
        let token = lexer.next_token();
        let between = Span::new(gap, token.span.start);
        comments.extend(comments_between(text, between).map(|comment| (comment, gap)));
        if token.kind == TokenKind::End {
            return comments;
        }
        gap = token.span.end;
    }
}

/// The lines of a comment without its comment marks and surrounding space.
pub(crate) fn lines(text: &[u8], comment: Span) -> Vec<Span> {
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

/// What a comment covers: the statement before it on its line, or below it.
pub(crate) fn covered(ast: &Ast, text: &[u8], comment: Comment, token_end: u32) -> Covers {
    let behind =
        token_end > 0 && !Span::new(token_end, comment.span.start).of(text).contains(&b'\n');
    let holder = ast
        .decls
        .iter()
        .rev()
        .find(|it| it.span.start < comment.span.start && comment.span.end < it.span.end);
    let decl = if behind {
        ast.decls.iter().rev().find(|it| it.span.end == token_end).or(holder)
    } else {
        let next = ast.decls.iter().find(|it| it.span.start >= comment.span.end);
        next.filter(|next| holder.is_none_or(|holder| next.span.end <= holder.span.end)).or(holder)
    };
    match decl {
        Some(decl) => match decl.kind {
            DeclKind::Syntax { .. } | DeclKind::Package { .. } => Covers::File,
            _ => Covers::Span(decl.span),
        },
        None => Covers::File,
    }
}

/// Whether protoc would treat the comment as leading: alone on its lines, and
/// without a blank line before the statement.
pub(crate) fn leads(ast: &Ast, text: &[u8], comment: Comment, token_end: u32) -> bool {
    let before = Span::new(token_end, comment.span.start).of(text);
    let next = ast.decls.iter().find(|it| it.span.start >= comment.span.end);
    let Some(next) = next else { return false };
    let after = Span::new(comment.span.end, next.span.start).str(text);
    let inner = after.split_once('\n').and_then(|(_, rest)| rest.rsplit_once('\n'));
    let blank = inner.is_some_and(|(lines, _)| lines.split('\n').any(|it| it.trim().is_empty()));
    (token_end == 0 || before.contains(&b'\n')) && !blank
}
