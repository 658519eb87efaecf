//! When majors and clients appear.

use jiff::Span;
use jiff::civil::Date;

use super::scenario::Scenario;
use crate::calendar::{AnnualDates, Calendar, months_after};

/// How many months before and after the simulated years are known. A scenario
/// has no longer period between two majors.
const MARGIN: u32 = 480;

/// The releases of majors and clients.
#[derive(Clone, Debug)]
pub(crate) struct ReleaseSchedule {
    majors: Majors,
    clients: AnnualDates,
    /// The days of all majors that a simulation can ask for, in order.
    known: Vec<Date>,
    from: Date,
}

/// The day so many months earlier, or the first of all days.
fn months_before(day: Date, months: u32) -> Date {
    let span = Span::new().try_months(months).ok();
    span.and_then(|span| day.checked_sub(span).ok()).unwrap_or(Date::MIN)
}

/// When majors appear.
#[derive(Clone, Debug)]
enum Majors {
    /// At each API release.
    Releases(AnnualDates),
    /// Every so many months, and one of them on this day.
    Every { months: u32, anchor: Date },
}

impl ReleaseSchedule {
    /// The schedule of a scenario. `None` if nothing says when majors appear.
    pub(crate) fn new(calendar: &Calendar, scenario: &Scenario) -> Option<ReleaseSchedule> {
        let releases = &calendar.api_releases;
        let majors = match scenario.major_every {
            Some(months) => {
                let anchor = releases.next(scenario.from).unwrap_or(scenario.from);
                Majors::Every { months: months.max(1), anchor }
            }
            None if releases.is_set() => Majors::Releases(releases.clone()),
            None => return None,
        };
        let clients = calendar.client_releases.clone();
        let mut schedule =
            ReleaseSchedule { majors, clients, known: Vec::new(), from: scenario.from };
        let (mut first, mut earliest) = (scenario.from, scenario.from);
        // What is in the fleet on the first day, and one major more.
        for months in [scenario.notice, MARGIN] {
            earliest = months_before(earliest, months);
        }
        while let Some(day) = schedule.find_previous_major(first).filter(|day| *day >= earliest) {
            schedule.known.push(day);
            first = day.yesterday().unwrap_or(Date::MIN);
        }
        schedule.known.reverse();
        let (mut last, latest) = (scenario.from, months_after(scenario.until(), MARGIN));
        while let Some(day) =
            schedule.next_major(last).filter(|day| latest.is_none_or(|it| *day <= it))
        {
            schedule.known.push(day);
            last = day;
        }
        Some(schedule)
    }

    /// The first day after another on which a major appears.
    pub(crate) fn next_major(&self, after: Date) -> Option<Date> {
        match &self.majors {
            Majors::Releases(clock) => clock.next(after),
            Majors::Every { .. } => {
                let mut number = self.count_steps_until(after)?;
                loop {
                    let day = self.compute_day(number)?;
                    if day > after {
                        return Some(day);
                    }
                    number += 1;
                }
            }
        }
    }

    /// The last day until another on which a major appeared.
    pub(crate) fn find_previous_major(&self, until: Date) -> Option<Date> {
        match &self.majors {
            Majors::Releases(clock) => clock.find_previous(until),
            Majors::Every { .. } => {
                let mut number = self.count_steps_until(until)? + 2;
                loop {
                    let day = self.compute_day(number)?;
                    if day <= until {
                        return Some(day);
                    }
                    number -= 1;
                }
            }
        }
    }

    /// A number of steps that leads to a day at or shortly before the given one.
    fn count_steps_until(&self, day: Date) -> Option<i64> {
        let Majors::Every { months, anchor } = self.majors else { return None };
        let apart = i64::from(day.year()) * 12 + i64::from(day.month())
            - i64::from(anchor.year()) * 12
            - i64::from(anchor.month());
        Some(apart.div_euclid(i64::from(months)) - 1)
    }

    fn compute_day(&self, number: i64) -> Option<Date> {
        let Majors::Every { months, anchor } = self.majors else { return None };
        let span = Span::new().try_months(number.checked_mul(i64::from(months))?).ok()?;
        let day = anchor.checked_add(span).ok()?;
        // The ends of quarters are ends of months.
        Some(if anchor == anchor.last_of_month() { day.last_of_month() } else { day })
    }

    /// The first day after another on which a client is released: with each major
    /// if clients have no releases of their own.
    pub(crate) fn next_client(&self, after: Date) -> Option<Date> {
        if self.clients.is_set() { self.clients.next(after) } else { self.next_major(after) }
    }

    /// The last client release until a day.
    pub(crate) fn find_previous_client(&self, until: Date) -> Option<Date> {
        if self.clients.is_set() {
            self.clients.find_previous(until)
        } else {
            self.find_previous_major(until)
        }
    }

    /// Returns true if clients have releases of their own.
    pub(crate) fn has_clients(&self) -> bool {
        self.clients.is_set()
    }

    /// The major that is the newest on a day, counted from the newest one on the
    /// first day, which is 0.
    pub(crate) fn find_newest(&self, day: Date) -> i64 {
        self.position(day) - self.position(self.from)
    }

    /// The day on which a major appears, by the same count.
    pub(crate) fn day_of(&self, major: i64) -> Option<Date> {
        let at = self.position(self.from).checked_add(major)?.checked_sub(1)?;
        self.known.get(usize::try_from(at).ok()?).copied()
    }

    /// Returns how many of the known majors appeared until a day.
    fn position(&self, day: Date) -> i64 {
        self.known.partition_point(|it| *it <= day) as i64
    }
}
