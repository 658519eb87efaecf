//! Spans of time on the command line, written as Go programs take them: `60s`, `1m30s`, `1.5h`.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;

/// Reads a duration; no sign, and `0` without a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let expected = || "write it like `90s`, `1m30s`, `1.5h` or `200ms`".to_owned();
    let is_go = text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'.' || it >= 0x80);
    let parsed = SpanParser::new().parse_duration(text).ok().filter(|_| is_go);
    let parsed = parsed.ok_or_else(expected)?;
    Duration::try_from(parsed).map_err(|_| expected())
}

/// A span of time, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.trim_end_matches('s').parse().map_err(|_| "expected seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_in_go() {
        let cases = [
            ("60s", 60_000),
            ("0s", 0),
            ("0", 0),
            ("200ms", 200),
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            ("2h45m", 9_900_000),
        ];
        for (text, millis) in cases {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "60", "-1s", "1 s", "s", "soon", "1s ago", "PT1S"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
