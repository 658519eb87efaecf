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

use bounds::LifetimeBound;
use fleet::FleetMajors;
use scenario::{DerivationStep, Scenario};
use schedule::ReleaseSchedule;
use timeline::{MajorTrack, build_major_tracks};

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What is assumed.
    pub scenario: Scenario,
    /// How many majors the fleet needs at once: the least and the most.
    pub majors: (usize, usize),
    /// How that was counted.
    pub steps: Vec<DerivationStep>,
    /// What the policy says against it, one phrase each.
    pub conflicts: Vec<DerivationStep>,
    /// The majors that the fleet needs, from each day on which they change.
    pub fleets: Vec<FleetMajors>,
    /// The bounds that follow from the policy.
    pub bounds: Vec<LifetimeBound>,
    /// The lives of the majors.
    pub lanes: Vec<MajorTrack>,
}

impl Simulation {
    /// Simulates a policy. `None` if nothing says when majors appear: neither
    /// `api-releases` nor the scenario.
    pub fn run(policy: &Policy, scenario: Scenario) -> Option<Simulation> {
        let calendar = &policy.calendar;
        let schedule = ReleaseSchedule::new(calendar, &scenario)?;
        let fleets = fleet::compute_fleets(&schedule, &scenario);
        let count = |fleet: &FleetMajors| fleet.majors.len();
        let peak = fleets.iter().rev().max_by_key(|it| count(it))?;
        let least = fleets.iter().map(count).min()?;
        let steps = fleet::derive_majors(&schedule, &scenario, calendar, peak);
        let conflicts = fleet::find_conflicts(&schedule, policy, &fleets);
        let fleets = fleet::keep_changes(fleets.clone());
        Some(Simulation {
            scenario,
            majors: (least, count(peak)),
            steps,
            conflicts,
            bounds: bounds::compute_bounds(calendar, &schedule, &scenario),
            lanes: build_major_tracks(calendar, &schedule, &scenario),
            fleets,
        })
    }
}
