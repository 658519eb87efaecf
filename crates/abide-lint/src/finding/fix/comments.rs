//! Fixes of comments.

use abide_schema::File;
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::source_text::SourceText;
use super::{Applied, Fix};

/// Removes a comment for one of its lines. If it may say more, a person decides.
pub(crate) fn without_comment_line(file: File<'_>, line: Span, comment: Span) -> Option<Fix> {
    let source = SourceText::of(file)?;
    let whole = comment.str(source.text);
    let says_more = match whole.starts_with("/*") {
        true => whole.contains('\n'),
        false => source.begins_line(comment.start) && goes_on(source, comment),
    };
    let span = if whole.contains('\n') { line } else { comment };
    let fix = Fix::of_file(file, "remove the comment", [source.removal(span)]);
    Some(if says_more { fix.applied(Applied::Never) } else { fix })
}

/// Adds a comment on a line of its own above the statement around an offset.
pub(crate) fn with_comment_above(
    file: File<'_>,
    offset: u32,
    words: &str,
    title: String,
) -> Option<Fix> {
    let source = SourceText::of(file)?;
    let covers = |it: Span| it.start <= offset && offset < it.end.max(it.start + 1);
    let around = source.ast.decls.iter().rfind(|it| covers(it.span));
    let start = around.map_or(offset, |it| it.span.start);
    let before = Span::new(0, start).of(source.text);
    let line = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it as u32 + 1);
    let comment = format!("{}// {words}{}", source.indent(start), source.newline());
    Some(Fix::of_file(file, title, [Edit::insert(line, comment)]))
}

/// Returns true if the next line may be the rest of the sentence of a line comment.
fn goes_on(source: SourceText<'_>, comment: Span) -> bool {
    let rest = Span::new(comment.end, source.text.len() as u32).str(source.text);
    let next = rest.lines().nth(1).map_or("", str::trim_start);
    let Some(words) = next.strip_prefix("//") else { return false };
    let words = words.trim_start_matches('/').trim();
    let is_mark = words.split(['(', ' ']).next().is_some_and(|it| it.contains(':'));
    !words.is_empty() && !is_mark && !words.starts_with(['@', '['])
}
