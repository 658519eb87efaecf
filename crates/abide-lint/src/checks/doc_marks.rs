//! Marks in comments for generators of documentation, such as
//! `[#next-free-field: 5]`.

use abide_schema::{File, Place};
use abide_syntax::Span;
use memchr::memmem;

/// A mark in a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommentMark<'t> {
    /// The text before its colon.
    pub(crate) word: &'t str,
    /// The text after its colon, up to the end of the line.
    pub(crate) value: &'t str,
    /// Its place.
    pub(crate) place: Place,
}

/// What a mark begins with.
pub(crate) const OPENING: &[u8] = b"[#";

/// The marks in the comments of a file, in order. A file from a descriptor has no
/// text, so no marks are found in it.
pub(crate) fn find_marks(file: File<'_>) -> Vec<CommentMark<'_>> {
    let text = file.decl().source_text().unwrap_or_default();
    let mut found = Vec::new();
    if memmem::find(text, OPENING).is_none() {
        return found;
    }
    let mut start = 0;
    for line in text.split_inclusive(|&it| it == b'\n') {
        if let Some(comment) = find_comment(line) {
            let marks = memmem::find_iter(&line[comment..], OPENING);
            found.extend(marks.filter_map(|at| mark(file, line, start, comment + at)));
        }
        start += line.len();
    }
    found
}

/// Returns where a comment begins in a line: at the first slashes outside quotes, or at the
/// start if it continues from the line before.
fn find_comment(line: &[u8]) -> Option<usize> {
    if line.trim_ascii_start().starts_with(b"*") {
        return Some(0);
    }
    let mut quote = None;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'/') if matches!(line.get(at + 1), Some(b'/' | b'*')) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The mark that begins at a place in a line.
fn mark<'t>(file: File<'t>, line: &'t [u8], start: usize, at: usize) -> Option<CommentMark<'t>> {
    let rest = &line[at + OPENING.len()..];
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'-';
    let colon = rest.iter().position(|it| !is_word(it)).filter(|&at| rest[at] == b':')?;
    if !rest[0].is_ascii_lowercase() {
        return None;
    }
    let value = &rest[colon + 1..];
    let end = value.iter().position(|it| matches!(it, b'[' | b']')).unwrap_or(value.len());
    let is_closed = value.get(end) == Some(&b']');
    let value = value[..end].trim_ascii_end();
    // White space before the bracket belongs to the mark.
    let length = if is_closed { end + 1 } else { value.len() };
    let from = start + at;
    let to = from + OPENING.len() + colon + 1 + length;
    let str = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    Some(CommentMark {
        word: str(&rest[..colon]),
        value: str(value.trim_ascii()),
        place: Place { file: file.id, span: Span::new(from as u32, to as u32) },
    })
}
