//! Text of others that is safe to show.

/// A name made printable on one line: control characters are escaped.
pub fn escape_unprintable(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if is_unprintable(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// A report in which nothing is left that a terminal might act on, but for line ends and the
/// colours that Abide writes itself. What is escaped can stand in a text of JSON and in words
/// alike.
pub fn report(bytes: Vec<u8>) -> Vec<u8> {
    let is_plain = |text: &str| !text.contains(is_hidden);
    match std::str::from_utf8(&bytes) {
        Ok(text) if !is_plain(text) => {
            let mut out = String::with_capacity(text.len());
            for c in text.chars() {
                match is_hidden(c) {
                    true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                    false => out.push(c),
                }
            }
            out.into_bytes()
        }
        _ => bytes,
    }
}

/// Returns true if a character is unprintable, and no control character of ASCII: these have their
/// escapes in each format.
fn is_hidden(c: char) -> bool {
    c >= '\u{7f}' && is_unprintable(c)
}

/// Returns true if a terminal might act on the character instead of showing it: control characters,
/// marks that change the direction of text, and the ends of lines and paragraphs of Unicode.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The line and the column of a byte of a text, both from 1; columns count characters.
pub fn count_line_and_column(text: &str, at: u32) -> (usize, usize) {
    let before = text.get(..at as usize).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
