//! Pairs of ids, and the ways to find them: equal keys, or the most votes.

use std::hash::Hash;

use abide_schema::{FileId, MessageId};
use rustc_hash::FxHashMap;

/// The other side of an id whose file has a twin.
macro_rules! twin {
    ($files:expr, $id:expr) => {
        $files[$id.file.0 as usize].map(|file| {
            let mut twin = $id;
            twin.file = file;
            twin
        })
    };
}
pub(super) use twin;

/// Pairs of one kind of element, in both directions.
#[derive(Debug)]
pub(super) struct PairMap<K> {
    pub(super) new_of: FxHashMap<K, K>,
    pub(super) old_of: FxHashMap<K, K>,
}

impl<K> Default for PairMap<K> {
    fn default() -> Self {
        PairMap { new_of: FxHashMap::default(), old_of: FxHashMap::default() }
    }
}

impl<K: Copy + Ord + Hash> PairMap<K> {
    pub(super) fn are_free(&self, old: K, new: K) -> bool {
        !self.new_of.contains_key(&old) && !self.old_of.contains_key(&new)
    }

    /// Pairs two elements, if they are both free.
    pub(super) fn add(&mut self, old: K, new: K) -> bool {
        let free = self.are_free(old, new);
        if free {
            self.new_of.insert(old, new);
            self.old_of.insert(new, old);
        }
        free
    }

    pub(super) fn add_all(&mut self, pairs: Vec<(K, K)>) {
        for (old, new) in pairs {
            self.add(old, new);
        }
    }

    /// Every pair, in the order of the old side.
    pub(super) fn collect_sorted(&self) -> Vec<(K, K)> {
        let mut pairs: Vec<(K, K)> = self.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        pairs.sort_unstable();
        pairs
    }
}

impl PairMap<MessageId> {
    /// The other side of an old message, that of a file with a twin included.
    pub(super) fn find_twin(&self, same: &[Option<FileId>], old: MessageId) -> Option<MessageId> {
        twin!(same, old).or_else(|| self.new_of.get(&old).copied())
    }
}

/// Pairs what is free on both sides and has an equal key, in the order of
/// declaration.
pub(super) fn pair_by<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    pairs: &mut PairMap<I>,
    old: &[T],
    new: &[T],
    id: impl Fn(T) -> I,
    key: impl Fn(T) -> K,
) {
    pair_across(pairs, old, new, id, |it| Some(key(it)), |it| Some(key(it)));
}

/// The same of elements that are all free, as a list.
pub(super) fn pairs_by<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
    id: impl Fn(T) -> I,
    key: impl Fn(T) -> K,
) -> Vec<(I, I)> {
    let mut pairs = PairMap::default();
    pair_by(&mut pairs, &old.collect::<Vec<T>>(), &new.collect::<Vec<T>>(), id, key);
    pairs.collect_sorted()
}

/// The same with a key for each side. What has no key stays free.
pub(super) fn pair_across<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    pairs: &mut PairMap<I>,
    old: &[T],
    new: &[T],
    id: impl Fn(T) -> I,
    old_key: impl Fn(T) -> Option<K>,
    new_key: impl Fn(T) -> Option<K>,
) {
    let mut left: Vec<T> =
        old.iter().copied().filter(|&it| !pairs.new_of.contains_key(&id(it))).collect();
    if left.is_empty() {
        return;
    }
    let free = new.iter().copied().filter(|&it| !pairs.old_of.contains_key(&id(it)));
    let right: Vec<T> = free.collect();
    // Mostly both sides declare the same in the same order.
    let is_twin = |(old, new): &(T, T)| old_key(*old).is_some_and(|it| Some(it) == new_key(*new));
    let twins: Vec<(T, T)> =
        left.iter().copied().zip(right.iter().copied()).take_while(is_twin).collect();
    for &(old, new) in &twins {
        pairs.add(id(old), id(new));
    }
    left.drain(..twins.len());
    let mut free: FxHashMap<K, Vec<I>> = FxHashMap::default();
    for &it in right[twins.len()..].iter().rev().filter(|_| !left.is_empty()) {
        if let Some(key) = new_key(it) {
            free.entry(key).or_default().push(id(it));
        }
    }
    for it in left.drain(..) {
        let twins = old_key(it).and_then(|key| free.get_mut(&key));
        if let Some(new) = twins.and_then(Vec::pop) {
            pairs.add(id(it), new);
        }
    }
}

/// Pairs what shares most first, where that is enough; of equals the first.
pub(super) fn pair_by_votes<I: Copy + Ord + Hash>(
    pairs: &mut PairMap<I>,
    mut votes: Vec<(I, I)>,
    enough: impl Fn(usize, I, I) -> bool,
) {
    votes.retain(|(old, new)| pairs.are_free(*old, *new));
    votes.sort();
    let counted = votes.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
    let mut counted: Vec<(usize, (I, I))> =
        counted.filter(|&(shared, (old, new))| enough(shared, old, new)).collect();
    counted.sort_by_key(|&(shared, pair)| (std::cmp::Reverse(shared), pair));
    for (_, (old, new)) in counted {
        pairs.add(old, new);
    }
}
