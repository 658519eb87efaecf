//! Values by keys, for many keys of which most have one value.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The values of each key, in their order.
#[derive(Debug)]
pub(super) struct MultiIndex<K, V>(FxHashMap<K, IndexedValues<V>>);

/// The values of one key. A B-tree takes room for eleven values even if it has one.
#[derive(Debug)]
enum IndexedValues<V> {
    One(V),
    Many(BTreeSet<V>),
}

impl<K, V> Default for MultiIndex<K, V> {
    fn default() -> Self {
        MultiIndex(FxHashMap::default())
    }
}

impl<K: Eq + Hash, V: Ord> MultiIndex<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) {
        use std::collections::hash_map::Entry;
        match self.0.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(IndexedValues::One(value));
            }
            Entry::Occupied(mut entry) => match entry.get_mut() {
                IndexedValues::Many(values) => {
                    values.insert(value);
                }
                IndexedValues::One(known) if *known == value => {}
                values @ IndexedValues::One(_) => {
                    let before =
                        std::mem::replace(values, IndexedValues::Many(BTreeSet::from([value])));
                    if let (IndexedValues::One(first), IndexedValues::Many(all)) = (before, values)
                    {
                        all.insert(first);
                    }
                }
            },
        }
    }

    pub(super) fn remove<Q>(&mut self, key: &Q, value: &V)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let is_last = match self.0.get_mut(key) {
            None => false,
            Some(IndexedValues::One(known)) => known == value,
            Some(IndexedValues::Many(values)) => {
                values.remove(value);
                values.is_empty()
            }
        };
        if is_last {
            self.0.remove(key);
        }
    }

    /// The values of a key.
    pub(super) fn get_all<'i, Q>(
        &'i self,
        key: &Q,
    ) -> impl Iterator<Item = &'i V> + use<'i, Q, K, V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (one, many) = match self.0.get(key) {
            None => (None, None),
            Some(IndexedValues::One(value)) => (Some(value), None),
            Some(IndexedValues::Many(values)) => (None, Some(values)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// The key that is stored, if it has a value.
    pub(super) fn get_key<Q>(&self, key: &Q) -> Option<&K>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.get_key_value(key).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_values_that_came_and_did_not_go() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut index: MultiIndex<String, u8> = MultiIndex::default();
        let mut all: BTreeSet<(u8, u8)> = BTreeSet::new();
        for _ in 0..2000 {
            let (key, value) = (random.u8(..3), random.u8(..4));
            if random.bool() {
                index.insert(key.to_string(), value);
                all.insert((key, value));
            } else {
                index.remove(key.to_string().as_str(), &value);
                all.remove(&(key, value));
            }
            for key in 0..3 {
                let expected: Vec<u8> =
                    all.iter().filter(|it| it.0 == key).map(|it| it.1).collect();
                let name = key.to_string();
                assert_eq!(index.get_all(name.as_str()).copied().collect::<Vec<u8>>(), expected);
                assert_eq!(index.get_key(name.as_str()).is_some(), !expected.is_empty());
            }
        }
    }
}
