//! Edits of a text: what a change is made of when comments, order and layout
//! of everything else must stay as they are.

use abide_syntax::{Lexer, Span, TokenKind, find_comments, skip_byte_order_mark};

/// A part of a text, and what stands there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go; empty for an insertion.
    pub span: Span,
    /// The new text in their place.
    pub text: String,
}

impl Edit {
    /// Puts `text` in the place of `span`.
    pub fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    /// Puts `text` before the byte at `offset`.
    pub fn insert(offset: u32, text: impl Into<String>) -> Edit {
        Edit::replace(Span::at(offset), text)
    }

    /// Takes `span` out.
    pub fn delete(span: Span) -> Edit {
        Edit::replace(span, "")
    }
}

/// Two edits that claim the same bytes, so that neither can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap(pub Edit, pub Edit);

/// Makes all edits at once; their spans count in the text as it was.
///
/// Insertions at one place come in the order in which they are given, before
/// what replaces the bytes that follow. An edit inside of a larger one goes
/// with the bytes that it was to change; what is inserted at the edges of a
/// deletion stays. Deletions that overlap are one.
pub fn apply(text: &[u8], mut edits: Vec<Edit>) -> Result<Vec<u8>, Overlap> {
    // At one place insertions come first, then the largest replacement.
    edits.sort_by_key(|edit| {
        let length = edit.span.end - edit.span.start;
        (edit.span.start, if length == 0 { 0 } else { u32::MAX - length })
    });
    let mut out = Vec::with_capacity(text.len() + 1024);
    let mut last: Option<Edit> = None;
    let mut at = 0;
    for edit in edits {
        let span = edit.span;
        if let Some(before) = &last
            && span.start < before.span.end
        {
            if span.end <= before.span.end {
                continue;
            }
            if before.text.is_empty() && edit.text.is_empty() {
                at = span.end;
                last = Some(Edit::delete(Span::new(before.span.start, span.end)));
                continue;
            }
            return Err(Overlap(before.clone(), edit));
        }
        out.extend_from_slice(Span::new(at, span.start).of(text));
        out.extend_from_slice(edit.text.as_bytes());
        at = span.end;
        if !span.is_empty() {
            last = Some(edit);
        }
    }
    out.extend_from_slice(text.get(at as usize..).unwrap_or_default());
    Ok(out)
}

/// Makes all edits of a proto file at once, as [`apply`] does. What comes behind a comment of one
/// line begins a line, or it would be part of the comment.
pub(crate) fn apply_to_proto(text: &[u8], mut edits: Vec<Edit>) -> Result<Vec<u8>, Overlap> {
    let comments = find_line_comments(text);
    for edit in &mut edits {
        let before = comments.partition_point(|it| it.start < edit.span.start);
        let Some(comment) = before.checked_sub(1).map(|at| comments[at]) else { continue };
        let is_behind = match edit.span.is_empty() {
            true => edit.span.start == comment.end && !edit.text.is_empty(),
            false => edit.span.start <= comment.end && comment.end < edit.span.end,
        };
        let rest = text.get(edit.span.end as usize..).unwrap_or_default();
        let next = edit.text.as_bytes().first().or(rest.first());
        if is_behind && next.is_some_and(|it| !matches!(it, b'\n' | b'\r')) {
            edit.text.insert(0, '\n');
        }
    }
    apply(text, edits)
}

/// The `//` comments of a text.
fn find_line_comments(text: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut lexer = Lexer::new(text, skip_byte_order_mark(text));
    let mut at = skip_byte_order_mark(text);
    loop {
        let token = lexer.next_token();
        let comments = find_comments(text, Span::new(at, token.span.start));
        found.extend(comments.filter(|it| !it.block).map(|it| it.span));
        at = token.span.end;
        if token.kind == TokenKind::End {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `apply` means, byte by byte: which edit owns a byte, and what is
    /// inserted before it.
    fn slowly(text: &[u8], edits: &[Edit]) -> Vec<u8> {
        let inside = |inner: &Edit, outer: &Edit| {
            let (inner, outer) = (inner.span, outer.span);
            inner != outer
                && outer.start <= inner.start
                && inner.end <= outer.end
                && (!inner.is_empty() || (outer.start < inner.start && inner.start < outer.end))
        };
        let kept = |edit: &&Edit| !edits.iter().any(|other| inside(edit, other));
        let mut out = Vec::new();
        for offset in 0..=text.len() as u32 {
            for edit in edits.iter().filter(kept).filter(|it| it.span == Span::at(offset)) {
                out.extend_from_slice(edit.text.as_bytes());
            }
            let begins = |it: &&Edit| !it.span.is_empty() && it.span.start == offset;
            for edit in edits.iter().filter(kept).filter(begins) {
                out.extend_from_slice(edit.text.as_bytes());
            }
            let owned = |it: &Edit| it.span.start <= offset && offset < it.span.end;
            if !edits.iter().filter(kept).any(owned) {
                out.extend(text.get(offset as usize));
            }
        }
        out
    }

    /// Every set of up to three edits over a short text that do not clash.
    #[test]
    fn edits_are_made_as_if_one_by_one() {
        let text = b"abcd";
        let mut spans = Vec::new();
        for start in 0..=4 {
            spans.extend((start..=4).map(|end| Span::new(start, end)));
        }
        let mut tried = 0;
        for &a in &spans {
            for &b in &spans {
                for &c in &spans {
                    let edits: Vec<Edit> = [(a, "X"), (b, "Y"), (c, "Z")]
                        .map(|(span, text)| Edit::replace(span, text))
                        .to_vec();
                    let twice = |a: Span, b: Span| a == b && !a.is_empty();
                    if twice(a, b) || twice(b, c) || twice(a, c) {
                        continue;
                    }
                    if let Ok(made) = apply(text, edits.clone()) {
                        assert_eq!(made, slowly(text, &edits), "{edits:?}");
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 1000, "only {tried} sets of edits were tried");
    }

    #[test]
    fn edits_that_claim_the_same_bytes_are_refused() {
        let (a, b) = (Edit::delete(Span::new(0, 2)), Edit::replace(Span::new(1, 3), "X"));
        assert_eq!(apply(b"abcd", vec![b.clone(), a.clone()]), Err(Overlap(a, b)));
    }

    #[test]
    fn deletions_that_overlap_are_one() {
        let cuts = [(2, 4), (0, 2), (1, 3)].map(|(from, to)| Edit::delete(Span::new(from, to)));
        let edits = [&cuts[..], &[Edit::insert(4, ">")]].concat();
        assert_eq!(apply(b"abcde", edits).as_deref(), Ok(&b">e"[..]));
    }

    #[test]
    fn an_insertion_at_an_edge_stays() {
        let edits = vec![
            Edit::insert(1, "<"),
            Edit::delete(Span::new(1, 3)),
            Edit::insert(2, "lost"),
            Edit::insert(3, ">"),
        ];
        assert_eq!(apply(b"abcd", edits).as_deref(), Ok(&b"a<>d"[..]));
    }
}
