//! Numbers in texts, as C++ reads them for Envoy: decimal, or hexadecimal with an exponent of two.

/// The characters that C skips at the start and the end of a number.
const SPACE: [char; 6] = [' ', '\t', '\n', '\r', '\x0b', '\x0c'];

/// The text without the white space around it.
pub(super) fn trim_white_space(text: &str) -> &str {
    text.trim_matches(SPACE)
}

/// The text without the white space behind it.
pub(super) fn trim_white_space_end(text: &str) -> &str {
    text.trim_end_matches(SPACE)
}

/// The number that a text is, with white space around it.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let text = trim_white_space(text);
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(digits) => Some(sign * parse_hexadecimal(digits)?),
        None => text.parse().ok(),
    }
}

/// The number behind `0x`, such as `1f`, `1.8` or `1p-3`.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut number = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(number * 2_f64.powi(exponent.saturating_sub(places)))
}

#[cfg(test)]
mod tests {
    use super::parse_number;

    #[test]
    fn texts_are_numbers_as_for_envoy() {
        for (text, expected) in [
            ("7", Some(7.0)),
            (" +7\x0b\n", Some(7.0)),
            ("-.5e1", Some(-5.0)),
            ("100.", Some(100.0)),
            ("00100", Some(100.0)),
            ("0x64", Some(100.0)),
            ("-0X1F", Some(-31.0)),
            ("0x1.8", Some(1.5)),
            ("0x1p3", Some(8.0)),
            ("0x.8p8", Some(128.0)),
            ("1e400", Some(f64::INFINITY)),
            ("0x", None),
            ("0x.", None),
            ("0x1p", None),
            ("0x 1", None),
            ("0x-1", None),
            ("0x6g", None),
            ("+-5", None),
            ("1e", None),
            ("1_0", None),
            ("0o17", None),
            ("", None),
            ("seven", None),
        ] {
            assert_eq!(parse_number(text), expected, "{text:?}");
        }
    }
}
