//! Code in the texts of findings.

use std::fmt::Display;

/// A text of the input as code, whatever it contains: between backticks, or between more than any
/// run of them in it, as in CommonMark.
pub fn backtick(text: impl Display) -> String {
    let text = text.to_string();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::backtick;

    #[test]
    fn code_ends_where_it_ends() {
        for (text, span) in [("a", "`a`"), ("\"a`b\"", "`` \"a`b\" ``"), ("``", "``` `` ```")] {
            assert_eq!(backtick(text), span);
        }
    }
}
