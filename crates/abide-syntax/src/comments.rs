//! Comments, read on demand from the text between two tokens.

use crate::span::Span;

/// A comment, with its marks (`//`, `/*`, `*/`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From its first mark to its last byte; the end of a line is not part of
    /// it.
    pub span: Span,
    /// True if it is `/* … */`.
    pub block: bool,
}

/// The comments in `gap`, which must begin and end outside of comments, such
/// as the text between two tokens.
pub fn find_comments(text: &[u8], gap: Span) -> CommentIter<'_> {
    CommentIter { text: &text[..(gap.end as usize).min(text.len())], at: gap.start as usize }
}

/// Iterator over the comments of a gap, from [`find_comments`].
#[derive(Clone, Debug)]
pub struct CommentIter<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for CommentIter<'_> {
    type Item = Comment;

    fn next(&mut self) -> Option<Comment> {
        let rest = self.text.get(self.at..)?;
        let start = self.at + memchr::memchr(b'/', rest)?;
        let block = self.text.get(start + 1) == Some(&b'*');
        let body = self.text.get(start + 2..).unwrap_or_default();
        let end = if block {
            memchr::memmem::find(body, b"*/").map_or(self.text.len(), |at| start + at + 4)
        } else {
            memchr::memchr(b'\n', body).map_or(self.text.len(), |at| start + at + 2)
        };
        self.at = end;
        Some(Comment { span: Span::new(start as u32, end as u32), block })
    }
}
