//! Reads and writes the types that have their own notation in JSON. Source:
//! "JSON Mapping" of the protobuf documentation.

use crate::decl::Scalar;
use crate::tree::{Field, Message, Type};

/// The key that names the type of a `google.protobuf.Any`.
pub(super) const TYPE_KEY: &str = "@type";
/// The key of the value in it, if the type has its own notation.
pub(super) const VALUE_KEY: &str = "value";

/// Returns true if a field holds the `null` of JSON.
pub(super) fn is_null_value(field: Field<'_>) -> bool {
    field.enum_type().is_some_and(|item| {
        item.name() == "NullValue" && item.full_name() == "google.protobuf.NullValue"
    })
}

/// A message type with its own notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WellKnown {
    Any,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
    Wrapper,
}

impl WellKnown {
    /// The well-known type that a message is. A message with the same name but
    /// without the fields is an ordinary one.
    pub(super) fn from_message(message: Message<'_>) -> Option<WellKnown> {
        if message.package().name() != "google.protobuf" || message.parent().is_some() {
            return None;
        }
        let has = |number, scalar| {
            let field = message.field_numbered(number);
            field.is_some_and(|field| field.ty() == Type::Scalar(scalar))
        };
        let (it, complete) = match message.name() {
            "Any" => (WellKnown::Any, has(1, Scalar::String) && has(2, Scalar::Bytes)),
            "Timestamp" => (WellKnown::Timestamp, has(1, Scalar::Int64) && has(2, Scalar::Int32)),
            "Duration" => (WellKnown::Duration, has(1, Scalar::Int64) && has(2, Scalar::Int32)),
            "FieldMask" => (WellKnown::FieldMask, has(1, Scalar::String)),
            "Struct" => {
                (WellKnown::Struct, message.field_numbered(1).is_some_and(|it| it.is_map()))
            }
            "Value" => (WellKnown::Value, (1..=6).all(|it| message.field_numbered(it).is_some())),
            "ListValue" => (WellKnown::ListValue, message.field_numbered(1).is_some()),
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value"
            | "UInt32Value" | "BoolValue" | "StringValue" | "BytesValue" => {
                (WellKnown::Wrapper, message.field_numbered(1).is_some())
            }
            _ => return None,
        };
        complete.then_some(it)
    }
}

const SECONDS_PER_DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// About ten thousand years.
const MAX_DURATION: i64 = 315_576_000_000;

/// The day of a date of the Gregorian calendar, counted from 1970-01-01.
fn compute_day(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_of_years =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days_of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

fn count_days_in_month(year: i64, month: i64) -> i64 {
    let next =
        if month == 12 { compute_day(year + 1, 1, 1) } else { compute_day(year, month + 1, 1) };
    next - compute_day(year, month, 1)
}

/// The date of a day that is counted from 1970-01-01: the inverse of
/// [`day_of`].
fn compute_date(day: i64) -> (i64, i64, i64) {
    // 400 years have 146 097 days; the estimate is at most two years early.
    let mut year = 1969 + (day * 400).div_euclid(146_097);
    while compute_day(year + 1, 1, 1) <= day {
        year += 1;
    }
    let month = (1..=12).rev().find(|&month| compute_day(year, month, 1) <= day).unwrap_or(1);
    (year, month, day - compute_day(year, month, 1) + 1)
}

/// Exactly this many digits.
fn parse_digits(text: &str, count: usize) -> Option<i64> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// The digits after the point, as billionths.
fn parse_fraction(text: &str) -> Option<i32> {
    let value = parse_digits(text, text.len()).filter(|_| (1..=9).contains(&text.len()))?;
    Some(value as i32 * 10_i32.pow(9 - text.len() as u32))
}

/// The fraction with its point, with 0, 3, 6 or 9 digits.
fn write_fraction(nanos: i32) -> String {
    match nanos {
        0 => String::new(),
        _ if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        _ => format!(".{nanos:09}"),
    }
}

/// Seconds and nanoseconds of a timestamp. Source: RFC 3339.
pub(super) fn parse_timestamp(text: &str) -> Option<(i64, i32)> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.strip_prefix('T')?.split_at_checked(8)?;
    let (year, month, day) = (
        parse_digits(date.get(..4)?, 4)?,
        parse_digits(date.get(5..7)?, 2)?,
        parse_digits(date.get(8..)?, 2)?,
    );
    let (hour, minute, second) = (
        parse_digits(time.get(..2)?, 2)?,
        parse_digits(time.get(3..5)?, 2)?,
        parse_digits(time.get(6..)?, 2)?,
    );
    let separators = [date.get(4..5)?, date.get(7..8)?, time.get(2..3)?, time.get(5..6)?];
    let valid = separators == ["-", "-", ":", ":"]
        && (1..=12).contains(&month)
        && (1..=count_days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !valid {
        return None;
    }
    let zone = rest.find(['Z', '+', '-'])?;
    let nanos = match &rest[..zone] {
        "" => 0,
        written => parse_fraction(written.strip_prefix('.')?)?,
    };
    let offset = match &rest[zone..] {
        "Z" => 0,
        offset => {
            let (hours, minutes) = offset[1..].split_once(':')?;
            let (hours, minutes) = (parse_digits(hours, 2)?, parse_digits(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if offset.starts_with('-') { -seconds } else { seconds }
        }
    };
    let seconds =
        compute_day(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second
            - offset;
    TIMESTAMPS.contains(&seconds).then_some((seconds, nanos))
}

/// The text of a timestamp, in UTC.
pub(super) fn write_timestamp(seconds: i64, nanos: i32) -> Option<String> {
    if !TIMESTAMPS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let (year, month, day) = compute_date(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = write_fraction(nanos);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// Seconds and nanoseconds of a duration such as `-1.5s`.
pub(super) fn parse_duration(text: &str) -> Option<(i64, i32)> {
    let number = text.strip_suffix('s')?;
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, number),
    };
    let (whole, nanos) = match unsigned.split_once('.') {
        Some((whole, part)) => (whole, parse_fraction(part)?),
        None => (unsigned, 0),
    };
    let seconds = parse_digits(whole, whole.len()).filter(|&it| it <= MAX_DURATION)?;
    Some((sign * seconds, sign as i32 * nanos))
}

/// The text of a duration.
pub(super) fn write_duration(seconds: i64, nanos: i32) -> Option<String> {
    let agree = seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
    let in_range =
        seconds.unsigned_abs() <= MAX_DURATION as u64 && nanos.unsigned_abs() < 1_000_000_000;
    if !agree || !in_range {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    Some(format!("{sign}{}{}s", seconds.unsigned_abs(), write_fraction(nanos.abs())))
}

/// A path of a field mask in the names of the schema.
pub(super) fn to_snake_case(path: &str) -> Option<String> {
    let mut snake = String::with_capacity(path.len() + 4);
    for character in path.chars() {
        match character {
            '_' => return None,
            'A'..='Z' => snake.extend(['_', character.to_ascii_lowercase()]),
            _ => snake.push(character),
        }
    }
    Some(snake)
}

/// A path of a field mask in the names of JSON; `None` if it could not be read
/// back.
pub(super) fn to_camel_case(path: &str) -> Option<String> {
    let mut camel = String::with_capacity(path.len());
    let mut raise = false;
    for character in path.chars() {
        match character {
            'a'..='z' if raise => camel.push(character.to_ascii_uppercase()),
            'A'..='Z' | ',' => return None,
            _ if raise => return None,
            '_' => {}
            _ => camel.push(character),
        }
        raise = character == '_';
    }
    (!raise).then_some(camel)
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of base64, in the standard or the URL-safe alphabet, with or
/// without padding. Source: RFC 4648.
pub(super) fn parse_base64(text: &str) -> Option<Vec<u8>> {
    let unpadded = text.trim_end_matches('=');
    let padding = text.len() - unpadded.len();
    if unpadded.len() % 4 == 1 || padding > 0 && (padding > 2 || !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut bytes = Vec::with_capacity(unpadded.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in unpadded.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Appends bytes as base64 with padding.
pub(super) fn write_base64(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            out.push(match at <= chunk.len() {
                true => STANDARD[(bits >> (18 - 6 * at) & 63) as usize].into(),
                false => '=',
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_found_again() {
        let mut last = (0, 12, 31);
        for day in TIMESTAMPS.start() / SECONDS_PER_DAY..=TIMESTAMPS.end() / SECONDS_PER_DAY {
            let date = compute_date(day);
            assert_eq!(compute_day(date.0, date.1, date.2), day);
            assert!(date > last, "{date:?} follows {last:?}");
            last = date;
        }
        assert_eq!(last, (9999, 12, 31));
    }

    #[test]
    fn timestamps_are_those_of_rfc_3339() {
        let ends = [
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
            ("2024-02-29T12:30:00.100Z", 1_709_209_800, 100_000_000),
            ("9999-12-31T23:59:59.000001Z", 253_402_300_799, 1_000),
        ];
        for (text, seconds, nanos) in ends {
            assert_eq!(parse_timestamp(text), Some((seconds, nanos)), "{text}");
            assert_eq!(write_timestamp(seconds, nanos).as_deref(), Some(text));
        }
        assert_eq!(parse_timestamp("1970-01-01T01:30:00.5+01:30"), Some((0, 500_000_000)));
        let malformed = [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01t00:00:00Z",
            "1970-02-29T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.0000000001Z",
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:00:00+00:01",
            "1970-01-01T00:00:00+1:00",
            "1970-01-01T00:00:00é",
        ];
        for text in malformed {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
        assert_eq!(write_timestamp(0, -1), None);
    }

    #[test]
    fn durations_have_one_sign() {
        for (text, seconds, nanos) in
            [("0s", 0, 0), ("-0.500s", 0, -500_000_000), ("315576000000s", MAX_DURATION, 0)]
        {
            assert_eq!(parse_duration(text), Some((seconds, nanos)), "{text}");
            assert_eq!(write_duration(seconds, nanos).as_deref(), Some(text));
        }
        for text in ["", "s", "1", "1.s", "+1s", "--1s", "1.5.5s", "315576000001s", " 1s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(write_duration(1, -1), None);
    }

    #[test]
    fn base64_has_two_alphabets() {
        for (text, bytes) in
            [("", &b""[..]), ("AA==", b"\0"), ("+/8=", b"\xfb\xff"), ("Zm9v", b"foo")]
        {
            assert_eq!(parse_base64(text).as_deref(), Some(bytes));
            let mut written = String::new();
            write_base64(bytes, &mut written);
            assert_eq!(written, text);
        }
        assert_eq!(parse_base64("-_8").as_deref(), Some(&b"\xfb\xff"[..]));
        for text in ["A", "A===", "AA=", "A A=", "AAAA="] {
            assert_eq!(parse_base64(text), None, "{text}");
        }
    }

    #[test]
    fn paths_of_field_masks_must_be_read_back() {
        assert_eq!(to_camel_case("a.foo_bar").as_deref(), Some("a.fooBar"));
        assert_eq!(to_snake_case("a.fooBar").as_deref(), Some("a.foo_bar"));
        for path in ["fooBar", "foo_3", "foo__bar", "foo_", "a,b"] {
            assert_eq!(to_camel_case(path), None, "{path}");
        }
        assert_eq!(to_snake_case("foo_bar"), None);
    }
}
