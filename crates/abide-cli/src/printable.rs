//! Text of others that is safe to show.

/// A name on one line, whatever characters it is made of.
pub(crate) fn shown(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if is_unprintable(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Whether a terminal might obey the character instead of showing it: controls, and the marks
/// that turn the direction of text.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
