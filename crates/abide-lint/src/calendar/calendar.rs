//! The release calendar: when clients and APIs are released, when a new major
//! may appear, and how long old versions are supported.
//!
//! Dates are arguments; nothing here reads the time. Everything counts from two
//! release schedules. Clients are released often, and phases of a deprecation
//! are counted in their releases. The API is released rarely, and only then may
//! a new major appear.

use std::collections::BTreeMap;

use abide_schema::{Package, Stability};
use jiff::Span;
use jiff::civil::Date;
use semver::Version;

use super::dates::{is_before_protobuf, months_after, parse_date};
use super::phases::{Phases, Replacement};
use super::release_dates::AnnualDates;
use super::semantic_version::dated;
use crate::wording::pluralize;

/// How many days before an API release a new major may appear, unless
/// `[calendar]` sets it.
const MAJOR_WINDOW_DAYS: u32 = 30;

/// Clocks and windows: `[calendar]`.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// When clients of the API, such as a proxy, are released.
    pub client_releases: AnnualDates,
    /// When the API is released: only then may a new major appear.
    pub api_releases: AnnualDates,
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
    /// A date before protocol buffers were published is none.
    /// The day of `1.4` is that of `1.4.0`, and of `1.4.2` unless that is known.
    pub fn day_of(&self, text: &str) -> Option<Date> {
        let known = |text: &str| self.version_dates.get(text).copied();
        let version = || dated(text).filter(|it| it.pre.is_empty());
        let minor = |it: Version| format!("{}.{}", it.major, it.minor);
        let by_patch = || known(&version()?.to_string());
        let by_minor = || known(&version().map(minor)?);
        let day = parse_date(text).filter(|it| !is_before_protobuf(*it));
        day.or_else(|| known(text)).or_else(by_patch).or_else(by_minor)
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
        let by_months = self.alpha_max_months.and_then(|months| {
            Some((months_after(since, months)?, pluralize(months as usize, "month")))
        });
        let by_releases = self.alpha_max_releases.and_then(|releases| {
            let end = self.api_releases.find_nth(since, releases)?;
            Some((end, pluralize(releases as usize, "API release")))
        });
        by_months.into_iter().chain(by_releases).min_by_key(|(end, _)| *end)
    }

    /// The phases of a deprecation that begins on a day. `None` without client
    /// releases.
    pub fn phases(&self, since: Date, replacement: Replacement) -> Option<Phases> {
        let cycles = replacement.warning_cycles();
        let clock = &self.client_releases;
        let warned = clock.next(since)?;
        let last_warning = clock.find_nth(since, cycles)?;
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

/// The days on which a new major may appear, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first day.
    pub opens: Date,
    /// The last day: the day of the API release.
    pub closes: Date,
}

impl Window {
    /// Returns true if a day lies in it.
    pub fn contains(self, day: Date) -> bool {
        self.opens <= day && day <= self.closes
    }
}
