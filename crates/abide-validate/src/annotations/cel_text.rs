//! CEL expressions as texts, to compare them without their formatting.

/// A CEL expression without comments, and with white space only where two words
/// would join. Source: the lexis of the CEL specification.
pub(crate) fn normalize_cel(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut space = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = if byte.is_ascii_whitespace() || byte == 0x0b {
            space = true;
            at += 1;
            continue;
        } else if bytes[at..].starts_with(b"//") {
            space = true;
            at += bytes[at..].iter().position(|&it| it == b'\n').unwrap_or(bytes.len() - at);
            continue;
        } else if matches!(byte, b'"' | b'\'') {
            let start = bytes[..at].iter().rposition(|&it| !is_word(it)).map_or(0, |it| it + 1);
            let mark = &bytes[start..at];
            let raw = mark.len() <= 2 && mark.iter().any(|it| matches!(it, b'r' | b'R'));
            find_string_end(bytes, at, raw)
        } else {
            at + 1
        };
        if space && out.last().is_some_and(|&last| would_join(last, byte)) {
            out.push(b' ');
        }
        space = false;
        out.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns true if two tokens would be one without space between them.
fn would_join(last: u8, next: u8) -> bool {
    // No grammar rule gives `- -1` and `--1` different meanings, but two
    // operators are kept apart anyway.
    is_word(last) && (is_word(next) || matches!(next, b'"' | b'\''))
        || last == next && matches!(next, b'-' | b'!' | b'/' | b'&' | b'|')
}

fn find_string_end(bytes: &[u8], start: usize, raw: bool) -> usize {
    let quote = bytes[start];
    let long = bytes[start..].starts_with(&[quote; 3]);
    let width = if long { 3 } else { 1 };
    let mut at = start + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' && !raw {
            at += 2;
        } else if bytes[at..].starts_with(&[quote; 3][..width]) {
            return at + width;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::normalize_cel;

    #[test]
    fn formatting_of_cel_does_not_count() {
        let same = [
            ("this.a>0", " this . a\n > 0 // more than none"),
            ("a in b", "a  in\tb"),
            ("x==\"a  b\"", "x == \"a  b\""),
            ("x==r'\\'&&y", "x == r'\\' && y"),
            ("'''a ' // b'''+c", "'''a ' // b''' + c"),
        ];
        for (tight, loose) in same {
            assert_eq!(normalize_cel(loose), tight);
            assert_eq!(normalize_cel(tight), tight);
        }
        for (a, b) in [("'a b'", "'ab'"), ("a in b", "ain b"), ("'\\' '", "'\\''"), ("- -a", "--a")]
        {
            assert_ne!(normalize_cel(a), normalize_cel(b));
        }
    }
}
