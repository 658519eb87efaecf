//! The assumptions of a simulation, and the steps of its computations.

use jiff::civil::Date;

use crate::calendar::months_after;

/// What is assumed besides the policy.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The first day.
    pub from: Date,
    /// How many years.
    pub years: u32,
    /// How many months a client may stay in the fleet after its release.
    pub notice: u32,
    /// A new major appears every so many months; `None` means at each API release
    /// of the policy.
    pub major_every: Option<u32>,
}

impl Scenario {
    /// The last day.
    pub fn until(&self) -> Date {
        months_after(self.from, self.years.saturating_mul(12)).unwrap_or(Date::MAX)
    }
}

/// A step of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivationStep {
    /// What it says: one phrase in lower case.
    pub text: String,
    /// The keys and options that it comes from.
    pub keys: Vec<&'static str>,
}

impl DerivationStep {
    pub(super) fn new(
        text: impl Into<String>,
        keys: impl Into<Vec<&'static str>>,
    ) -> DerivationStep {
        DerivationStep { text: text.into(), keys: keys.into() }
    }
}
