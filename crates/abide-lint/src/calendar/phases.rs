//! The phases of a deprecation: what releases do with a deprecated element, and since
//! when.

use jiff::civil::Date;

use super::release_dates::AnnualDates;

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
    /// Returns how many releases in a row only warn. With an equivalent it is one, which
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

    /// Returns what a release does with the element in this phase, for a sentence.
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
    /// may remove it, and if a freeze without an end holds it back.
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
    pub fn held_back(self, clock: &AnnualDates, freezes: &[PhaseFreeze]) -> Phases {
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
        let before = |day: Date| clock.find_previous(day.yesterday().ok()?);
        Phases {
            last_warning: disallowed.and_then(before),
            disallowed,
            removed: thawed(disallowed.and_then(|day| clock.next(day))),
            ..self
        }
    }
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
    /// Returns true if a day lies in it.
    pub fn contains(self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }
}
