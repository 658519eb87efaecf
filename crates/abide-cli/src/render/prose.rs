//! The texts of findings: words, with code in backticks.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProsePiece<'t> {
    Words(&'t str),
    /// A text between backticks.
    Code(&'t str),
}

/// The parts of a text, in which code is marked as in CommonMark: a run of backticks opens a span
/// that a run of the same length closes, and one that nothing closes is only backticks.
pub(super) fn split_pieces(text: &str) -> Vec<ProsePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut words, mut at) = (0, 0);
    while let Some(open) = text[at..].find('`').map(|it| at + it) {
        let inside = open + count_leading_backticks(&text[open..]);
        let ticks = inside - open;
        at = inside;
        if let Some(length) = find_closing(&text[inside..], ticks) {
            if words < open {
                pieces.push(ProsePiece::Words(&text[words..open]));
            }
            pieces.push(ProsePiece::Code(strip_padding(&text[inside..inside + length])));
            at = inside + length + ticks;
            words = at;
        }
    }
    if words < text.len() {
        pieces.push(ProsePiece::Words(&text[words..]));
    }
    pieces
}

/// Counts the backticks that a text begins with.
fn count_leading_backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Finds the first run of exactly so many backticks.
fn find_closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let begin = at + found;
        let length = count_leading_backticks(&text[begin..]);
        if length == ticks {
            return Some(begin);
        }
        at = begin + length;
    }
    None
}

/// Code without the spaces that keep its own backticks apart from those around it.
fn strip_padding(code: &str) -> &str {
    let inner = code.strip_prefix(' ').and_then(|it| it.strip_suffix(' '));
    inner.filter(|it| !it.trim_matches(' ').is_empty()).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_marked_as_in_commonmark() {
        use ProsePiece::{Code, Words};
        for (text, expected) in [
            ("", &[][..]),
            ("use `a_b` now", &[Words("use "), Code("a_b"), Words(" now")]),
            ("`a`", &[Code("a")]),
            ("``c ` d`` and `` ` ``", &[Code("c ` d"), Words(" and "), Code("`")]),
            ("an odd ` here", &[Words("an odd ` here")]),
            ("`` a ` b", &[Words("`` a ` b")]),
            ("`` a `b`", &[Words("`` a "), Code("b")]),
            ("` `", &[Code(" ")]),
        ] {
            assert_eq!(split_pieces(text), expected, "{text}");
        }
    }
}
