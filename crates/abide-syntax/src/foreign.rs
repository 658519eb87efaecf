//! Names texts that are not what was meant to be in a `.proto` file: the leftovers of a merge, another
//! encoding, a pointer of Git LFS. One error that says so is worth more than one for each line.

use crate::lexer::{Lexer, TokenKind};
use crate::parser::SyntaxError;
use crate::span::Span;

/// Explains the syntax errors of a text by what the text is; `None` if it is nothing in particular.
pub(crate) fn detect_foreign_text(text: &[u8]) -> Option<Vec<SyntaxError>> {
    let one = |span, message: &str, help| {
        Some(vec![SyntaxError {
            span,
            message: message.to_owned(),
            related: None,
            help: Some(help),
        }])
    };
    if let Some(encoding) = detect_wide_encoding(text) {
        let message = format!("the file is encoded in {encoding}, and not in UTF-8");
        return one(Span::new(0, 2), &message, "save it as UTF-8");
    }
    if text.starts_with(LFS) {
        let message = "the file is a pointer of Git LFS, and not what it points to";
        return one(Span::new(0, LFS.len() as u32), message, "run `git lfs pull`");
    }
    let conflicts = find_merge_conflicts(text);
    (!conflicts.is_empty()).then_some(conflicts)
}

/// The first bytes of a pointer of Git LFS. Source: the specification in the repository of Git LFS.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Names the encoding of a text with code units of two or four bytes, by its byte order mark or by
/// the zeros that ASCII has in it.
fn detect_wide_encoding(text: &[u8]) -> Option<&'static str> {
    let head = &text[..text.len().min(64)];
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Some("UTF-32");
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("UTF-16");
    }
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|it| **it == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Of ASCII, three bytes of four are zero in UTF-32, and every second one in UTF-16.
    if head.len() < 8 {
        None
    } else if (even + odd) * 10 >= head.len() * 7 {
        Some("UTF-32")
    } else if even.min(odd) == 0 && even.max(odd) * 10 >= head.len() * 4 {
        Some("UTF-16")
    } else {
        None
    }
}

/// Finds the conflicts that a merge left in a text, each from its first marker on.
fn find_merge_conflicts(text: &[u8]) -> Vec<SyntaxError> {
    let mut errors: Vec<SyntaxError> = Vec::new();
    let mut is_open = false;
    let mut lexer = Lexer::new(text, 0);
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End {
            return errors;
        }
        let TokenKind::Symbol(symbol) = token.kind else { continue };
        let Some(marker) = find_marker(text, token.span.start, symbol) else { continue };
        match errors.last_mut().filter(|_| is_open && symbol != b'<') {
            Some(open) if symbol == b'>' => {
                open.related = Some((marker, "it ends here"));
                is_open = false;
            }
            Some(_) => {}
            None => {
                errors.push(SyntaxError {
                    span: marker,
                    message: "this looks like a merge conflict".to_owned(),
                    related: None,
                    help: Some(
                        "decide what stays, and remove the lines with `<<<<<<<`, `=======` and \
                         `>>>>>>>`",
                    ),
                });
                is_open = symbol != b'>';
            }
        }
    }
}

/// The line at a place, if it is a marker that git leaves around the sides of a conflict.
fn find_marker(text: &[u8], at: u32, symbol: u8) -> Option<Span> {
    let (before, rest) = text.split_at(at as usize);
    // Looked at from its begin alone: a line can be the whole text.
    let is_marker = matches!(symbol, b'<' | b'=' | b'>' | b'|')
        && before.last().is_none_or(|it| *it == b'\n')
        && rest.iter().take(8).take_while(|it| **it == symbol).count() == 7
        && rest.get(7).is_none_or(|it| it.is_ascii_whitespace());
    if !is_marker {
        return None;
    }
    let line = rest.split(|it| *it == b'\n').next().unwrap_or_default().trim_ascii_end();
    Some(Span::new(at, at + line.len() as u32))
}

#[cfg(test)]
mod tests {

    fn messages(text: &[u8]) -> Vec<String> {
        let (_, errors) = crate::parse(text);
        errors.into_iter().map(|it| format!("{}: {}", it.span.start, it.message)).collect()
    }

    #[test]
    fn conflicts_are_one_error_each() {
        let conflict =
            "<<<<<<< HEAD\n  int32 a = 1;\n||||||| base\n=======\n  int32 b = 1;\n>>>>>>> x\n";
        let text = format!("message M {{\n{conflict}}}\n{conflict}");
        let second = 12 + conflict.len() + 2;
        assert_eq!(
            messages(text.as_bytes()),
            [
                "12: this looks like a merge conflict".to_owned(),
                format!("{second}: this looks like a merge conflict"),
            ]
        );
        assert_eq!(
            messages(b"message M {}\r\n>>>>>>> x\r\n"),
            ["14: this looks like a merge conflict"]
        );
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        for text in ["/*\n=======\n*/ message {}", "message M { int32 a\n======== 1; }"] {
            let found = messages(text.as_bytes());
            assert!(!found.is_empty() && found.iter().all(|it| !it.contains("merge")), "{found:?}");
        }
        assert_eq!(messages(b"/*\n<<<<<<< HEAD\n=======\n>>>>>>> x\n*/"), [""; 0]);
    }

    #[test]
    fn other_encodings_and_pointers_are_named() {
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let text = "syntax = \"proto3\";\n// é\nmessage M {}\n";
        for (text, name) in [
            (wide(text, u16::to_le_bytes), "UTF-16"),
            (wide(text, u16::to_be_bytes), "UTF-16"),
            (wide(&format!("\u{feff}{text}"), u16::to_le_bytes), "UTF-16"),
            (text.chars().flat_map(|it| (it as u32).to_le_bytes()).collect(), "UTF-32"),
        ] {
            let found = messages(&text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(&format!("encoded in {name}")), "{found:?}");
        }
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
        assert_eq!(
            messages(pointer.as_bytes()),
            ["0: the file is a pointer of Git LFS, and not what it points to"]
        );
    }
}
