//! Weighs what two elements share: it says the more, the fewer others have it.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A trait that a renaming leaves alone, such as a field, an enum value or a
/// method; or a part of a name, which it may leave alone.
pub(super) type Feature = u64;

/// The weight of a feature that only two elements have.
const UNIQUE: usize = 1000;

/// The number of elements of different names that have each of some features. The versions
/// of an API repeat its elements under one name.
pub(super) struct FeatureFrequency {
    names: FxHashMap<Feature, usize>,
}

impl FeatureFrequency {
    /// The rarity of these features among all elements of both sides, each with its
    /// name and what it has.
    pub(super) fn of(
        features: &FxHashSet<Feature>,
        everything: impl ParallelIterator<Item = (Vec<Feature>, Vec<Feature>)>,
    ) -> FeatureFrequency {
        let known = everything.flat_map_iter(|(name, own)| {
            let asked = own.into_iter().filter(|it| features.contains(it));
            asked.map(|it| (it, name.clone())).collect::<Vec<_>>()
        });
        let mut known: Vec<(Feature, Vec<Feature>)> = known.collect();
        known.sort_unstable();
        known.dedup();
        let each = known.chunk_by(|a, b| a.0 == b.0);
        FeatureFrequency { names: each.map(|named| (named[0].0, named.len())).collect() }
    }

    /// Returns true if all that two elements of different names share says at least as much
    /// as one feature that nobody else has.
    pub(super) fn is_evidence(&self, shared: impl Iterator<Item = Feature>) -> bool {
        let others =
            |it: Feature| self.names.get(&it).map_or(1, |names| names.saturating_sub(1).max(1));
        shared.map(|it| UNIQUE / others(it)).sum::<usize>() >= UNIQUE
    }
}
