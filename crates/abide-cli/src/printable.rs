//! Text of others that is safe to show.

/// A name made printable on one line: control characters are escaped.
pub(crate) fn shown(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if is_unprintable(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Whether a terminal might act on the character instead of showing it: control characters, marks
/// that change the direction of text, and the ends of lines and paragraphs of Unicode.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
