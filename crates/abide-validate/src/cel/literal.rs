//! The values of the literals of an expression. The lexer has checked them.

/// The value of an integer.
pub(super) fn parse_integer(written: &str) -> u64 {
    let digits = written.trim_end_matches(['u', 'U']);
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    parsed.unwrap_or_default()
}

/// The bytes of a string or of bytes, with prefix and quotes.
pub(super) fn unescape(written: &str) -> Vec<u8> {
    let at = written.find(['"', '\'']).unwrap_or_default();
    let (prefix, quoted) = written.split_at(at);
    let width = if quoted.len() >= 6 && is_long(quoted) { 3 } else { 1 };
    let inner = quoted.get(width..quoted.len().saturating_sub(width)).unwrap_or_default();
    if prefix.contains(['r', 'R']) {
        return inner.as_bytes().to_vec();
    }
    let is_bytes = prefix.contains(['b', 'B']);
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let letter = rest.chars().next().unwrap_or('\\');
        let (length, radix) = match letter {
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='3' => (3, 8),
            _ => (0, 0),
        };
        if length == 0 {
            out.push(match letter {
                'a' => 7,
                'b' => 8,
                'f' => 12,
                'n' => b'\n',
                'r' => b'\r',
                't' => b'\t',
                'v' => 11,
                other => other as u8,
            });
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            continue;
        }
        let start = usize::from(radix == 16);
        let digits = rest.get(start..start + length).unwrap_or_default();
        let number = u32::from_str_radix(digits, radix).unwrap_or_default();
        match char::from_u32(number) {
            Some(letter) if !is_bytes => {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => out.push(number as u8),
        }
        rest = rest.get(start + length..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

fn is_long(quoted: &str) -> bool {
    let quote = &quoted[..1];
    quoted.starts_with(&quote.repeat(3)) && quoted.ends_with(&quote.repeat(3))
}
