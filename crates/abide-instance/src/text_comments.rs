//! The comments of text format.

use abide_syntax::Span;

/// The comments of a text, each from its sign to the end of its line. A string ends
/// with its line at the latest. Source: "Text Format Language Specification".
pub(crate) fn text_comments(text: &[u8]) -> Vec<Span> {
    let mut comments = Vec::new();
    let mut quote = None;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, quote) {
            (b'\\', Some(_)) => at += 1,
            (b'\n', _) => quote = None,
            (_, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'#', None) => {
                let line = &text[at..];
                let length = line.iter().position(|&it| it == b'\n').unwrap_or(line.len());
                comments.push(Span::new(at as u32, (at + length) as u32));
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::text_comments;

    #[test]
    fn a_sign_in_a_string_begins_no_comment() {
        let text = b"# a\nname: \"x # \\\" # y\" # b\nother: 'it' # c";
        let found = text_comments(text);
        let found: Vec<&str> = found.iter().map(|it| it.str(text)).collect();
        assert_eq!(found, ["# a", "# b", "# c"]);
    }
}
