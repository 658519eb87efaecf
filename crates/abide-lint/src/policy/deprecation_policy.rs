//! When deprecated elements are disallowed by default, and when they may be
//! removed: `[deprecation]`.

use abide_schema::Glob;
use jiff::Span;
use jiff::civil::Date;

use crate::calendar::{Calendar, PhaseFreeze, Replacement, months_after};
use crate::finding::Gone;
use crate::wording::pluralize;

/// When deprecated elements may be removed.
#[derive(Clone, Debug, Default)]
pub struct DeprecationPolicy {
    /// What may be removed from a package that must not break.
    pub removal: Removal,
    /// How many months an element must have been deprecated, counted from the
    /// day of its `deprecated_at`. If that day is not known, the element may not
    /// be removed.
    pub window_months: Option<u32>,
    /// How many days nobody must have used an element; without them, no use may be known at all.
    pub unused_days: Option<u32>,
    /// Elements whose replacement is not equivalent.
    pub without_equivalent: Vec<Glob>,
    /// Elements without a replacement.
    pub dropped: Vec<Glob>,
    /// When nothing more becomes disallowed by default.
    pub freezes: Vec<PhaseFreeze>,
    /// The Markdown file that lists what is deprecated, relative to the folder of
    /// `abide.toml`.
    pub file: Option<String>,
}

/// What may be removed from a package that must not break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removal {
    /// Nothing.
    #[default]
    Never,
    /// An element whose number and name are reserved.
    Reserved,
    /// An element whose number and name are reserved and that was deprecated on
    /// the old side, for at least the window.
    Deprecated,
    /// An element whose number and name are reserved and that nobody has used for `unused-days`.
    Unused,
}

/// The last use of an element that is to go, as far as files say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastUse<'u> {
    /// No file says who uses what.
    Unknown,
    /// No file names it.
    Never,
    /// By this client on this day; without a day, perhaps today.
    By(&'u str, Option<Date>),
}

impl Removal {
    /// Every kind, with its word in configuration.
    pub(crate) const ALL: [(&str, Removal); 4] = [
        ("never", Removal::Never),
        ("reserved", Removal::Reserved),
        ("deprecated", Removal::Deprecated),
        ("unused", Removal::Unused),
    ];

    fn word(self) -> &'static str {
        let named = Removal::ALL.into_iter().find(|(_, it)| *it == self);
        named.map(|(word, _)| word).unwrap_or_default()
    }
}

/// Why a removal is not allowed, and what allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemovalTerms {
    /// What the policy asks, and from which day on it allows the removal.
    pub(crate) why: String,
    /// What to do, unless the number and the name only have to be reserved.
    pub(crate) help: Option<String>,
}

impl DeprecationPolicy {
    /// Returns how a deprecated element is replaced: by an equivalent, unless
    /// `without_equivalent` or `dropped` names it or an enclosing element.
    pub fn replacement(&self, element: &str) -> Replacement {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.matches_container(element));
        match () {
            () if named(&self.dropped) => Replacement::Nothing,
            () if named(&self.without_equivalent) => Replacement::NoEquivalent,
            () => Replacement::Equivalent,
        }
    }

    /// The freeze on a day.
    pub fn freeze_on(&self, day: Date) -> Option<PhaseFreeze> {
        self.freezes.iter().copied().find(|it| it.contains(day))
    }

    /// The first day on which an element that is deprecated since a day may be
    /// removed from a package that must not break; `None` if only the next major
    /// version may remove it.
    pub(crate) fn removable_from(&self, since: Date) -> Option<Date> {
        match self.removal {
            Removal::Never => None,
            Removal::Reserved | Removal::Unused => Some(since),
            Removal::Deprecated => {
                self.window_months.map_or(Some(since), |months| months_after(since, months))
            }
        }
    }

    /// Returns true if a deprecated element may be removed from a package that must not break some
    /// time after the day on which it was deprecated.
    pub(crate) fn counts_days(&self, calendar: &Calendar) -> bool {
        let counts = self.window_months.is_some() || calendar.client_releases.is_set();
        self.removal == Removal::Deprecated && counts
    }

    /// The first day on which a deprecated element may be removed, and the key that
    /// sets it: the last day of the window, or the day on which clients refuse it by
    /// default. `None` without either, and a day of `None` for never.
    fn removable(
        &self,
        element: &str,
        since: Date,
        calendar: &Calendar,
    ) -> Option<(Option<Date>, String)> {
        let window = self.window_months.map(|months| {
            let asked = format!("`window-months` asks for {}", pluralize(months as usize, "month"));
            (months_after(since, months), asked)
        });
        let phases = calendar.phases(since, self.replacement(element));
        let refused = phases.map(|phases| {
            let day = phases.held_back(&calendar.client_releases, &self.freezes).disallowed;
            let held = if day == phases.disallowed { "" } else { " and `freeze`" };
            (day, format!("clients refuse it only from then on (`client-releases`{held})"))
        });
        let never_last = |(day, _): &(Option<Date>, String)| (day.is_none(), *day);
        window.into_iter().chain(refused).max_by_key(never_last)
    }

    /// Returns what stands against the removal of an element in this state; `None` if it is
    /// allowed.
    pub(crate) fn terms(
        &self,
        element: &str,
        gone: &Gone,
        calendar: &Calendar,
        (as_of, last_use): (Date, LastUse<'_>),
    ) -> Option<RemovalTerms> {
        let by = format!("`[deprecation] removal` is \"{}\"", self.removal.word());
        let put_back = &gone.put_back;
        let since = gone.deprecated_at.as_deref().and_then(|text| calendar.day_of(text));
        let known =
            since.map(|day| format!("; it has been deprecated since {day}")).unwrap_or_default();
        let reserve = if gone.reserved { "" } else { "; its number and its name must be reserved" };
        let (why, help) = match self.removal {
            Removal::Never => {
                let window = calendar
                    .major_window(as_of)
                    .map(|it| format!(", which may appear from {} to {},", it.opens, it.closes));
                let window = window.unwrap_or_default();
                (
                    format!("{by}: only the next major version{window} may remove it{known}"),
                    Some(format!(
                        "{put_back}; `abide upgrade` leaves it out of the next major version"
                    )),
                )
            }
            Removal::Reserved if gone.reserved => return None,
            Removal::Reserved => {
                (format!("{by}: it may go once its number and its name are reserved"), None)
            }
            Removal::Unused => return self.unused_terms(gone, as_of, last_use),
            Removal::Deprecated if !gone.deprecated => {
                let window = self.window_months.map(|months| {
                    format!(" for {} (`window-months`)", pluralize(months as usize, "month"))
                });
                let window = window.unwrap_or_default();
                (
                    format!("{by}: it must be deprecated in a release first{window}{reserve}"),
                    Some(put_back.clone()),
                )
            }
            Removal::Deprecated if since.is_none() && self.window_months.is_some() => (
                format!(
                    "{by} and `window-months` counts from the day of its `deprecated_at`, which is \
                     not known{reserve}"
                ),
                Some(format!(
                    "{put_back}, and set `deprecated_at` to the day on which it was deprecated, or to a \
                     version in `version-dates`"
                )),
            ),
            Removal::Deprecated => {
                let limit = since.and_then(|day| self.removable(element, day, calendar));
                let limit = limit.filter(|(day, _)| day.is_none_or(|day| as_of < day));
                match limit {
                    None if gone.reserved => return None,
                    None => (format!("{by}{known}{reserve}"), None),
                    Some((day, key)) => {
                        let from = match day {
                            Some(day) => format!("it may go from {day} on, because {key}"),
                            None => "it may not go until `freeze` ends".to_owned(),
                        };
                        let help = format!("{put_back} until then");
                        (format!("{by}: {from}{known}{reserve}"), Some(help))
                    }
                }
            }
        };
        Some(RemovalTerms { why, help })
    }
    /// Returns what stands against the removal of an element by its last use; `None` if nothing
    /// does.
    fn unused_terms(
        &self,
        gone: &Gone,
        as_of: Date,
        last_use: LastUse<'_>,
    ) -> Option<RemovalTerms> {
        let by = "`[deprecation] removal` is \"unused\"";
        let reserve = if gone.reserved { "" } else { "; its number and its name must be reserved" };
        let put_back = &gone.put_back;
        let (why, help) = match last_use {
            LastUse::Unknown => (
                format!("{by}, and no file says who uses it{reserve}"),
                Some(format!("{put_back}, or name files of uses in `[usage] files`")),
            ),
            LastUse::By(client, None) => (
                format!("{by}: `{client}` uses it{reserve}"),
                Some(format!("{put_back} until `{client}` no longer uses it")),
            ),
            LastUse::By(client, Some(last)) if as_of < self.free_from(last) => {
                let when = match self.free_from(last) {
                    Date::MAX => String::new(),
                    from => format!(", so it may go from {from} on"),
                };
                let why = format!("{by}: `{client}` used it on {last}{when}{reserve}");
                (why, Some(format!("{put_back} until then")))
            }
            LastUse::By(..) | LastUse::Never if gone.reserved => return None,
            LastUse::By(..) | LastUse::Never => (
                format!(
                    "{by}: nobody uses it; it may go once its number and its name are reserved"
                ),
                None,
            ),
        };
        Some(RemovalTerms { why, help })
    }
    /// The first day on which an element may go that was last used on a day.
    fn free_from(&self, last: Date) -> Date {
        let days = self.unused_days.and_then(|it| Span::new().try_days(i64::from(it)).ok());
        days.and_then(|it| last.checked_add(it).ok()).unwrap_or(Date::MAX)
    }
}
