//! The release calendar: when clients and APIs are released, when a new major
//! may appear, and how long old versions are supported.
//!
//! Dates are arguments; nothing here reads the time. Everything counts from two
//! release schedules. Clients are released often, and phases of a deprecation
//! are counted in their releases. The API is released rarely, and only then may
//! a new major appear.

use std::collections::BTreeMap;
use std::fmt;

use abide_schema::{Package, Stability};
use jiff::Span;
use jiff::civil::Date;
use semver::Version;

use crate::dates::{months_after, parse_date};
use crate::deprecation_policy::PhaseFreeze;
use crate::semantic_version::dated;

/// How many days before an API release a new major may appear, unless
/// `[calendar]` sets it.
const MAJOR_WINDOW_DAYS: u32 = 30;

/// Clocks and windows: `[calendar]`.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// When clients of the API, such as a proxy, are released.
    pub client_releases: Clock,
    /// When the API is released: only then may a new major appear.
    pub api_releases: Clock,
    /// How many days before an API release a new major may appear.
    pub major_window_days: Option<u32>,
    /// How many months a stable major is supported once the next one is
    /// stable.
    pub previous_major_months: Option<u32>,
    /// The day since which each stable package exists.
    pub stable_since: BTreeMap<String, Date>,
    /// How many months an alpha may live.
    pub alpha_max_months: Option<u32>,
    /// How many API releases an alpha may see before it is promoted or
    /// deleted.
    pub alpha_max_releases: Option<u32>,
    /// The day since which each alpha package exists.
    pub alpha_since: BTreeMap<String, Date>,
    /// The days of the versions that `deprecated_at` names, such as `1.4` or
    /// `1.4.2`.
    pub version_dates: BTreeMap<String, Date>,
}

impl Calendar {
    /// The day that an annotation names: a date, or a version with a known date.
    /// The day of `1.4` is that of `1.4.0`, and of `1.4.2` unless that is known.
    pub fn day_of(&self, text: &str) -> Option<Date> {
        let known = |text: &str| self.version_dates.get(text).copied();
        let version = || dated(text).filter(|it| it.pre.is_empty());
        let minor = |it: Version| format!("{}.{}", it.major, it.minor);
        let by_patch = || known(&version()?.to_string());
        let by_minor = || known(&version().map(minor)?);
        parse_date(text).or_else(|| known(text)).or_else(by_patch).or_else(by_minor)
    }

    /// The day since which a package exists, if it is recorded: in the calendar,
    /// or else in `introduced` of `abide.annotations.v1.file_policy`. The
    /// earliest of its files counts.
    pub fn introduced(&self, package: Package<'_>) -> Option<Date> {
        let stability = package.version().map(|version| version.stability);
        let recorded = match stability {
            Some(Stability::Alpha) => self.alpha_since.get(package.name()),
            Some(Stability::Stable) => self.stable_since.get(package.name()),
            Some(Stability::Beta) | None => None,
        };
        let annotated = || package.files().filter_map(|it| parse_date(it.introduced()?.0)).min();
        recorded.copied().or_else(annotated)
    }

    /// The window in which a new major may appear: the one that is open on the
    /// day, or else the next one. `None` without API releases.
    pub fn major_window(&self, day: Date) -> Option<Window> {
        let closes = self.api_releases.next(day.yesterday().ok()?)?;
        let days = self.major_window_days.unwrap_or(MAJOR_WINDOW_DAYS);
        let opens = Span::new().try_days(days).ok().and_then(|days| closes.checked_sub(days).ok());
        Some(Window { opens: opens.unwrap_or(Date::MIN), closes })
    }

    /// The last day on which a stable major is supported, given the day on which
    /// its successor became stable.
    pub fn support_end(&self, successor_since: Date) -> Option<Date> {
        months_after(successor_since, self.previous_major_months?)
    }

    /// The last day on which an alpha may exist, given its first day, and the
    /// limit that sets it.
    pub fn alpha_end(&self, since: Date) -> Option<(Date, String)> {
        let count = |count: u32, noun: &str| match count {
            1 => format!("one {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let by_months = self
            .alpha_max_months
            .and_then(|months| Some((months_after(since, months)?, count(months, "month"))));
        let by_releases = self.alpha_max_releases.and_then(|releases| {
            let end = self.api_releases.nth(since, releases)?;
            Some((end, count(releases, "API release")))
        });
        by_months.into_iter().chain(by_releases).min_by_key(|(end, _)| *end)
    }

    /// The phases of a deprecation that begins on a day. `None` without client
    /// releases.
    pub fn phases(&self, since: Date, replacement: Replacement) -> Option<Phases> {
        let cycles = replacement.warning_cycles();
        let clock = &self.client_releases;
        let warned = clock.next(since)?;
        let last_warning = clock.nth(since, cycles)?;
        let disallowed = clock.next(last_warning)?;
        let removed = clock.next(disallowed)?;
        Some(Phases {
            deprecated: since,
            warned,
            last_warning: Some(last_warning),
            disallowed: Some(disallowed),
            removed: Some(removed),
        })
    }

    /// The last day on which anybody still serves an element that is deprecated
    /// since a day. The next major does not have it, and this one is supported
    /// for a while longer. With a yearly API release and a year of support, that
    /// is one to two years.
    pub fn life_end(&self, deprecated_since: Date) -> Option<Date> {
        self.support_end(self.api_releases.next(deprecated_since)?)
    }
}

/// Days of the year on which something is released.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Months and days, in order.
    days: Vec<(i8, i8)>,
}

impl Clock {
    /// A clock of days, each a month and a day. `None` if one of them is not a day
    /// of every year.
    pub fn of(days: impl IntoIterator<Item = (i8, i8)>) -> Option<Clock> {
        let mut days: Vec<(i8, i8)> = days.into_iter().collect();
        // 2023 has no 29 February.
        if days.iter().any(|(month, day)| Date::new(2023, *month, *day).is_err()) {
            return None;
        }
        days.sort_unstable();
        days.dedup();
        Some(Clock { days })
    }

    /// Whether anything is ever released.
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
    pub fn previous(&self, until: Date) -> Option<Date> {
        let years = [Some(until.year()), until.year().checked_sub(1)];
        let mut releases = years.into_iter().flatten().flat_map(|year| self.of_year(year).rev());
        releases.find(|release| *release <= until)
    }

    /// The release with this number, from 1, after a day. Each step moves the day
    /// forward, so the loop ends at the last date at the latest.
    fn nth(&self, after: Date, number: u32) -> Option<Date> {
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

impl fmt::Display for Clock {
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

/// The days on which a new major may appear, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first day.
    pub opens: Date,
    /// The last day: the day of the API release.
    pub closes: Date,
}

impl Window {
    /// Whether a day lies in it.
    pub fn contains(self, day: Date) -> bool {
        self.opens <= day && day <= self.closes
    }
}

/// The replacement of a deprecated element. It decides how long users are only
/// warned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// An equivalent that a stateless converter could translate to.
    #[default]
    Equivalent,
    /// Something that is not equivalent.
    NoEquivalent,
    /// Nothing.
    Nothing,
}

impl Replacement {
    /// How many releases in a row only warn. With an equivalent it is one, which
    /// gives users one to two cycles. Without an equivalent it is two full cycles,
    /// and without any replacement two more.
    pub const fn warning_cycles(self) -> u32 {
        match self {
            Replacement::Equivalent => 1,
            Replacement::NoEquivalent => 2,
            Replacement::Nothing => 4,
        }
    }
}

/// The phase of a deprecation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It is recorded, but not released.
    Deprecated,
    /// The latest release warns of its use.
    Warned,
    /// The latest release refuses its use unless an operator allows it.
    Disallowed,
    /// The latest release does not have it.
    Removed,
}

impl Phase {
    /// Its word in machine-readable reports.
    pub const fn word(self) -> &'static str {
        match self {
            Phase::Deprecated => "deprecated",
            Phase::Warned => "warned",
            Phase::Disallowed => "disallowed",
            Phase::Removed => "removed",
        }
    }

    /// What a release does with the element in this phase, for a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Phase::Deprecated => "deprecated",
            Phase::Warned => "warned about",
            Phase::Disallowed => "disallowed by default",
            Phase::Removed => "removed",
        }
    }
}

/// The days on which a deprecation changes its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The day since which it is deprecated.
    pub deprecated: Date,
    /// The first client release that warns.
    pub warned: Date,
    /// The last client release that only warns. Work on the next release begins
    /// then, and `disallowed_by_default` is set. `None` if a freeze without an end
    /// holds it back.
    pub last_warning: Option<Date>,
    /// The client release that refuses it. Work on its removal begins then. `None`
    /// if a freeze without an end holds it back.
    pub disallowed: Option<Date>,
    /// The first client release without it; `None` if only the next major version
    /// may lack it, and if a freeze without an end holds it back.
    pub removed: Option<Date>,
}

impl Phases {
    /// The phase on a day.
    pub fn on(&self, day: Date) -> Phase {
        let is_over = |begin: Option<Date>| begin.is_some_and(|begin| begin <= day);
        match day {
            _ if is_over(self.removed) => Phase::Removed,
            _ if is_over(self.disallowed) => Phase::Disallowed,
            _ if day >= self.warned => Phase::Warned,
            _ => Phase::Deprecated,
        }
    }

    /// The next phase after a day, and when it begins, if that is known.
    pub fn next(&self, after: Date) -> Option<(Phase, Date)> {
        match self.on(after) {
            Phase::Deprecated => Some((Phase::Warned, self.warned)),
            Phase::Warned => Some((Phase::Disallowed, self.disallowed?)),
            Phase::Disallowed => Some((Phase::Removed, self.removed?)),
            Phase::Removed => None,
        }
    }

    /// The same phases, but no release of a frozen day disallows or removes the
    /// element: the first release after the freeze does.
    pub fn held_back(self, clock: &Clock, freezes: &[PhaseFreeze]) -> Phases {
        let thawed = |day: Option<Date>| {
            let mut day = day?;
            // Each round leaves a freeze behind.
            while let Some(freeze) = freezes.iter().find(|it| it.contains(day)) {
                day = clock.next(freeze.until?)?;
            }
            Some(day)
        };
        let disallowed = thawed(self.disallowed);
        if disallowed == self.disallowed {
            return Phases { removed: thawed(self.removed), ..self };
        }
        let before = |day: Date| clock.previous(day.yesterday().ok()?);
        Phases {
            last_warning: disallowed.and_then(before),
            disallowed,
            removed: thawed(disallowed.and_then(|day| clock.next(day))),
            ..self
        }
    }
}
