//! Decides when connections are told to leave, so that their clients do not all come back at once.
//!
//! Pure: the clock and the sockets are those of [`super::connections`].

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::time::Instant;

use crate::duration::parse_seconds;

/// How connections leave.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DrainArgs {
    /// How many seconds connections have to leave, when another process takes over or health
    /// checks fail [default: 600], and when SIGTERM ends this one [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    drain_time_s: Option<Duration>,
    /// When connections are told to leave
    #[arg(long, value_name = "STRATEGY", value_enum, default_value_t = DrainStrategy::Gradual)]
    pub(crate) drain_strategy: DrainStrategy,
    /// What makes clients of gRPC and REST leave
    #[arg(long, value_name = "TYPE", value_enum, default_value_t = DrainType::Default)]
    pub(crate) drain_type: DrainType,
    /// How many seconds a connection of a client may last, with up to a tenth more; then it is told to
    /// leave, so that clients spread over new replicas
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) max_connection_age_s: Option<Duration>,
}

/// The time that connections have to leave, unless the operator says.
const DRAIN_TIME: Duration = Duration::from_secs(600);
/// The time that they have when the process was told to end: orchestrators kill it after 30 s.
const END_TIME: Duration = Duration::from_secs(15);
/// The part of the time of an end in which connections are told to leave; they leave in the rest.
const END_SPREAD: f64 = 0.5;

impl DrainArgs {
    /// The time that connections have to leave while the server goes on.
    pub(crate) fn drain_time(&self) -> Duration {
        self.drain_time_s.unwrap_or(DRAIN_TIME)
    }

    /// The time that connections have to leave when the server ends.
    pub(crate) fn end_time(&self) -> Duration {
        self.drain_time_s.unwrap_or(END_TIME)
    }

    /// The span over which connections are told to leave that have so much time.
    pub(crate) fn spread(&self, time: Duration) -> Duration {
        match self.drain_strategy {
            DrainStrategy::Gradual => time,
            DrainStrategy::Immediate => Duration::ZERO,
        }
    }

    /// The span over which connections are told to leave when the server ends.
    pub(crate) fn end_spread(&self) -> Duration {
        self.spread(self.end_time().mul_f64(END_SPREAD))
    }
}

/// When connections are told to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrainStrategy {
    /// One after the other, spread evenly over the drain time
    Gradual,
    /// All at once
    Immediate,
}

/// What a listener drains for, with the names of `envoy.config.listener.v3.Listener.DrainType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum DrainType {
    /// Failed health checks, a hot restart, and the removal of the listener
    Default,
    /// A hot restart and the removal of the listener alone
    ModifyOnly,
}

/// An event for which a listener drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DrainCause {
    /// An operator has health checks fail.
    HealthCheck,
    /// Another process takes over.
    HotRestart,
    /// The listener goes.
    Removal,
    /// The process was told to end.
    End,
}

impl DrainType {
    /// Returns true if a listener of this type drains for this.
    pub(crate) fn reacts_to(self, cause: DrainCause) -> bool {
        match self {
            DrainType::Default => true,
            DrainType::ModifyOnly => cause != DrainCause::HealthCheck,
        }
    }
}

/// A span of time in which connections leave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DrainPeriod {
    begin: Instant,
    /// From the first to the last.
    over: Duration,
}

/// Events for which connections leave now, and since when.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DrainState(BTreeMap<DrainCause, DrainPeriod>);

impl DrainState {
    /// Begins to drain for this, unless that has begun.
    pub(crate) fn begin(&mut self, cause: DrainCause, now: Instant, over: Duration) {
        self.0.entry(cause).or_insert(DrainPeriod { begin: now, over });
    }

    /// Drains for this no more.
    pub(crate) fn end(&mut self, cause: DrainCause) {
        self.0.remove(&cause);
    }

    /// Returns the time at which a connection leaves that came at a moment; `None` if it can stay.
    ///
    /// One that comes during the drain has as much time as the others had: clients that can go
    /// nowhere else come back once in a drain time, not at once.
    pub(crate) fn departure_time(&self, number: u64, came: Instant) -> Option<Instant> {
        let of = |it: &DrainPeriod| it.begin.max(came) + it.over.mul_f64(share(number));
        self.0.values().map(of).min()
    }
}

/// The age at which a connection is told to leave: so much, and up to a tenth more, so that those which
/// came together do not leave together.
pub(crate) fn age_limit(number: u64, age: Duration) -> Duration {
    age + age.mul_f64(0.1 * share(number))
}

/// The share of the drain time after which a connection leaves, from 0 up to 1.
///
/// Multiples of the golden ratio, without their whole parts: any run of numbers is spread evenly,
/// whichever of them have left before, and nobody has to count or sort them. Source: H. Weyl's
/// equidistribution theorem; the ratio leaves the smallest gaps.
fn share(number: u64) -> f64 {
    /// 2^64 over the golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    // As many bits as a float has exactly.
    (number.wrapping_mul(STEP) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVER: Duration = Duration::from_secs(600);

    fn tenths(numbers: impl Iterator<Item = u64>) -> [usize; 10] {
        let mut counts = [0; 10];
        for number in numbers {
            counts[(share(number) * 10.0) as usize] += 1;
        }
        counts
    }

    #[test]
    fn the_drained_share_of_connections_grows_with_time() {
        let begin = Instant::now();
        let mut drains = DrainState::default();
        drains.begin(DrainCause::HotRestart, begin, OVER);
        let departures: Vec<Duration> =
            (0..1000).map(|it| drains.departure_time(it, begin).unwrap() - begin).collect();
        for percent in 1..=100 {
            let by = OVER * percent / 100;
            let left = departures.iter().filter(|it| **it < by).count() as u32;
            assert!(left.abs_diff(percent * 10) <= 5, "{left} of 1000 after {percent} %");
        }
    }

    #[test]
    fn departures_are_spread_evenly_whoever_is_there() {
        assert!(tenths(0..1000).iter().all(|it| (98..=102).contains(it)), "{:?}", tenths(0..1000));
        let later = tenths(123_456..123_956);
        assert!(later.iter().all(|it| (48..=52).contains(it)), "{later:?}");
        // Every third has left before.
        let others = tenths((0..1500).filter(|it| it % 3 != 0));
        assert!(others.iter().all(|it| (90..=110).contains(it)), "{others:?}");
    }

    #[test]
    fn who_comes_during_a_drain_has_its_time_too() {
        let begin = Instant::now();
        let mut drains = DrainState::default();
        assert_eq!(drains.departure_time(7, begin), None);
        drains.begin(DrainCause::HealthCheck, begin, OVER);
        let late = begin + Duration::from_secs(60);
        let of = |number, came| drains.departure_time(number, came).unwrap();
        assert_eq!(of(7, late) - late, of(7, begin) - begin);
        // What begins twice has begun once, and the first of two causes counts.
        let before = of(7, begin);
        drains.begin(DrainCause::HealthCheck, late, OVER);
        drains.begin(DrainCause::Removal, begin, Duration::ZERO);
        assert_eq!(drains.departure_time(7, begin), Some(begin));
        drains.end(DrainCause::Removal);
        assert_eq!(drains.departure_time(7, begin), Some(before));
        drains.end(DrainCause::HealthCheck);
        assert_eq!(drains.departure_time(7, begin), None);
    }

    #[test]
    fn each_drain_type_reacts_to_its_events() {
        use DrainCause::{End, HealthCheck, HotRestart, Removal};
        let all = [HealthCheck, HotRestart, Removal, End];
        let reacts = |it: DrainType| all.map(|of| it.reacts_to(of));
        assert_eq!(reacts(DrainType::Default), [true; 4]);
        assert_eq!(reacts(DrainType::ModifyOnly), [false, true, true, true]);
    }
}
