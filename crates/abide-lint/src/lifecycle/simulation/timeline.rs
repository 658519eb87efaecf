//! The lives of majors, of a package and of an element, as stretches of time and
//! as days on which something happens.

use abide_schema::{Element, Package, Stability};
use jiff::civil::Date;

use super::scenario::{DerivationStep, Scenario};
use super::schedule::ReleaseSchedule;
use crate::calendar::{Calendar, Phases, Replacement};
use crate::lifecycle::calendar_status::Status;
use crate::lifecycle::deprecation_list::Deprecated;
use crate::policy::Policy;

/// A life as a row of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MajorTrack {
    /// Whose life.
    pub of: TimelineOf,
    /// Its stretches, in order.
    pub stretches: Vec<TimelinePeriod>,
}

/// What lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineOf {
    /// A major, counted from the newest one on the first day, which is 0.
    Major(i64),
    /// An element or a package.
    Named(String),
}

/// A part of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePeriod {
    /// What is true in it.
    pub state: LifeState,
    /// The first day.
    pub from: Date,
    /// The first day that is no longer in it.
    pub until: Date,
}

/// A state in the life of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeState {
    /// A major is the newest one.
    Newest,
    /// An older major is supported.
    Supported,
    /// An element is usable.
    Usable,
    /// It is deprecated, and no client release says so.
    Deprecated,
    /// Client releases warn.
    Warned,
    /// Client releases refuse it by default.
    Disallowed,
    /// New clients do not have it, and servers still accept it from old ones.
    Served,
}

impl LifeState {
    /// Every state.
    pub const ALL: [LifeState; 7] = [
        LifeState::Newest,
        LifeState::Supported,
        LifeState::Usable,
        LifeState::Deprecated,
        LifeState::Warned,
        LifeState::Disallowed,
        LifeState::Served,
    ];

    /// Its word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            LifeState::Newest => "newest",
            LifeState::Supported => "supported",
            LifeState::Usable => "usable",
            LifeState::Deprecated => "deprecated",
            LifeState::Warned => "warned",
            LifeState::Disallowed => "disallowed",
            LifeState::Served => "served",
        }
    }
}

/// A day in a life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// The day.
    pub day: Date,
    /// What happens, and where that comes from.
    pub step: DerivationStep,
}

/// The life of an element or a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Its full name.
    pub name: String,
    /// The row of the timeline.
    pub lane: MajorTrack,
    /// What happens, in order.
    pub events: Vec<TimelineEvent>,
}

/// The stretches between days: each state holds until the next day, and days that
/// are not after the one before are left out.
fn split_into_periods(days: &[(LifeState, Date)], until: Date) -> Vec<TimelinePeriod> {
    let ends = days.iter().skip(1).map(|(_, day)| *day).chain([until]);
    let parts = days.iter().zip(ends).map(|(&(state, from), next)| TimelinePeriod {
        state,
        from,
        until: next.min(until),
    });
    parts.filter(|it| it.from < it.until).collect()
}

/// The day after the last one.
fn after(last: Date) -> Date {
    last.tomorrow().unwrap_or(Date::MAX)
}

/// The lives of the majors that exist in the simulated years.
pub(super) fn build_major_tracks(
    calendar: &Calendar,
    schedule: &ReleaseSchedule,
    scenario: &Scenario,
) -> Vec<MajorTrack> {
    let until = scenario.until();
    let life = |major: i64| {
        let born = schedule.day_of(major)?;
        let next = schedule.day_of(major + 1)?;
        let end = calendar.support_end(next).map_or(next, after);
        let lane =
            split_into_periods(&[(LifeState::Newest, born), (LifeState::Supported, next)], end);
        (end > scenario.from && born <= until)
            .then_some(MajorTrack { of: TimelineOf::Major(major), stretches: lane })
    };
    let newest = schedule.find_newest(until);
    let oldest = (0..).map(|it| -it).take_while(|major| life(*major).is_some()).last();
    (oldest.unwrap_or(0)..=newest).filter_map(life).collect()
}

impl Timeline {
    /// The life of a deprecated element, or of one that is assumed to be
    /// deprecated on the first day.
    pub fn for_element(
        element: Element<'_>,
        deprecated: Option<&Deprecated<'_>>,
        policy: &Policy,
        scenario: &Scenario,
    ) -> Timeline {
        let calendar = &policy.calendar;
        let name = element.full_name();
        let known = deprecated.and_then(|it| it.day);
        let since = known.unwrap_or(scenario.from);
        let replacement = policy.deprecation.replacement(&name);
        let phases = policy.phases(element, since);
        let schedule = ReleaseSchedule::new(calendar, scenario);
        let next = schedule.as_ref().and_then(|it| it.next_major(since));
        let by_policy = next.and_then(|next| calendar.support_end(next));
        let served = deprecated.and_then(|it| it.served_until).or(by_policy);
        let mut events = vec![TimelineEvent {
            day: since,
            step: match (deprecated, known) {
                (Some(_), Some(_)) => DerivationStep::new("it is deprecated", ["deprecated_at"]),
                (Some(_), None) => DerivationStep::new(
                    "it was deprecated on an unknown day; this one is assumed",
                    ["--from"],
                ),
                (None, _) => DerivationStep::new("it is assumed to be deprecated", ["--from"]),
            },
        }];
        events.extend(phases.iter().flat_map(|it| client_events(it, replacement)));
        let major_key = match scenario.major_every {
            Some(_) => "--major-every",
            None => "[calendar] api-releases",
        };
        let gone = next.map(|day| TimelineEvent {
            day,
            step: DerivationStep::new("the next major does not have it", [major_key]),
        });
        events.extend(gone);
        events.extend(served.map(|day| TimelineEvent {
            day,
            step: DerivationStep::new(
                "the last day on which a server must accept it",
                ["[calendar] previous-major-months"],
            ),
        }));
        events.sort_by_key(|it| it.day);
        let mut days = vec![(LifeState::Usable, scenario.from), (LifeState::Deprecated, since)];
        if let Some(phases) = phases {
            days.push((LifeState::Warned, phases.warned));
            days.extend(phases.disallowed.map(|day| (LifeState::Disallowed, day)));
            days.extend(phases.removed.map(|day| (LifeState::Served, day)));
        }
        let last = served.or(phases.and_then(|it| it.removed)).unwrap_or_else(|| scenario.until());
        let lane = MajorTrack {
            of: TimelineOf::Named(name.clone()),
            stretches: split_into_periods(&days, after(last)),
        };
        Timeline { name, lane, events }
    }

    /// The life of a package. The day since which it exists, if that is known, is
    /// an argument.
    pub fn for_package(
        package: Package<'_>,
        introduced: Option<Date>,
        status: &Status<'_>,
        policy: &Policy,
        scenario: &Scenario,
    ) -> Timeline {
        let calendar = &policy.calendar;
        let name = package.name();
        let stability = package.version().map(|it| it.stability);
        let born = introduced.unwrap_or(scenario.from);
        let birth = match introduced {
            Some(_) => DerivationStep::new("it is introduced", ["introduced"]),
            None => DerivationStep::new("it exists; nothing says since when", ["--from"]),
        };
        let mut events = vec![TimelineEvent { day: born, step: birth }];
        let mut days = vec![(LifeState::Newest, born)];
        let mut last = scenario.until();
        let retired = status.retirements.iter().find(|it| it.package.name() == name);
        if stability != Some(Stability::Stable) {
            if let Some((end, limit)) =
                calendar.alpha_end(born).filter(|_| stability == Some(Stability::Alpha))
            {
                events.push(TimelineEvent {
                    day: end,
                    step: DerivationStep::new(
                        format!("the last day on which it may be an alpha, after {limit}"),
                        ["[calendar] alpha-max-months", "[calendar] alpha-max-releases"],
                    ),
                });
                last = end;
            }
        } else if let Some(retired) = retired {
            let successor = retired.successor.name();
            events.push(TimelineEvent {
                day: retired.since,
                step: DerivationStep::new(format!("`{successor}` is stable"), ["introduced"]),
            });
            events.push(TimelineEvent { day: retired.end, step: supported_until() });
            days.push((LifeState::Supported, retired.since));
            last = retired.end;
        } else if let Some(next) = ReleaseSchedule::new(calendar, scenario).and_then(|it| {
            // What appears in the window belongs to the release that closes it.
            let window = calendar.major_window(born).filter(|it| it.contains(born));
            let release = window.filter(|_| scenario.major_every.is_none());
            it.next_major(release.map_or(born, |it| it.closes).max(scenario.from))
        }) {
            events.push(TimelineEvent {
                day: next,
                step: DerivationStep::new(
                    "the next major may be stable, at the earliest",
                    [match scenario.major_every {
                        Some(_) => "--major-every",
                        None => "[calendar] api-releases",
                    }],
                ),
            });
            if let Some(end) = calendar.support_end(next) {
                events.push(TimelineEvent { day: end, step: supported_until() });
                days.push((LifeState::Supported, next));
                last = end;
            }
        }
        let lane = MajorTrack {
            of: TimelineOf::Named(name.to_owned()),
            stretches: split_into_periods(&days, after(last)),
        };
        Timeline { name: name.to_owned(), lane, events }
    }
}

fn supported_until() -> DerivationStep {
    DerivationStep::new(
        "the last day on which it is supported",
        ["[calendar] previous-major-months"],
    )
}

/// Returns what client releases do with a deprecated element.
fn client_events(phases: &Phases, replacement: Replacement) -> Vec<TimelineEvent> {
    let warnings = match replacement {
        Replacement::Equivalent => "clients warn",
        Replacement::NoEquivalent => {
            "clients warn; there is no equivalent, so two releases only warn"
        }
        Replacement::Nothing => "clients warn; nothing replaces it, so four releases only warn",
    };
    let days = [
        (Some(phases.warned), warnings),
        (phases.disallowed, "clients refuse it by default"),
        (phases.removed, "new clients do not have it"),
    ];
    let event = |(day, text): (Option<Date>, &str)| {
        Some(TimelineEvent {
            day: day?,
            step: DerivationStep::new(text, ["[calendar] client-releases"]),
        })
    };
    days.into_iter().filter_map(event).collect()
}
