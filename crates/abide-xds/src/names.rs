//! Sets of names that clients ask for.
//!
//! The clients of a fleet ask for the same. A set that many ask for is kept once, and what is found out
//! about it is found out once for all of them.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A set of names.
#[derive(Debug, Default)]
pub(crate) struct NameSet {
    names: BTreeSet<Arc<str>>,
    /// The number of bytes the names have in all.
    bytes: usize,
    mark: Mark,
    /// The number of names all sets have, this one included.
    all: Arc<AtomicUsize>,
}

/// The identity of a set: a sum over its names, so that it is known before the set is made.
/// Nobody outside can choose names that make the marks of two sets equal, since the keys are random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Mark([u64; 2]);

/// The sets that somebody asks for now.
#[derive(Debug, Default)]
pub struct SharedNames {
    keys: [RandomState; 2],
    known: Mutex<Known>,
    /// The number of names all sets have that somebody has.
    all: Arc<AtomicUsize>,
    /// The number of streams that may ask for names.
    streams: AtomicUsize,
}

#[derive(Debug, Default)]
struct Known {
    sets: HashMap<Mark, Weak<NameSet>>,
    /// The number of sets that there may be until those that nobody has any more are forgotten.
    most: usize,
}

impl NameSet {
    /// The number of names it has.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of bytes its names have in all.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Its names, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.names.iter()
    }

    /// The names that the other one lacks, in order.
    pub(crate) fn without<'s>(&'s self, other: &'s NameSet) -> impl Iterator<Item = &'s Arc<str>> {
        self.names.difference(&other.names)
    }
}

impl Drop for NameSet {
    fn drop(&mut self) {
        self.all.fetch_sub(self.names.len(), Ordering::Relaxed);
    }
}

impl SharedNames {
    /// The set of these names.
    pub(crate) fn of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Arc<NameSet> {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let mark = names.iter().fold(Mark::default(), |mark, name| self.marked(mark, name));
        self.known_or(mark, || names.into_iter().map(Arc::from).collect())
    }

    /// A set with more names.
    pub(crate) fn with<'n>(
        &self,
        set: &Arc<NameSet>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Arc<NameSet> {
        let added: BTreeSet<&str> = names.into_iter().filter(|it| !set.contains(it)).collect();
        let mark = added.iter().fold(set.mark, |mark, name| self.marked(mark, name));
        self.known_or(mark, || {
            set.names.iter().cloned().chain(added.into_iter().map(Arc::from)).collect()
        })
    }

    /// A set without some names.
    pub(crate) fn without<'n>(
        &self,
        set: &Arc<NameSet>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Arc<NameSet> {
        let gone: BTreeSet<&str> = names.into_iter().filter(|it| set.contains(it)).collect();
        let mark = gone.iter().fold(set.mark, |mark, name| self.unmarked(mark, name));
        self.known_or(mark, || {
            set.names.iter().filter(|it| !gone.contains(&***it)).cloned().collect()
        })
    }

    /// The number of names all sets have that somebody has. What many share counts once.
    pub fn len(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    /// The number of streams that may ask for names.
    pub(crate) fn streams(&self) -> &AtomicUsize {
        &self.streams
    }

    /// Returns true if nobody asks for anything by name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn counted(&self, names: BTreeSet<Arc<str>>, mark: Mark) -> NameSet {
        self.all.fetch_add(names.len(), Ordering::Relaxed);
        let bytes = names.iter().map(|it| it.len()).sum();
        NameSet { names, bytes, mark, all: Arc::clone(&self.all) }
    }

    fn marked(&self, Mark(sums): Mark, name: &str) -> Mark {
        Mark([0, 1].map(|at| sums[at].wrapping_add(self.keys[at].hash_one(name))))
    }

    fn unmarked(&self, Mark(sums): Mark, name: &str) -> Mark {
        Mark([0, 1].map(|at| sums[at].wrapping_sub(self.keys[at].hash_one(name))))
    }

    fn known_or(&self, mark: Mark, make: impl FnOnce() -> BTreeSet<Arc<str>>) -> Arc<NameSet> {
        if let Some(set) = self.known().sets.get(&mark).and_then(Weak::upgrade) {
            return set;
        }
        // Made outside of the lock: it may be large. Two that make the same at once share it later.
        let made = Arc::new(self.counted(make(), mark));
        let mut known = self.known();
        if let Some(set) = known.sets.get(&mark).and_then(Weak::upgrade) {
            return set;
        }
        if known.sets.len() >= known.most {
            known.sets.retain(|_, it| it.strong_count() > 0);
            known.most = 2 * known.sets.len() + 16;
        }
        known.sets.insert(mark, Arc::downgrade(&made));
        made
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_names_are_the_same_set_whatever_way_led_there() {
        let shared = SharedNames::default();
        let all = shared.of(["a", "b", "c"]);
        assert!(Arc::ptr_eq(&all, &shared.of(["c", "b", "a", "b"])), "in any order, and twice");
        let two = shared.of(["a", "b"]);
        assert!(!Arc::ptr_eq(&all, &two));
        assert!(Arc::ptr_eq(&all, &shared.with(&two, ["c", "a", "c"])));
        assert!(Arc::ptr_eq(&two, &shared.without(&all, ["c", "d", "c"])));
        assert!(Arc::ptr_eq(&all, &shared.with(&all, ["a"])));
        let none = shared.without(&two, ["a", "b"]);
        assert_eq!((none.len(), none.bytes()), (0, 0));
        let names: Vec<&str> = all.iter().map(|it| &**it).collect();
        assert_eq!((names, all.bytes()), (vec!["a", "b", "c"], 3));
        assert_eq!(all.without(&two).map(|it| &**it).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn sets_that_nobody_has_are_forgotten() {
        let shared = SharedNames::default();
        let kept = shared.of(["kept"]);
        for number in 0..1000 {
            shared.of([number.to_string().as_str()]);
        }
        assert!(shared.known().sets.len() < 40, "{}", shared.known().sets.len());
        assert!(Arc::ptr_eq(&kept, &shared.of(["kept"])));
        assert_eq!(shared.len(), 1, "what nobody has is not counted");
        let same = shared.of(["kept"]);
        assert_eq!(shared.len(), 1, "what two have is counted once");
        drop((kept, same));
        assert!(shared.is_empty());
    }
}
