//! The naming cases of style guides.

use abide_schema::{Element, Part};

use crate::finding::renamed;
use crate::rule::{Context, Sink};

/// A naming case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameCase {
    /// `HttpRequest`: an acronym is a word like any other.
    UpperCamel,
    /// `http_request`.
    LowerSnake,
    /// `HTTP_REQUEST`.
    UpperSnake,
}

impl NameCase {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            NameCase::UpperCamel => "UpperCamelCase",
            NameCase::LowerSnake => "lower_snake_case",
            NameCase::UpperSnake => "UPPER_SNAKE_CASE",
        }
    }

    /// The name in this case; the same text if it already has this case.
    pub(crate) fn convert(self, name: &str) -> String {
        match self {
            NameCase::UpperCamel => words(name).map(capitalized).collect(),
            NameCase::LowerSnake => joined(words(name)).to_ascii_lowercase(),
            // In a run of capitals it is not known where a word ends.
            NameCase::UpperSnake if !name.bytes().any(|it| it.is_ascii_lowercase()) => {
                joined(name.split(is_delimiter).filter(|it| !it.is_empty()))
            }
            NameCase::UpperSnake => joined(words(name)).to_ascii_uppercase(),
        }
    }

    /// Reports an element whose name is in another case, with the rules of other
    /// tools that report it too. [`Context::spares`] says which are not reported.
    pub(crate) fn check<'t>(
        self,
        context: &Context<'t>,
        element: Element<'t>,
        aliases: &[&'static str],
        sink: &mut Sink,
    ) {
        let name = element.name();
        let right = self.convert(name);
        let package = element.package();
        if name == right || context.exempts(element, aliases) {
            return;
        }
        let message =
            format!("the name of the {} `{name}` is not `{}`", element.noun(), self.name());
        let finding =
            sink.report(element.place(Part::Name), package.name(), element.full_name(), message);
        if right.starts_with(|it: char| it.is_ascii_alphabetic()) {
            finding.help(format!("rename it to `{right}` before anybody relies on the name"));
        }
        finding.fix(renamed(element, &right)).fact(name).aliases(aliases);
    }
}

/// A name as buf splits it into words for a prefix: before a capital that follows a lower-case
/// letter or is followed by one, never before a digit.
pub(crate) fn buf_upper_snake(name: &str) -> String {
    let name = name.trim_matches('_').as_bytes();
    let mut out = String::new();
    for (at, &letter) in name.iter().enumerate() {
        let ends_word = match name.get(at + 1) {
            Some(next) => !next.is_ascii_uppercase() && !next.is_ascii_digit() && *next != b'_',
            None => false,
        };
        let begins = at > 0
            && letter.is_ascii_uppercase()
            && !out.ends_with('_')
            && (ends_word || name[at - 1].is_ascii_lowercase());
        if begins {
            out.push('_');
        }
        if letter != b'_' || !out.ends_with('_') {
            out.push(char::from(letter.to_ascii_uppercase()));
        }
    }
    out
}

/// A name as protolint splits it into words for a prefix: before a capital that follows a lower-case
/// letter or a digit or is followed by a lower-case letter, and before a digit that follows a
/// lower-case letter.
pub(crate) fn protolint_upper_snake(name: &str) -> String {
    let name = name.as_bytes();
    let mut out = String::new();
    for (at, &letter) in name.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| name.get(it)).copied().unwrap_or(b'_');
        let ends_run = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let begins = match letter {
            b'A'..=b'Z' => !before.is_ascii_uppercase() || ends_run,
            b'0'..=b'9' => before.is_ascii_lowercase(),
            _ => false,
        };
        if begins && before != b'_' {
            out.push('_');
        }
        out.push(char::from(letter.to_ascii_uppercase()));
    }
    out
}

fn is_delimiter(it: char) -> bool {
    matches!(it, '_' | '-' | '.' | ' ')
}

/// The words of a name, split at delimiters and before capitals. The last capital
/// of a run before a lower-case letter begins a word.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let mut rest = 0;
    let ends = (1..=bytes.len()).filter(|&at| at == bytes.len() || begins_word(bytes, at));
    let parts = ends.map(move |end| &name[std::mem::replace(&mut rest, end)..end]);
    parts.flat_map(|part| part.split(is_delimiter)).filter(|word| !word.is_empty())
}

fn begins_word(bytes: &[u8], at: usize) -> bool {
    let is = |at: usize, kind: fn(&u8) -> bool| bytes.get(at).is_some_and(kind);
    // `URLs` and `TLSv1` are one word.
    let stays = match bytes.get(at + 1) {
        Some(b's') => !is(at + 2, u8::is_ascii_lowercase),
        Some(b'v') => is(at + 2, u8::is_ascii_digit),
        _ => false,
    };
    bytes[at].is_ascii_uppercase()
        && (!bytes[at - 1].is_ascii_uppercase() || is(at + 1, u8::is_ascii_lowercase) && !stays)
}

fn capitalized(word: &str) -> String {
    let mut word = word.to_ascii_lowercase();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

fn joined<'n>(words: impl Iterator<Item = &'n str>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as buf 1.75 splits them, by the prefixes that ENUM_VALUE_PREFIX asks for.
    #[test]
    fn prefixes_are_those_of_buf() {
        for (name, prefix) in [
            ("Color", "COLOR"),
            ("HTTPStatus", "HTTP_STATUS"),
            ("Http2Status", "HTTP2_STATUS"),
            ("V1API", "V1API"),
            ("ABTest", "AB_TEST"),
            ("_foo__Bar_", "FOO_BAR"),
            ("fooBAR", "FOO_BAR"),
            ("A", "A"),
            ("Foo2Bar", "FOO2_BAR"),
            ("X509Cert", "X509_CERT"),
            ("E2E", "E2E"),
        ] {
            assert_eq!(buf_upper_snake(name), prefix, "{name}");
        }
    }

    /// Names as protolint 0.58 splits them, by the prefixes that it asks for.
    #[test]
    fn prefixes_are_those_of_protolint() {
        for (name, prefix) in [
            ("HTTPStatus", "HTTP_STATUS"),
            ("FooURLs", "FOO_UR_LS"),
            ("Http2Status", "HTTP_2_STATUS"),
            ("E2E", "E2_E"),
            ("ABTest", "AB_TEST"),
            ("e_a", "E_A"),
        ] {
            assert_eq!(protolint_upper_snake(name), prefix, "{name}");
        }
    }

    #[test]
    fn acronyms_are_words() {
        for (name, upper_camel, lower_snake, upper_snake) in [
            ("HTTPRequest", "HttpRequest", "http_request", "HTTP_REQUEST"),
            ("HttpRequest", "HttpRequest", "http_request", "HTTP_REQUEST"),
            ("Http2Settings", "Http2Settings", "http2_settings", "HTTP2_SETTINGS"),
            ("AType", "AType", "a_type", "A_TYPE"),
            ("knownURLs", "KnownUrls", "known_urls", "KNOWN_URLS"),
            ("TLSv1_2", "Tlsv12", "tlsv1_2", "TLSV1_2"),
            ("_user__name_", "UserName", "user_name", "USER_NAME"),
            ("H2C_ONLY", "H2COnly", "h2_c_only", "H2C_ONLY"),
            ("naïve-Name", "NaïveName", "naïve_name", "NAïVE_NAME"),
            ("__", "", "", ""),
            ("", "", "", ""),
        ] {
            assert_eq!(NameCase::UpperCamel.convert(name), upper_camel, "{name}");
            assert_eq!(NameCase::LowerSnake.convert(name), lower_snake, "{name}");
            assert_eq!(NameCase::UpperSnake.convert(name), upper_snake, "{name}");
        }
    }
}
