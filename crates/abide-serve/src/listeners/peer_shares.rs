//! The connections of each address: whoever has the most makes room for others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// The connections that are open, by the address that they come from.
#[derive(Debug, Default)]
pub(super) struct PeerShares(Mutex<BTreeMap<IpAddr, BTreeMap<u64, Option<AbortHandle>>>>);

/// A connection that counts for its address until this is dropped.
#[derive(Debug)]
pub(super) struct PeerShare {
    shares: Arc<PeerShares>,
    address: IpAddr,
    number: u64,
}

impl PeerShares {
    fn open(&self) -> MutexGuard<'_, BTreeMap<IpAddr, BTreeMap<u64, Option<AbortHandle>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of connections that an address has.
    pub(super) fn count(&self, address: IpAddr) -> usize {
        self.open().get(&address).map_or(0, BTreeMap::len)
    }

    /// Counts a connection of this number for its address.
    pub(super) fn begin(self: &Arc<PeerShares>, address: IpAddr, number: u64) -> PeerShare {
        self.open().entry(address).or_default().insert(number, None);
        PeerShare { shares: Arc::clone(self), address, number }
    }

    /// Says how a connection is ended for others.
    pub(super) fn can_end(&self, address: IpAddr, number: u64, task: AbortHandle) {
        if let Some(own) = self.open().get_mut(&address).and_then(|it| it.get_mut(&number)) {
            *own = Some(task);
        }
    }

    /// Ends the newest connection of the address with the most, if it has more than this one and at least
    /// one more to spare. Returns that address, and how many it had.
    pub(super) fn make_room_for(&self, address: IpAddr) -> Option<(IpAddr, usize)> {
        let open = self.open();
        let own = open.get(&address).map_or(0, BTreeMap::len);
        let (heaviest, theirs) = open.iter().max_by_key(|(_, it)| it.len())?;
        let newest = theirs.values().rev().flatten().next()?;
        if theirs.len() <= own + 1 {
            return None;
        }
        newest.abort();
        Some((*heaviest, theirs.len()))
    }
}

impl Drop for PeerShare {
    fn drop(&mut self) {
        let mut open = self.shares.open();
        if let Some(own) = open.get_mut(&self.address) {
            own.remove(&self.number);
            if own.is_empty() {
                open.remove(&self.address);
            }
        }
    }
}
