//! The simulation against a plain count of every day, and bounds that hold whatever day it begins on.

use std::collections::BTreeSet;

use abide_lint::{AnnualDates, Calendar, Config, Policy, Preset, Scenario, Simulation};
use jiff::civil::{Date, date};
use jiff::{Span, ToSpan};

/// The policy of the preset `envoy`: clients each quarter, the API each year.
fn envoy() -> Policy {
    Config::of_preset(Preset::Envoy).policy
}

fn simulated(policy: &Policy, scenario: Scenario) -> Simulation {
    Simulation::run(policy, scenario).expect("majors have a schedule")
}

fn months(count: u32) -> Span {
    Span::new().months(i64::from(count))
}

/// The first days of simulations: every 43rd of five years, the ends of months among them.
fn first_days() -> impl Iterator<Item = Date> {
    date(2024, 1, 1).series(43.days()).take_while(|day| day.year() < 2029)
}

/// Some calendars, from often to rarely.
fn policies() -> Vec<Policy> {
    let clock =
        |days: &[(i8, i8)]| AnnualDates::new(days.iter().copied()).expect("days of every year");
    let of = |clients: &[(i8, i8)], api: &[(i8, i8)]| {
        let mut policy = Policy::default();
        policy.calendar = Calendar {
            client_releases: clock(clients),
            api_releases: clock(api),
            previous_major_months: Some(12),
            ..Calendar::default()
        };
        policy
    };
    let quarters = [(3, 31), (6, 30), (9, 30), (12, 31)];
    vec![
        envoy(),
        of(&quarters, &quarters),
        of(&[], &[(1, 15), (7, 15)]),
        of(&[(2, 1), (5, 20), (11, 11)], &[(5, 20)]),
    ]
}

/// The releases of a clock in the eight years around a day.
fn releases(clock: &AnnualDates, around: Date) -> Vec<Date> {
    let all = std::iter::successors(clock.next(around - 4.years()), |day| clock.next(*day));
    all.take_while(|day| *day < around + 4.years()).collect()
}

/// The majors that a fleet needs on a day, counted one by one.
fn counted(clients: &[Date], majors: &[Date], scenario: &Scenario, day: Date) -> BTreeSet<i64> {
    let number = |until: Date| majors.iter().filter(|it| **it <= until).count() as i64;
    let past: Vec<Date> = clients.iter().copied().filter(|it| *it <= day).collect();
    let newest = past.len() - 1;
    let in_fleet = past.iter().enumerate().filter(|&(index, &release)| {
        let is_replaced_today = past[newest] == day && index + 1 == newest;
        index == newest || is_replaced_today || day < release + months(scenario.notice)
    });
    in_fleet.map(|(_, release)| number(*release) - number(scenario.from)).collect()
}

#[test]
fn the_majors_of_each_day_are_those_of_a_plain_count() {
    for policy in policies() {
        let from = date(2026, 2, 28);
        let majors = releases(&policy.calendar.api_releases, from);
        let own = releases(&policy.calendar.client_releases, from);
        let clients = if own.is_empty() { &majors } else { &own };
        for notice in [0, 3, 7, 12] {
            let scenario = Scenario { from, years: 2, notice, major_every: None };
            let simulation = simulated(&policy, scenario);
            let mut sizes = BTreeSet::new();
            for day in from.series(1.day()).take_while(|day| *day <= scenario.until()) {
                let fleet = simulation.fleets.iter().rev().find(|it| it.day <= day);
                let simulated = &fleet.expect("it begins on the first day").majors;
                let counted = counted(clients, &majors, &scenario, day);
                assert_eq!(*simulated, counted, "{day}, {notice} months");
                sizes.insert(counted.len());
            }
            let bounds = (*sizes.first().expect("days"), *sizes.last().expect("days"));
            assert_eq!(simulation.majors, bounds, "{notice} months");
        }
    }
}

#[test]
fn a_longer_notice_never_needs_fewer_majors() {
    let policy = envoy();
    for from in first_days().step_by(20) {
        for every in [3, 6, 12, 24] {
            let most = |notice| {
                let scenario = Scenario { from, years: 4, notice, major_every: Some(every) };
                simulated(&policy, scenario).majors.1
            };
            let needs = [0, 1, 3, 4, 9, 12, 18].map(most);
            assert!(needs.is_sorted(), "{from}, a major every {every} months: {needs:?}");
        }
    }
}

#[test]
fn the_bounds_of_the_document_hold_from_every_day_on() {
    let policy = envoy();
    for from in first_days() {
        let scenario = Scenario { from, years: 1, notice: 0, major_every: None };
        let simulation = simulated(&policy, scenario);
        for (name, least, average, most) in [
            ("disallowed-with-equivalent", 3, Some(45), 6),
            ("disallowed-without-equivalent", 6, None, 9),
            ("disallowed-dropped", 12, None, 15),
            ("previous-major-supported", 12, None, 12),
            ("deprecated-element-served", 12, Some(180), 24),
            ("major-lives", 24, None, 24),
        ] {
            let found = simulation.bounds.iter().find(|it| it.name == name);
            let found = found.unwrap_or_else(|| panic!("no bound {name}"));
            let tenths = |days: u32| (days * 12_000 + 18_262) / 36_524;
            let months = |days: u32| (tenths(days) + 5) / 10;
            assert_eq!(
                (months(found.least), months(found.most)),
                (least, most),
                "{name} from {from}"
            );
            assert!(average.is_none_or(|it| tenths(found.average).abs_diff(it) <= 1), "{name}");
        }
    }
}

#[test]
fn the_ends_of_the_calendar_are_no_trouble() {
    for from in [Date::MIN, Date::MAX, date(9999, 1, 1), date(-9999, 12, 31)] {
        for (notice, major_every) in [(0, None), (240, None), (12, Some(1)), (240, Some(240))] {
            let scenario = Scenario { from, years: 20, notice, major_every };
            let simulation = Simulation::run(&envoy(), scenario);
            assert!(simulation.is_none_or(|it| it.majors.0 <= it.majors.1), "{from}");
        }
    }
    let never = Scenario { from: date(2026, 1, 1), years: 1, notice: 0, major_every: None };
    assert!(Simulation::run(&Policy::default(), never).is_none());
}
