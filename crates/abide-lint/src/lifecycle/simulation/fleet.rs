//! Which majors the clients of a fleet speak.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::scenario::{DerivationStep, Scenario};
use super::schedule::ReleaseSchedule;
use crate::calendar::{Calendar, months_after};
use crate::policy::Policy;
use crate::wording::pluralize;

/// The fleet on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetMajors {
    /// The day.
    pub day: Date,
    /// The days on which its clients were released.
    pub clients: Vec<Date>,
    /// The majors that they speak, counted from the newest one on the first day of
    /// the simulation, which is 0.
    pub majors: BTreeSet<i64>,
}

impl FleetMajors {
    /// The clients that may be in a fleet on a day: those released within the
    /// notice period, the newest, and on the day of a release the one before it,
    /// because the fleet is updated then.
    fn on(day: Date, schedule: &ReleaseSchedule, notice: u32) -> FleetMajors {
        let mut clients = BTreeSet::new();
        let newest = schedule.find_previous_client(day);
        let before = |it: Date| schedule.find_previous_client(it.yesterday().ok()?);
        let mut next = newest;
        while let Some(release) = next {
            let stays = months_after(release, notice).is_none_or(|end| day < end);
            let is_replaced_today = newest == Some(day) && before(day) == Some(release);
            if !stays && newest != Some(release) && !is_replaced_today {
                break;
            }
            clients.insert(release);
            next = before(release);
        }
        let majors = clients.iter().map(|release| schedule.find_newest(*release)).collect();
        FleetMajors { day, clients: clients.into_iter().collect(), majors }
    }
}

/// The fleets of every day on which they can change.
pub(super) fn compute_fleets(schedule: &ReleaseSchedule, scenario: &Scenario) -> Vec<FleetMajors> {
    let until = scenario.until();
    let mut days = BTreeSet::from([scenario.from]);
    let mut seen = FleetMajors::on(scenario.from, schedule, scenario.notice).clients;
    let mut day = scenario.from;
    while let Some(next) = schedule.next_client(day).filter(|next| *next <= until) {
        days.insert(next);
        // The rollout is over the day after.
        days.extend(next.tomorrow());
        seen.push(next);
        day = next;
    }
    days.extend(seen.into_iter().filter_map(|release| months_after(release, scenario.notice)));
    let shown = days.into_iter().filter(|day| (scenario.from..=until).contains(day));
    shown.map(|day| FleetMajors::on(day, schedule, scenario.notice)).collect()
}

/// The fleets whose majors differ from those before.
pub(super) fn keep_changes(mut fleets: Vec<FleetMajors>) -> Vec<FleetMajors> {
    fleets.dedup_by(|next, before| next.majors == before.majors);
    fleets
}

/// Returns how the need of the fleet with the most majors was counted.
pub(super) fn derive_majors(
    schedule: &ReleaseSchedule,
    scenario: &Scenario,
    calendar: &Calendar,
    peak: &FleetMajors,
) -> Vec<DerivationStep> {
    let mut steps = vec![match scenario.major_every {
        Some(months) => DerivationStep::new(
            format!("a new major appears every {}", pluralize(months as usize, "month")),
            ["--major-every"],
        ),
        None => DerivationStep::new(
            format!("a new major appears at each API release, on {}", calendar.api_releases),
            ["[calendar] api-releases"],
        ),
    }];
    steps.push(match schedule.has_clients() {
        true => DerivationStep::new(
            format!(
                "clients are released on {}, and speak the newest major of that day",
                calendar.client_releases
            ),
            ["[calendar] client-releases"],
        ),
        false => DerivationStep::new("clients are released with each major, and speak it", []),
    });
    let clients: Vec<String> = peak.clients.iter().map(ToString::to_string).collect();
    let releases = pluralize(clients.len(), "release");
    let holds = format!("on {} the fleet holds {releases}: {}", peak.day, clients.join(", "));
    steps.push(match scenario.notice {
        0 => DerivationStep::new(
            format!(
                "all clients are updated together, so there is the newest one, and on the day of \
                 a release the one before it: {holds}"
            ),
            ["--notice"],
        ),
        months => DerivationStep::new(
            format!(
                "a client may stay {} after its release: {holds}",
                pluralize(months as usize, "month")
            ),
            ["--notice"],
        ),
    });
    steps.push(DerivationStep::new(
        format!("they speak {}", pluralize(peak.majors.len(), "different major")),
        [],
    ));
    steps
}

/// Returns where the policy does not fit the need.
pub(super) fn find_conflicts(
    schedule: &ReleaseSchedule,
    policy: &Policy,
    fleets: &[FleetMajors],
) -> Vec<DerivationStep> {
    let mut conflicts = Vec::new();
    let most = fleets.iter().map(|it| it.majors.len()).max().unwrap_or_default();
    if let Some(max) = policy.packages.max_majors.filter(|max| most > *max as usize) {
        conflicts.push(DerivationStep::new(
            format!("the fleet needs {most} majors at once, and the policy allows {max}"),
            ["[packages] max-majors"],
        ));
    }
    let end = |major: i64| policy.calendar.support_end(schedule.day_of(major + 1)?);
    let unsupported = fleets.iter().find(|fleet| {
        let newest = schedule.find_newest(fleet.day);
        let mut old = fleet.majors.iter().filter(|major| **major < newest);
        old.any(|major| end(*major).is_some_and(|end| end < fleet.day))
    });
    if let (Some(fleet), Some(months)) = (unsupported, policy.calendar.previous_major_months) {
        conflicts.push(DerivationStep::new(
            format!(
                "on {} the fleet still needs a major that is no longer supported: support ends {} \
                 after the next major",
                fleet.day,
                pluralize(months as usize, "month")
            ),
            ["[calendar] previous-major-months"],
        ));
    }
    conflicts
}
