//! A cache that computes each value once.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

/// Values that many findings ask for and that are costly to make, by their keys.
#[derive(Debug)]
pub(crate) struct Memo<K, V: ?Sized>(Mutex<FxHashMap<K, Arc<V>>>);

impl<K, V: ?Sized> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

impl<K: Eq + Hash, V: ?Sized> Memo<K, V> {
    /// The value for a key, which always makes an equal one.
    pub(crate) fn get_or_compute<M: Into<Arc<V>>>(
        &self,
        key: K,
        make: impl FnOnce() -> M,
    ) -> Arc<V> {
        if let Some(found) = self.lock().get(&key) {
            return Arc::clone(found);
        }
        // The lock is not held while a value is made, since other threads make others.
        let made = make().into();
        Arc::clone(self.lock().entry(key).or_insert(made))
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<K, Arc<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
