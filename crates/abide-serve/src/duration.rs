//! Spans of time on the command line, written as Go programs take them: `60s`, `1m30s`, `1.5h`.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;

use crate::error::Error;

/// Reads a duration; no sign, and `0` without a unit.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, Error> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let expected = || Error::Argument("write it like `90s`, `1m30s`, `1.5h` or `200ms`".to_owned());
    let is_go = text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'.' || it >= 0x80);
    let parsed = SpanParser::new().parse_duration(text).ok().filter(|_| is_go);
    let parsed = parsed.ok_or_else(expected)?;
    Duration::try_from(parsed).map_err(|_| expected())
}

/// Reads a number of seconds, with or without the unit.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, Error> {
    let seconds: Result<f64, _> = text.trim_end_matches('s').parse();
    let seconds = seconds.map_err(|_| Error::Argument("expected seconds".to_owned()))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| Error::Argument(error.to_string()))
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
            assert_eq!(parse_duration(text).ok(), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "60", "-1s", "1 s", "s", "soon", "1s ago", "PT1S"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
