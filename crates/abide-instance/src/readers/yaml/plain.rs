//! Reads plain words of YAML as the values of JSON that they stand for.

use std::borrow::Cow;

use abide_schema::value::JsonKind;

use crate::readers::notation::Dialect;

/// Reads a scalar without quotes and tag.
pub(super) fn read_plain(word: Cow<'_, str>, dialect: Dialect) -> JsonKind<'_> {
    match dialect {
        Dialect::Protobuf => read_by_core_schema(word),
        Dialect::Envoy => read_as_envoy(word),
    }
}

/// Source: YAML 1.2.2, section 10.3.2. A number is given as JSON writes it, and
/// those that JSON lacks as the JSON mapping of protobuf spells them.
fn read_by_core_schema(word: Cow<'_, str>) -> JsonKind<'_> {
    match &*word {
        "" | "~" | "null" | "Null" | "NULL" => return JsonKind::Null,
        "true" | "True" | "TRUE" => return JsonKind::Bool(true),
        "false" | "False" | "FALSE" => return JsonKind::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return JsonKind::String("Infinity".into());
        }
        "-.inf" | "-.Inf" | "-.INF" => return JsonKind::String("-Infinity".into()),
        ".nan" | ".NaN" | ".NAN" => return JsonKind::String("NaN".into()),
        _ => {}
    }
    let radix = |digits: &str, radix| u128::from_str_radix(digits, radix).ok();
    let number = match (word.strip_prefix("0x"), word.strip_prefix("0o")) {
        (Some(digits), _) if !digits.starts_with(['+', '-']) => radix(digits, 16),
        (_, Some(digits)) if !digits.starts_with(['+', '-']) => radix(digits, 8),
        _ => None,
    };
    if let Some(number) = number {
        return JsonKind::Number(number.to_string().into());
    }
    match parse_decimal(&word) {
        Some(Cow::Owned(number)) => JsonKind::Number(number.into()),
        Some(Cow::Borrowed(_)) => JsonKind::Number(word),
        None => JsonKind::String(word),
    }
}

/// A decimal number of YAML as JSON writes it: no plus sign, no leading zeros,
/// digits on both sides of the point.
fn parse_decimal(word: &str) -> Option<Cow<'_, str>> {
    let (sign, rest) = match word.as_bytes().first()? {
        b'+' => ("", &word[1..]),
        b'-' => ("-", &word[1..]),
        _ => ("", word),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    if let Some(exponent) = exponent {
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if bare.is_empty() || !digits(bare) {
            return None;
        }
    }
    let trimmed = whole.trim_start_matches('0');
    let is_json = !word.starts_with('+')
        && !whole.is_empty()
        && (whole == "0" || trimmed.len() == whole.len())
        && fraction != Some("");
    if is_json {
        return Some(Cow::Borrowed(word));
    }
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let mut number = format!("{sign}{whole}");
    if let Some(fraction) = fraction.filter(|it| !it.is_empty()) {
        number.push('.');
        number.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        number.push('e');
        number.push_str(exponent);
    }
    Some(number.into())
}

/// Reads a word as Envoy's reader does: a boolean in any spelling of YAML 1.1,
/// then a whole number, decimal or with a prefix, in the range of 32 bits; all
/// else is a text, larger numbers and fractions among them. Seen on Envoy 1.36 to 1.40.
fn read_as_envoy(word: Cow<'_, str>) -> JsonKind<'_> {
    match &*word {
        "" | "~" | "null" | "Null" | "NULL" => return JsonKind::Null,
        _ => {}
    }
    let is_one_case = |word: &str| {
        let rest = word.get(1..).unwrap_or_default();
        word.bytes().all(|it| it.is_ascii_lowercase())
            || word.bytes().all(|it| it.is_ascii_uppercase())
            || (word.starts_with(|it: char| it.is_ascii_uppercase())
                && rest.bytes().all(|it| it.is_ascii_lowercase()))
    };
    if is_one_case(&word) {
        match &*word.to_ascii_lowercase() {
            "y" | "yes" | "true" | "on" => return JsonKind::Bool(true),
            "n" | "no" | "false" | "off" => return JsonKind::Bool(false),
            _ => {}
        }
    }
    match parse_whole_number(&word) {
        Some(number) if i32::try_from(number).is_ok() => {
            JsonKind::Number(number.to_string().into())
        }
        // It keeps larger ones as texts, which no `double` would change.
        Some(number) => JsonKind::String(number.to_string().into()),
        None => JsonKind::String(word),
    }
}

/// A whole number of 64 bits with a sign, as C++ streams read one whose base is
/// told by its prefix: `0x` is hexadecimal, `0` octal.
fn parse_whole_number(word: &str) -> Option<i64> {
    let (negative, digits) = match word.as_bytes().first()? {
        b'+' => (false, &word[1..]),
        b'-' => (true, &word[1..]),
        _ => (false, word),
    };
    if !digits.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) if digits.starts_with('+') => return None,
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => {
            i128::from_str_radix(digits, 8).ok()?
        }
        None => digits.parse().ok()?,
    };
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dialect: Dialect, word: &str, expected: &str) {
        let shown = match read_plain(word.into(), dialect) {
            JsonKind::Null => "null".to_owned(),
            JsonKind::Bool(value) => value.to_string(),
            JsonKind::Number(text) => format!("number {text}"),
            JsonKind::String(text) => format!("text {text}"),
            JsonKind::Array(_) | JsonKind::Object(_) => unreachable!("no scalar"),
        };
        assert_eq!(shown, expected, "{word}");
    }

    #[test]
    fn words_of_the_core_schema() {
        for (word, expected) in [
            ("", "null"),
            ("~", "null"),
            ("nULL", "text nULL"),
            ("True", "true"),
            ("yes", "text yes"),
            ("n", "text n"),
            ("12", "number 12"),
            ("+12", "number 12"),
            ("-012", "number -12"),
            ("0", "number 0"),
            ("00", "number 0"),
            ("0x1F", "number 31"),
            ("0o17", "number 15"),
            ("0x", "text 0x"),
            ("0x+1", "text 0x+1"),
            (".5", "number 0.5"),
            ("5.", "number 5"),
            ("1e3", "number 1e3"),
            ("1e+3", "number 1e+3"),
            ("1e", "text 1e"),
            (".", "text ."),
            ("-", "text -"),
            ("+.inf", "text Infinity"),
            ("-.INF", "text -Infinity"),
            (".NaN", "text NaN"),
            ("1_000", "text 1_000"),
            ("1.2.3", "text 1.2.3"),
            ("12e03", "number 12e03"),
            ("0.0.0.0", "text 0.0.0.0"),
        ] {
            check(Dialect::Protobuf, word, expected);
        }
    }

    #[test]
    fn words_that_envoy_reads_otherwise() {
        for (word, expected) in [
            ("y", "true"),
            ("N", "false"),
            ("On", "true"),
            ("oN", "text oN"),
            ("OFF", "false"),
            ("tRUE", "text tRUE"),
            ("010", "number 8"),
            ("08", "text 08"),
            ("0x10", "number 16"),
            ("1.5", "text 1.5"),
            ("1e3", "text 1e3"),
            ("2147483647", "number 2147483647"),
            ("2147483648", "text 2147483648"),
            ("0x80000000", "text 2147483648"),
            ("9223372036854775808", "text 9223372036854775808"),
            ("-2147483648", "number -2147483648"),
            ("~", "null"),
        ] {
            check(Dialect::Envoy, word, expected);
        }
    }
}
