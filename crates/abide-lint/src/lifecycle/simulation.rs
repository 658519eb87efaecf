//! What follows from a calendar: how many majors a fleet needs at once, how long
//! things live by the policy, and the life of one element or package.
//!
//! Every result carries its derivation: the steps of the computation, with the
//! keys of `abide.toml` and the options of the command line that they come from.

pub(crate) mod bounds;
pub(crate) mod fleet;
pub(crate) mod scenario;
pub(crate) mod schedule;
pub(crate) mod timeline;

use crate::policy::Policy;

use bounds::Bound;
use fleet::Fleet;
use scenario::{Scenario, Step};
use schedule::Schedule;
use timeline::{Lane, major_lanes};

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
