//! What follows from a calendar: how many majors a fleet needs at once, how long
//! things live by the policy, and the life of one element or package.
//!
//! Every result carries its derivation: the steps of the computation, with the
//! keys of `abide.toml` and the options of the command line that they come from.

pub(crate) mod bounds;
pub(crate) mod fleet;
pub(crate) mod life;
pub(crate) mod schedule;

use jiff::civil::Date;

use crate::policy::Policy;

use bounds::Bound;
use fleet::Fleet;
use life::{Lane, major_lanes};
use schedule::Schedule;

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
        crate::dates::months_after(self.from, self.years.saturating_mul(12)).unwrap_or(Date::MAX)
    }
}

/// A step of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it says: one phrase in lower case.
    pub text: String,
    /// The keys and options that it comes from.
    pub keys: Vec<&'static str>,
}

impl Step {
    fn new(text: impl Into<String>, keys: impl Into<Vec<&'static str>>) -> Step {
        Step { text: text.into(), keys: keys.into() }
    }
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What is assumed.
    pub scenario: Scenario,
    /// How many majors the fleet needs at once: the least and the most.
    pub majors: (usize, usize),
    /// How that was counted.
    pub steps: Vec<Step>,
    /// What the policy says against it, one phrase each.
    pub conflicts: Vec<Step>,
    /// The majors that the fleet needs, from each day on which they change.
    pub fleets: Vec<Fleet>,
    /// The bounds that follow from the policy.
    pub bounds: Vec<Bound>,
    /// The lives of the majors.
    pub lanes: Vec<Lane>,
}

impl Simulation {
    /// Simulates a policy. `None` if nothing says when majors appear: neither
    /// `api-releases` nor the scenario.
    pub fn of(policy: &Policy, scenario: Scenario) -> Option<Simulation> {
        let calendar = &policy.calendar;
        let schedule = Schedule::of(calendar, &scenario)?;
        let fleets = fleet::fleets(&schedule, &scenario);
        let count = |fleet: &Fleet| fleet.majors.len();
        let peak = fleets.iter().rev().max_by_key(|it| count(it))?;
        let least = fleets.iter().map(count).min()?;
        let steps = fleet::steps(&schedule, &scenario, calendar, peak);
        let conflicts = fleet::conflicts(&schedule, policy, &fleets);
        let fleets = fleet::changes(fleets.clone());
        Some(Simulation {
            scenario,
            majors: (least, count(peak)),
            steps,
            conflicts,
            bounds: bounds::bounds(calendar, &schedule, &scenario),
            lanes: major_lanes(calendar, &schedule, &scenario),
            fleets,
        })
    }
}
