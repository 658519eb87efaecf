//! How long things live by the policy, over every day of four years.

use jiff::ToSpan;
use jiff::civil::Date;

use super::scenario::{DerivationStep, Scenario};
use super::schedule::ReleaseSchedule;
use crate::calendar::{Calendar, Replacement};
use crate::wording::pluralize;

/// Four years have a leap day, so the bounds do not depend on the year in which
/// they begin.
const YEARS: i64 = 4;

/// The least, the most and the average of a time span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifetimeBound {
    /// Its name in machine-readable reports.
    pub name: &'static str,
    /// What it bounds: one phrase.
    pub what: &'static str,
    /// The least number of days.
    pub least: u32,
    /// The most.
    pub most: u32,
    /// The average, rounded.
    pub average: u32,
    /// What it is counted from.
    pub derivation: DerivationStep,
}

impl LifetimeBound {
    /// The bound of the spans that begin on these days.
    fn compute_bound(
        name: &'static str,
        what: &'static str,
        spans: impl Iterator<Item = (Date, Date)>,
        derivation: DerivationStep,
    ) -> Option<LifetimeBound> {
        let days = spans.filter_map(|(from, to)| u32::try_from((to - from).get_days()).ok());
        let days: Vec<u32> = days.collect();
        let (least, most) = (*days.iter().min()?, *days.iter().max()?);
        let (sum, number) = (days.iter().map(|it| u64::from(*it)).sum::<u64>(), days.len() as u64);
        let average = u32::try_from((sum + number / 2) / number).ok()?;
        Some(LifetimeBound { name, what, least, most, average, derivation })
    }
}

/// The bounds that the calendar has the keys for.
pub(super) fn compute_bounds(
    calendar: &Calendar,
    schedule: &ReleaseSchedule,
    scenario: &Scenario,
) -> Vec<LifetimeBound> {
    let end = scenario.from.checked_add(YEARS.years()).unwrap_or(Date::MAX);
    let starts = || scenario.from.series(1.day()).take_while(|day| *day < end);
    let disallowed = |replacement: Replacement| {
        starts().filter_map(move |day| Some((day, calendar.phases(day, replacement)?.disallowed?)))
    };
    let warns = |replacement: Replacement| {
        let cycles = replacement.warning_cycles();
        let text = match cycles {
            1 => "one client release warns, and the next one refuses it".to_owned(),
            _ => format!("{cycles} client releases warn, and the next one refuses it"),
        };
        DerivationStep::new(text, ["[calendar] client-releases"])
    };
    let major_key = match scenario.major_every {
        Some(_) => "--major-every",
        None => "[calendar] api-releases",
    };
    let support_key = "[calendar] previous-major-months";
    let months = pluralize(calendar.previous_major_months.unwrap_or_default() as usize, "month");
    let majors = || {
        let mut next = schedule.next_major(scenario.from);
        std::iter::from_fn(move || {
            let day = next?;
            next = schedule.next_major(day);
            Some(day)
        })
        .take_while(|day| *day < end)
    };
    let served = |since: Date| Some((since, calendar.support_end(schedule.next_major(since)?)?));
    [
        LifetimeBound::compute_bound(
            "disallowed-with-equivalent",
            "from a deprecation with an equivalent until it is disallowed by default",
            disallowed(Replacement::Equivalent),
            warns(Replacement::Equivalent),
        ),
        LifetimeBound::compute_bound(
            "disallowed-without-equivalent",
            "from a deprecation without an equivalent until it is disallowed by default",
            disallowed(Replacement::NoEquivalent),
            warns(Replacement::NoEquivalent),
        ),
        LifetimeBound::compute_bound(
            "disallowed-dropped",
            "from a deprecation that nothing replaces until it is disallowed by default",
            disallowed(Replacement::Nothing),
            warns(Replacement::Nothing),
        ),
        LifetimeBound::compute_bound(
            "previous-major-supported",
            "a major is supported after the next one is stable",
            majors().filter_map(|day| Some((day, calendar.support_end(day)?))),
            DerivationStep::new(months.clone(), [support_key]),
        ),
        LifetimeBound::compute_bound(
            "deprecated-element-served",
            "from a deprecation until nobody serves the element",
            starts().filter_map(served),
            DerivationStep::new(
                format!(
                    "the next major does not have it, and this one is supported for {months} more"
                ),
                [major_key, support_key],
            ),
        ),
        LifetimeBound::compute_bound(
            "major-lives",
            "from the release of a major until the end of its support",
            majors().filter_map(served),
            DerivationStep::new(
                format!("it is the newest until the next major, and supported for {months} more"),
                [major_key, support_key],
            ),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
