//! Counters for each type of resource and major.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use abide_xds::Types;

/// The counters that each type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrafficCounter {
    Requests,
    Acks,
    Nacks,
    Responses,
    Resources,
    /// Of resources, as they are on the wire.
    Bytes,
}

impl TrafficCounter {
    /// Each with its name and what it counts.
    pub(crate) const ALL: [(TrafficCounter, &str, &str); 6] = [
        (TrafficCounter::Requests, "xds.requests", "Requests of clients."),
        (TrafficCounter::Acks, "xds.acks", "Requests that accept a response."),
        (TrafficCounter::Nacks, "xds.nacks", "Requests that refuse a response."),
        (TrafficCounter::Responses, "xds.responses", "Responses that were sent."),
        (TrafficCounter::Resources, "xds.resources", "Resources in responses."),
        (TrafficCounter::Bytes, "xds.bytes", "Bytes of resources in responses."),
    ];
}

/// The second and third major, and types of which the protocol knows none.
const MAJORS: [&str; 3] = ["v2", "v3", ""];

/// Counters of one type, by major.
type OfType = [[AtomicU64; TrafficCounter::ALL.len()]; MAJORS.len()];

/// The counts of all types. Types that nobody described count together, so what clients make up
/// takes no memory.
#[derive(Debug)]
pub(crate) struct TrafficCounters {
    types: Types,
    /// In the order of the types; the last is of all others.
    counters: Vec<OfType>,
    /// What the processes before this one counted.
    past: Vec<OfType>,
}

/// The counts of one type.
pub(crate) struct TypeCounts<'t> {
    /// Such as `cds`, or `other`.
    pub(crate) kind: &'t str,
    /// `v2` or `v3`, if the type has one.
    pub(crate) major: Option<&'static str>,
    /// In the order of [`TrafficCounter::ALL`].
    pub(crate) counts: [u64; TrafficCounter::ALL.len()],
}

impl Default for TrafficCounters {
    fn default() -> TrafficCounters {
        TrafficCounters::new(&Types::default())
    }
}

impl TrafficCounters {
    /// Nothing, yet, of these types.
    pub(crate) fn new(types: &Types) -> TrafficCounters {
        let nothing = || (0..=types.iter().len()).map(|_| OfType::default()).collect();
        TrafficCounters { types: types.clone(), counters: nothing(), past: nothing() }
    }

    /// Counts on from what the processes before this one have counted by now.
    pub(crate) fn inherit(&self, past: &BTreeMap<String, u64>) {
        for (kind, counters) in self.kinds().zip(&self.past) {
            for (major, counters) in MAJORS.iter().zip(counters) {
                for ((_, name, _), counter) in TrafficCounter::ALL.into_iter().zip(counters) {
                    let count = past.get(&full_name(name, kind, major)).copied();
                    counter.store(count.unwrap_or_default(), Ordering::Relaxed);
                }
            }
        }
    }

    /// All counts that are not 0, each by a name of its own.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (String, u64)> {
        self.all().into_iter().flat_map(|it| {
            let counts = TrafficCounter::ALL.into_iter().zip(it.counts);
            let named = move |((_, name, _), count)| {
                (full_name(name, it.kind, it.major.unwrap_or_default()), count)
            };
            counts.map(named).filter(|(_, count)| *count > 0)
        })
    }

    /// The names of the types, and that of all others.
    fn kinds(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|it| &*it.entry.name).chain(["other"])
    }

    /// Counts so many more of one type.
    pub(crate) fn add(&self, type_url: &str, all: &[(TrafficCounter, usize)]) {
        let (at, major) = match self.types.position(type_url) {
            Some((at, major)) => (at, usize::from(major == 3)),
            None => (self.counters.len() - 1, MAJORS.len() - 1),
        };
        for (count, more) in all {
            self.counters[at][major][*count as usize].fetch_add(*more as u64, Ordering::Relaxed);
        }
    }

    /// The types that anything was counted of.
    pub(crate) fn all(&self) -> Vec<TypeCounts<'_>> {
        let mut all = Vec::new();
        for (kind, (counters, past)) in self.kinds().zip(self.counters.iter().zip(&self.past)) {
            for (major, (counters, past)) in MAJORS.iter().zip(counters.iter().zip(past)) {
                let count = |at: usize| {
                    let own = counters[at].load(Ordering::Relaxed);
                    own.saturating_add(past[at].load(Ordering::Relaxed))
                };
                let counts = std::array::from_fn(count);
                if counts.iter().any(|it| *it > 0) {
                    let major = Some(*major).filter(|it| !it.is_empty());
                    all.push(TypeCounts { kind, major, counts });
                }
            }
        }
        all
    }
}

/// The name of a counter of one type and major.
fn full_name(counter: &str, kind: &str, major: &str) -> String {
    format!("{counter}.{kind}.{major}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_counts_on_its_own_and_unknown_ones_together() {
        let traffic = TrafficCounters::default();
        traffic.add("type.googleapis.com/envoy.api.v2.Cluster", &[(TrafficCounter::Nacks, 1)]);
        traffic.add(
            "type.googleapis.com/envoy.service.runtime.v3.Runtime",
            &[(TrafficCounter::Bytes, 70)],
        );
        traffic.add("type.googleapis.com/a.A", &[(TrafficCounter::Requests, 1)]);
        traffic.add("x", &[(TrafficCounter::Requests, 1)]);
        let all: Vec<_> =
            traffic.all().into_iter().map(|it| (it.kind, it.major, it.counts)).collect();
        assert_eq!(
            all,
            [
                ("cds", Some("v2"), [0, 0, 1, 0, 0, 0]),
                ("rtds", Some("v3"), [0, 0, 0, 0, 0, 70]),
                ("other", None, [2, 0, 0, 0, 0, 0]),
            ]
        );
    }

    #[test]
    fn the_next_process_counts_on() {
        let (before, now) = (TrafficCounters::default(), TrafficCounters::default());
        let cluster = "type.googleapis.com/envoy.api.v2.Cluster";
        before.add(cluster, &[(TrafficCounter::Nacks, 2)]);
        before.add("x", &[(TrafficCounter::Requests, 1)]);
        let past: BTreeMap<String, u64> = before.by_name().collect();
        assert_eq!(past.keys().collect::<Vec<_>>(), ["xds.nacks.cds.v2", "xds.requests.other."]);
        now.add(cluster, &[(TrafficCounter::Nacks, 1)]);
        // It is told again and again, and counts it once.
        (0..2).for_each(|_| now.inherit(&past));
        let all: Vec<_> = now.all().into_iter().map(|it| (it.kind, it.counts)).collect();
        assert_eq!(all, [("cds", [0, 0, 3, 0, 0, 0]), ("other", [1, 0, 0, 0, 0, 0])]);
    }
}
