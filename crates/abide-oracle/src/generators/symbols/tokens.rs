//! Tokens of C++ and Java, as far as declarations need them.

/// Splits code into names, numbers and punctuation; comments, strings, characters
/// and preprocessor lines are left out.
pub(super) fn split_tokens(code: &str) -> Vec<&str> {
    let bytes = code.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut starts_line = true;
    while at < bytes.len() {
        let rest = &code[at..];
        let length = match bytes[at] {
            b'\n' => {
                starts_line = true;
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' if starts_line => {
                let mut end = 0;
                for line in rest.split_inclusive('\n') {
                    end += line.len();
                    if !line.trim_end().ends_with('\\') {
                        break;
                    }
                }
                at += end;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                starts_line = false;
                tokens.push("\"\"");
                continue;
            }
            _ if is_name(rest) => rest
                .find(|it: char| !it.is_alphanumeric() && it != '_' && it != '$')
                .unwrap_or(rest.len()),
            _ if rest.starts_with("::") || rest.starts_with("[[") || rest.starts_with("]]") => 2,
            _ if rest.starts_with("...") => 3,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        tokens.push(&rest[..length]);
        starts_line = false;
        at += length;
    }
    tokens
}

pub(super) fn is_name(token: &str) -> bool {
    token.starts_with(|it: char| it.is_alphanumeric() || it == '_' || it == '$')
}

/// Joins tokens into one text, with spaces only between names.
pub(super) fn join_tokens(tokens: &[&str]) -> String {
    let mut text = String::new();
    for token in tokens {
        if is_name(token) && text.ends_with(|it: char| it.is_alphanumeric() || it == '_') {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

/// A signature of the model in the normal form of scanned ones.
pub(super) fn normalize_signature(signature: &str) -> String {
    join_tokens(&split_tokens(signature))
}

/// The index of the token that closes the bracket at `at`.
pub(super) fn find_closing_bracket(tokens: &[&str], at: usize) -> usize {
    let (open, close) = match tokens[at] {
        "{" => ("{", "}"),
        "(" => ("(", ")"),
        "[" => ("[", "]"),
        "[[" => ("[[", "]]"),
        _ => ("<", ">"),
    };
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if *token == open {
            depth += 1;
        } else if *token == close {
            depth -= 1;
            if depth == 0 {
                return index;
            }
        }
    }
    tokens.len().saturating_sub(1)
}

/// Splits at commas outside brackets.
pub(super) fn split_arguments<'s, 't>(tokens: &'s [&'t str]) -> Vec<&'s [&'t str]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (index, token) in tokens.iter().enumerate() {
        match *token {
            "<" | "(" | "{" | "[" => depth += 1,
            ">" | ")" | "}" | "]" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}
