//! Finds patterns that no implementation of RE2 compiles.
//!
//! Only what is certain counts: C++ and Go differ in what they support.
//! Source: <https://github.com/google/re2/wiki/Syntax>.

use regex_automata::util::syntax;

use crate::sets::from_re2;

/// The most repetitions that RE2 allows.
const MOST: u32 = 1000;

/// Returns why a pattern does not compile, in one phrase; `None` if it may.
pub(super) fn find_error(pattern: &str) -> Option<String> {
    if let Some(why) = find_own_error(pattern) {
        return Some(why);
    }
    let error = syntax::parse(&from_re2(pattern)?).err()?;
    // The last line says what is wrong; those before show where, in our translation.
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    let phrase = last.strip_prefix("error: ").unwrap_or(last);
    Some(phrase.to_owned())
}

/// Returns what RE2 refuses, and the crate `regex` does not.
fn find_own_error(pattern: &str) -> Option<String> {
    let mut chars = pattern.chars().peekable();
    let mut class = false;
    // Whether the last thing was a repetition, which no other may follow.
    let mut repeated = false;
    while let Some(character) = chars.next() {
        let after = std::mem::take(&mut repeated);
        match character {
            '\\' => match chars.next() {
                None => return Some("it ends with a backslash".to_owned()),
                // Literal text up to `\E`.
                Some('Q') => {
                    while let Some(letter) = chars.next() {
                        if letter == '\\' && chars.next_if_eq(&'E').is_some() {
                            break;
                        }
                    }
                }
                Some(digit @ '1'..='7') if !chars.peek().is_some_and(char::is_ascii_digit) => {
                    return Some(format!("`\\{digit}`: RE2 has no back references"));
                }
                Some(letter) if letter.is_ascii_alphanumeric() && !ESCAPES.contains(letter) => {
                    return Some(format!("`\\{letter}` is no escape of RE2"));
                }
                Some(_) => {}
            },
            '[' if !class => {
                class = true;
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
            }
            ']' => class = false,
            '*' | '+' | '?' if !class => {
                if after {
                    return Some("a repetition follows a repetition".to_owned());
                }
                chars.next_if_eq(&'?');
                repeated = true;
            }
            '{' if !class => {
                let Some(most) = read_repetitions(&chars.clone().collect::<String>()) else {
                    continue;
                };
                if most > MOST {
                    return Some(format!("it repeats more than {MOST} times"));
                }
                if after {
                    return Some("a repetition follows a repetition".to_owned());
                }
                chars.by_ref().find(|it| *it == '}');
                chars.next_if_eq(&'?');
                repeated = true;
            }
            '(' if !class && chars.next_if_eq(&'?').is_some() => {
                let rest: String = chars.clone().take(2).collect();
                if rest.starts_with(['=', '!']) || matches!(rest.as_str(), "<=" | "<!") {
                    return Some("RE2 does not look ahead or behind".to_owned());
                }
            }
            _ => {}
        }
    }
    None
}

/// The letters and digits that may follow a backslash in C++ or in Go.
const ESCAPES: &str = "AabBCdDEfnpPQrsStvwWxz01234567";

/// The greatest number of a repetition; `None` if the text behind its brace is none.
fn read_repetitions(text: &str) -> Option<u32> {
    let (numbers, _) = text.split_once('}')?;
    let (least, most) = numbers.split_once(',').unwrap_or((numbers, numbers));
    let number = |digits: &str| {
        let all = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        all.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let least = number(least)?;
    if most.is_empty() { Some(least) } else { Some(least.max(number(most)?)) }
}

#[cfg(test)]
mod tests {
    use super::find_error;

    /// What `regexp` of Go 1.25 says of the same patterns, in `buf lint` 1.75.
    #[test]
    fn patterns_are_refused_as_re2_refuses_them() {
        let wrong = [
            "(a",
            "a)",
            "[a",
            "*a",
            "a**",
            "a++",
            "a{2}{3}",
            "a{1001}",
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            r"\1",
            r"\Z",
            r"a\",
            "[b-a]",
            "a{2,1}",
            "(?<1>a)",
            r"\p{Nope}",
            "(?z)a",
            r"\8",
        ];
        for pattern in wrong {
            assert!(find_error(pattern).is_some(), "`{pattern}`");
        }
        let right = [
            "",
            "a*?",
            "a{1000}",
            "a{,2}",
            "a{",
            "{",
            "[]a]",
            "[[:alpha:]]+",
            "[^]]",
            r"\Qa(\E",
            r"\pL+",
            r"\p{Greek}",
            "(?i)a",
            "(?P<n>a)",
            "(?:a|b)?",
            "(|a)",
            r"\x{1F600}",
            r"\.",
            "a{1}?",
            r"[\w.-]+@[\w-]+",
            "[a&&b]",
            "^$",
            "(?s).",
            r"\C",
        ];
        for pattern in right {
            assert_eq!(find_error(pattern), None, "`{pattern}`");
        }
    }
}
