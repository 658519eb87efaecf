//! Places that one at a time may have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Places by what they are for.
pub(crate) struct Leases<K: Ord> {
    taken: Arc<Mutex<LeaseTable<K>>>,
}

struct LeaseTable<K> {
    /// Each holder with its number: dropping its sender ends it.
    holders: BTreeMap<K, (u64, oneshot::Sender<()>)>,
    next: u64,
}

/// A place that is held. Dropping this gives it back.
pub(crate) struct Lease<K: Ord> {
    places: Leases<K>,
    key: K,
    number: u64,
    /// True if somebody had it before, who is told to end.
    pub(crate) replaced_another: bool,
    superseded: oneshot::Receiver<()>,
}

impl<K: Ord> Default for Leases<K> {
    fn default() -> Leases<K> {
        Leases { taken: Arc::new(Mutex::new(LeaseTable { holders: BTreeMap::new(), next: 0 })) }
    }
}

impl<K: Ord> Clone for Leases<K> {
    fn clone(&self) -> Leases<K> {
        Leases { taken: Arc::clone(&self.taken) }
    }
}

impl<K: Ord + Clone> Leases<K> {
    /// Takes a place from whoever has it; `None` if somebody has it and `may_supersede` is not set.
    pub(crate) fn take(&self, key: K, may_supersede: bool) -> Option<Lease<K>> {
        let (sender, superseded) = oneshot::channel();
        let mut taken = self.lock();
        if !may_supersede && taken.holders.contains_key(&key) {
            return None;
        }
        taken.next += 1;
        let number = taken.next;
        let before = taken.holders.insert(key.clone(), (number, sender));
        let was_taken = before.is_some();
        Some(Lease { places: self.clone(), key, number, replaced_another: was_taken, superseded })
    }
}

impl<K: Ord> Leases<K> {
    fn lock(&self) -> MutexGuard<'_, LeaseTable<K>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord> Lease<K> {
    /// Waits until somebody else took it.
    pub(crate) async fn superseded(&mut self) {
        let _ = (&mut self.superseded).await; // Nothing is ever sent.
    }
}

impl<K: Ord> Drop for Lease<K> {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if taken.holders.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            taken.holders.remove(&self.key);
        }
    }
}
