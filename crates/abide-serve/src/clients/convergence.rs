//! A histogram of the time from a change of the resources until a client accepted all of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in seconds. Those that take longer count in the sum alone.
const BOUNDS: [f64; 10] = [0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0];

/// Counts of one process.
#[derive(Debug, Default)]
struct Counts {
    /// By the smallest bucket that each fits in; the last is of those above all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// The histogram. It counts on from what the processes before this one counted.
#[derive(Debug, Default)]
pub(crate) struct Convergence {
    own: Counts,
    past: Counts,
}

/// A histogram at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HistogramSample {
    /// Each upper bound, and the number of those that are not above it.
    pub(crate) buckets: Vec<(f64, u64)>,
    pub(crate) count: u64,
    pub(crate) sum: f64,
}

impl Convergence {
    /// Counts a client that took so long.
    pub(crate) fn record(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let at = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.own.buckets[at].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.own.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the counts of now.
    pub(crate) fn sample(&self) -> HistogramSample {
        let mut count = 0;
        let mut buckets = Vec::new();
        for at in 0..=BOUNDS.len() {
            count += self.total(|it| &it.buckets[at]);
            buckets.extend(BOUNDS.get(at).map(|bound| (*bound, count)));
        }
        let sum = Duration::from_micros(self.total(|it| &it.micros)).as_secs_f64();
        HistogramSample { buckets, count, sum }
    }

    /// All counts that are not 0, each by a name of its own, for the next process.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (String, u64)> {
        let buckets =
            (0..=BOUNDS.len()).map(|at| (bucket_name(at), self.total(|it| &it.buckets[at])));
        let micros = (MICROS.to_owned(), self.total(|it| &it.micros));
        buckets.chain([micros]).filter(|(_, count)| *count > 0)
    }

    /// Counts on from what the processes before this one have counted by now.
    pub(crate) fn inherit(&self, past: &BTreeMap<String, u64>) {
        let count = |name: &str| past.get(name).copied().unwrap_or_default();
        for (at, counter) in self.past.buckets.iter().enumerate() {
            counter.store(count(&bucket_name(at)), Ordering::Relaxed);
        }
        self.past.micros.store(count(MICROS), Ordering::Relaxed);
    }

    fn total(&self, of: impl Fn(&Counts) -> &AtomicU64) -> u64 {
        let own = of(&self.own).load(Ordering::Relaxed);
        own.saturating_add(of(&self.past).load(Ordering::Relaxed))
    }
}

/// The name under which the next process is told the sum of all times.
const MICROS: &str = "xds.convergence.micros";

/// The name under which the next process is told the count of a bucket. Bounds that change are other
/// buckets.
fn bucket_name(at: usize) -> String {
    match BOUNDS.get(at) {
        Some(bound) => format!("xds.convergence.le.{bound}"),
        None => "xds.convergence.le.inf".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_count_what_is_not_above_them() {
        let histogram = Convergence::default();
        for millis in [5, 10, 90, 2_500, 400_000] {
            histogram.record(Duration::from_millis(millis));
        }
        let sample = histogram.sample();
        let counts: Vec<u64> = sample.buckets.iter().map(|it| it.1).collect();
        assert_eq!(counts, [2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
        assert_eq!((sample.count, sample.sum), (5, 402.605));
    }

    #[test]
    fn the_next_process_counts_on() {
        let (before, now) = (Convergence::default(), Convergence::default());
        before.record(Duration::from_millis(20));
        before.record(Duration::from_secs(1_000));
        let past: BTreeMap<String, u64> = before.by_name().collect();
        // It is told again and again, and counts it once.
        (0..2).for_each(|_| now.inherit(&past));
        assert_eq!(now.sample(), before.sample());
        now.record(Duration::from_millis(20));
        assert_eq!(now.sample().count, 3);
    }
}
