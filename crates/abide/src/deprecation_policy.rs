//! When deprecated elements are disallowed by default, and when they may be
//! removed: `[deprecation]`.

use abide_schema::Glob;
use jiff::civil::Date;

use crate::calendar::{Calendar, Replacement};
use crate::dates::months_after;
use crate::finding::Gone;

/// When deprecated elements may be removed.
#[derive(Clone, Debug, Default)]
pub struct DeprecationPolicy {
    /// What may be removed from a package that must not break.
    pub removal: Removal,
    /// How many months an element must have been deprecated, counted from the
    /// day of its `deprecated_at`. If that day is not known, the element may not
    /// be removed.
    pub window_months: Option<u32>,
    /// Elements whose replacement is not equivalent.
    pub without_equivalent: Vec<Glob>,
    /// Elements without a replacement.
    pub dropped: Vec<Glob>,
    /// When nothing more becomes disallowed by default.
    pub freezes: Vec<PhaseFreeze>,
}

/// Days on which no client release disallows or removes more than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseFreeze {
    /// The first day; `None` if it was always so.
    pub from: Option<Date>,
    /// The last day; `None` if no end is known.
    pub until: Option<Date>,
}

impl PhaseFreeze {
    /// Whether a day lies in it.
    pub fn contains(self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }
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
}

impl Removal {
    /// Every kind, with its word in configuration.
    pub(crate) const ALL: [(&str, Removal); 3] = [
        ("never", Removal::Never),
        ("reserved", Removal::Reserved),
        ("deprecated", Removal::Deprecated),
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
    /// How a deprecated element is replaced: by an equivalent, unless
    /// `without_equivalent` or `dropped` names it or an enclosing element.
    pub fn replacement(&self, element: &str) -> Replacement {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.covers(element));
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
    /// version may lack it.
    pub(crate) fn removable_from(&self, since: Date) -> Option<Date> {
        match self.removal {
            Removal::Never => None,
            Removal::Reserved => Some(since),
            Removal::Deprecated => {
                self.window_months.map_or(Some(since), |months| months_after(since, months))
            }
        }
    }

    /// Whether an element in this state may be removed.
    pub fn allows(&self, gone: &Gone, calendar: &Calendar, as_of: Date) -> bool {
        self.terms(gone, calendar, as_of).is_none()
    }

    /// What stands against the removal of an element in this state.
    pub(crate) fn terms(
        &self,
        gone: &Gone,
        calendar: &Calendar,
        as_of: Date,
    ) -> Option<RemovalTerms> {
        let by = format!("`[deprecation] removal` is \"{}\"", self.removal.word());
        let put_back = match gone.deprecated {
            true => "put it back",
            false => "put it back and deprecate it",
        };
        let since = gone.deprecated_at.as_deref().and_then(|text| calendar.day_of(text));
        let known = since.map(|day| format!("; it is deprecated since {day}")).unwrap_or_default();
        let reserve = if gone.reserved { "" } else { "; its number and its name must be reserved" };
        match self.removal {
            Removal::Never => {
                let window = calendar
                    .major_window(as_of)
                    .map(|it| format!(", which may appear from {} to {}", it.opens, it.closes));
                Some(RemovalTerms {
                    why: format!(
                        "{by}: only the next major version may lack it{}{known}",
                        window.unwrap_or_default()
                    ),
                    help: Some(format!(
                        "{put_back}; `abide upgrade` leaves it out of the next major version"
                    )),
                })
            }
            Removal::Reserved if gone.reserved => None,
            Removal::Reserved => Some(RemovalTerms {
                why: format!("{by}: it may go once its number and its name are reserved"),
                help: None,
            }),
            Removal::Deprecated if !gone.deprecated => {
                let window = self
                    .window_months
                    .map(|months| format!(" for {} (`window-months`)", counted(months, "month")));
                Some(RemovalTerms {
                    why: format!(
                        "{by}: it may go once a release had it as deprecated{}{reserve}",
                        window.unwrap_or_default()
                    ),
                    help: Some(put_back.to_owned()),
                })
            }
            Removal::Deprecated => {
                let (months, day) = match (self.window_months, since) {
                    (Some(months), Some(day)) => (months, day),
                    (Some(_), None) => {
                        return Some(RemovalTerms {
                            why: format!(
                                "{by} and `window-months` counts from the day of its \
                                 `deprecated_at`, which is not known{reserve}"
                            ),
                            help: Some(format!(
                                "{put_back}; say in `deprecated_at` since which day it is \
                                 deprecated, or since which version of `version-dates`"
                            )),
                        });
                    }
                    (None, _) if gone.reserved => return None,
                    (None, _) => {
                        return Some(RemovalTerms {
                            why: format!("{by}{known}{reserve}"),
                            help: None,
                        });
                    }
                };
                let end = months_after(day, months).filter(|end| as_of >= *end);
                if end.is_some() && gone.reserved {
                    return None;
                }
                let from = match months_after(day, months) {
                    Some(end) => format!("it may go from {end} on"),
                    None => "it may not go".to_owned(),
                };
                let months = counted(months, "month");
                Some(RemovalTerms {
                    why: format!(
                        "{by}: {from}, because it is deprecated since {day} and \
                         `window-months` asks for {months}{reserve}"
                    ),
                    help: end.is_none().then(|| format!("{put_back} until then")),
                })
            }
        }
    }
}

/// A number with its noun.
fn counted(count: u32, noun: &str) -> String {
    match count {
        1 => format!("one {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
