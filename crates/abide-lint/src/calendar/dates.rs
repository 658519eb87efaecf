//! Days as texts name them, and months after a day.

use jiff::civil::Date;

/// A date without a time of day, such as `2027-06-30`.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    // `Date`'s own parser also accepts a time of day and drops it.
    (text.len() == 10).then(|| text.parse().ok())?
}

/// Returns true if a day is before protocol buffers were published: nothing in a proto file is that
/// old.
pub(crate) fn is_before_protobuf(day: Date) -> bool {
    const PUBLISHED: Date = jiff::civil::date(2008, 7, 7);
    day < PUBLISHED
}

/// Month and day, such as `06-30`.
pub(crate) fn day_of_year(text: &str) -> Option<(i8, i8)> {
    // A year without a 29 February.
    let date = parse_date(&format!("2023-{text}"))?;
    Some((date.month(), date.day()))
}

/// The day so many months later, or the last day of that month if it is
/// shorter; `None` beyond the range of dates.
pub(crate) fn months_after(since: Date, months: u32) -> Option<Date> {
    since.checked_add(jiff::Span::new().try_months(months).ok()?).ok()
}
