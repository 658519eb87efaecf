//! The words that the name of an enum value consists of, without what is only style.

use abide_schema::{Enum, EnumValue};

/// The words of the name of each value of an enum, in the order of the values: in lower case, and
/// without the prefix that all of them have or that is the name of the enum. Names with the same
/// words differ in style alone: `Trailing`, `TRAILING` and `KIND_TRAILING` of an enum `Kind`.
pub fn split_value_names(item: Enum<'_>) -> Vec<Vec<String>> {
    let first = item.values().next().map(EnumValue::name);
    // Of a single name nobody knows where its prefix ends.
    let is_single = item.values().all(|it| Some(it.name()) == first);
    let prefix = if is_single { 0 } else { find_shared_prefix(item) };
    let name = split(item.name()).concat();
    let words = |value: EnumValue<'_>| {
        let all = split(value.name());
        let has_name = |end: &usize| all[..*end].concat() == name;
        match (1..all.len()).find(has_name) {
            Some(end) => all[end..].to_vec(),
            None => split(&value.name()[prefix..]),
        }
    };
    item.values().map(words).collect()
}

/// The length of the prefix that the names of all values share, up to an underscore.
pub(crate) fn find_shared_prefix(item: Enum<'_>) -> usize {
    let names = || item.values().map(EnumValue::name);
    let first = names().next().unwrap_or_default();
    let is_shared = |end: &usize| names().all(|it| it.starts_with(&first[..*end]));
    let ends = first.match_indices('_').map(|(at, _)| at + 1);
    ends.rev().find(is_shared).unwrap_or_default()
}

/// The words of a name: they begin after underscores, at capitals and at digits.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    let mut rest = name.chars().peekable();
    while let Some(it) = rest.next() {
        if it != '_' {
            let ends_capitals = before.is_ascii_uppercase()
                && it.is_ascii_uppercase()
                && rest.peek().is_some_and(char::is_ascii_lowercase);
            let begins = before == '_'
                || it.is_ascii_digit() != before.is_ascii_digit()
                || it.is_ascii_uppercase() && before.is_ascii_lowercase()
                || ends_capitals;
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(it.to_ascii_lowercase());
            }
        }
        before = it;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_begin_where_a_reader_sees_them_begin() {
        for (name, words) in [
            ("TRAILING", &["trailing"][..]),
            ("KIND_TRAILING", &["kind", "trailing"]),
            ("KindTrailing", &["kind", "trailing"]),
            ("kindTrailing", &["kind", "trailing"]),
            ("HTTPServer", &["http", "server"]),
            ("HTTP2_0", &["http", "2", "0"]),
            ("__A__", &["a"]),
            ("_", &[]),
        ] {
            assert_eq!(split(name), words, "{name}");
        }
    }
}
