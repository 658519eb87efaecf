//! The days of the year on which something is released.

use std::fmt;

use jiff::civil::Date;

/// Days of the year on which something is released.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnualDates {
    /// Months and days, in order.
    days: Vec<(i8, i8)>,
}

impl AnnualDates {
    /// A clock of days, each a month and a day. `None` if one of them is not a day
    /// of every year.
    pub fn new(days: impl IntoIterator<Item = (i8, i8)>) -> Option<AnnualDates> {
        let mut days: Vec<(i8, i8)> = days.into_iter().collect();
        // 2023 has no 29 February.
        if days.iter().any(|(month, day)| Date::new(2023, *month, *day).is_err()) {
            return None;
        }
        days.sort_unstable();
        days.dedup();
        Some(AnnualDates { days })
    }

    /// Returns true if anything is ever released.
    pub fn is_set(&self) -> bool {
        !self.days.is_empty()
    }

    /// The first release after a day.
    pub fn next(&self, after: Date) -> Option<Date> {
        let years = [Some(after.year()), after.year().checked_add(1)];
        let mut releases = years.into_iter().flatten().flat_map(|year| self.of_year(year));
        releases.find(|release| *release > after)
    }

    /// The last release on a day or before it.
    pub fn find_previous(&self, until: Date) -> Option<Date> {
        let years = [Some(until.year()), until.year().checked_sub(1)];
        let mut releases = years.into_iter().flatten().flat_map(|year| self.of_year(year).rev());
        releases.find(|release| *release <= until)
    }

    /// The release with this number, from 1, after a day. Each step moves the day
    /// forward, so the loop ends at the last date at the latest.
    pub(crate) fn find_nth(&self, after: Date, number: u32) -> Option<Date> {
        let mut day = after;
        for _ in 0..number {
            day = self.next(day)?;
        }
        Some(day)
    }

    fn of_year(&self, year: i16) -> impl DoubleEndedIterator<Item = Date> {
        self.days.iter().filter_map(move |&(month, day)| Date::new(year, month, day).ok())
    }
}

impl fmt::Display for AnnualDates {
    /// Its days as month and day, such as `03-31 and 09-30`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (month, day)) in self.days.iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index + 1 == self.days.len() => " and ",
                _ => ", ",
            };
            write!(f, "{before}{month:02}-{day:02}")?;
        }
        Ok(())
    }
}
