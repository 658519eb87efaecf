//! Places inside of strings: where a part of a value stands in the text that it was read from.

use std::ops::Range;

use abide_syntax::Span;

/// The place of a part of a string's value. Escapes are longer in the text than in the value, and a
/// line break at the start belongs to the text alone. The whole string where that cannot be said.
pub(super) fn find_in_source(text: &str, string: Span, part: Range<usize>) -> Span {
    let (start, end) = (string.start as usize, string.end as usize);
    let Some(raw) = text.get(start..end) else { return string };
    let at = |index: usize, edge| {
        let offset = find_offset(raw, index, edge)?;
        u32::try_from(start + offset).ok()
    };
    match (at(part.start, Edge::Start), at(part.end, Edge::End)) {
        (Some(from), Some(to)) if from <= to => Span::new(from, to),
        _ => string,
    }
}

/// Which end of a part is looked for: where a line is continued between two characters, a part
/// starts behind and ends before it.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Edge {
    Start,
    End,
}

/// The offset in the notation of a string at which its value has an index.
fn find_offset(raw: &str, index: usize, edge: Edge) -> Option<usize> {
    let quote = raw.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let long = quote.to_string().repeat(3);
    let is_long = raw.len() >= 6 && raw.starts_with(&long);
    let mut at = if is_long { 3 } else { 1 };
    let end = raw.len().checked_sub(at)?;
    if is_long {
        let rest = raw.get(at..)?;
        at += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let mut value = 0;
    while at < end && (value < index || edge == Edge::Start) {
        let rest = raw.get(at..end)?;
        let (written, means) = match rest.strip_prefix('\\').filter(|_| quote == '"') {
            Some(escape) => read_escape(escape)?,
            None => {
                let length = rest.chars().next()?.len_utf8();
                (length, length)
            }
        };
        if value == index && means > 0 {
            break;
        }
        at += written;
        value += means;
    }
    (value == index).then_some(at)
}

/// How many bytes an escape takes in the notation, with its backslash, and in the value.
fn read_escape(escape: &str) -> Option<(usize, usize)> {
    let letter = escape.chars().next()?;
    let digits = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ if letter.is_whitespace() => {
            // The line goes on behind all white space.
            let space = escape.len() - escape.trim_start().len();
            return Some((1 + space, 0));
        }
        _ => return Some((1 + letter.len_utf8(), 1)),
    };
    let number = u32::from_str_radix(escape.get(1..=digits)?, 16).ok()?;
    Some((2 + digits, char::from_u32(number)?.len_utf8()))
}

#[cfg(test)]
mod tests {
    use abide_syntax::Span;

    use super::find_in_source;

    /// The text at the place of a part of the value of a string.
    fn found<'t>(raw: &'t str, value: &str, part: &str) -> &'t str {
        let start = value.find(part).expect("the value has the part");
        let string = Span::new(0, raw.len() as u32);
        let span = find_in_source(raw, string, start..start + part.len());
        &raw[span.start as usize..span.end as usize]
    }

    #[test]
    fn parts_of_strings_are_found_behind_escapes_and_line_breaks() {
        assert_eq!(found("'a && b'", "a && b", "b"), "b");
        assert_eq!(found(r#""\"a\" + b""#, "\"a\" + b", "b"), "b");
        assert_eq!(found(r#""é\u00e9 b""#, "éé b", "b"), "b");
        assert_eq!(found("'''\na &&\n b'''", "a &&\n b", "b"), "b");
        assert_eq!(found("\"\"\"\\\n   a \\\n  b\"\"\"", "a b", "b"), "b");
        assert_eq!(found("\"\"\"\r\na b\"\"\"", "a b", "b"), "b");
    }
}
