//! The lines of comments.

use std::borrow::Cow;

/// Line ends of a text.
pub(crate) struct LineEnding;

impl LineEnding {
    /// Returns true if the first line of a text ends with a line feed alone.
    pub(crate) fn has(text: &[u8]) -> bool {
        let first = text.iter().position(|&byte| byte == b'\n');
        first.is_none_or(|at| at == 0 || text[at - 1] != b'\r')
    }

    /// The text with a carriage return before each line feed.
    pub(crate) fn restore_carriage_returns(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + text.len() / 16);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => out.extend_from_slice(&[line, b"\r\n"].concat()),
                None => out.extend_from_slice(line),
            }
        }
        out
    }
}

/// The lines of a comment, those after the first as they follow the indentation of its place.
///
/// Where each line begins with the same mark, as in `/* … * … */`, the marks stand below each
/// other. Else the text keeps its shape: the line that is furthest left stands below the first
/// letter of the comment.
pub(crate) fn split_comment_lines(comment: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let mut lines = comment.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&[u8]> = lines.collect();
    let marked = is_marked(&rest);
    let written = rest.iter().filter(|line| !line.is_empty() && !is_closing_line(line));
    let margin = written.map(|line| line.len() - line.trim_ascii_start().len()).min().unwrap_or(0);
    let rest = rest.into_iter().map(move |line| {
        let text = line.trim_ascii_start();
        let (space, text): (&[u8], _) = match () {
            () if text.is_empty() => return Cow::Borrowed(text),
            () if marked => (b" ", text),
            () if is_closing_line(line) => return Cow::Borrowed(text),
            () => (b"   ", line.get(margin..).unwrap_or(text)),
        };
        Cow::Owned([space, text].concat())
    });
    std::iter::once(Cow::Borrowed(first)).chain(rest)
}

/// Returns true if a line only ends the comment.
fn is_closing_line(line: &[u8]) -> bool {
    line.trim_ascii() == b"*/"
}

/// Returns true if all lines begin with the same mark.
fn is_marked(lines: &[&[u8]]) -> bool {
    let mut marks = lines.iter().filter_map(|line| line.trim_ascii_start().first());
    let Some(first) = marks.next() else { return false };
    first.is_ascii_punctuation() && marks.all(|mark| mark == first)
}
