//! Room for large requests: how much of them all streams and polls together have in memory at once.
//!
//! A client that comes again says what it holds, which may be most of what a request can be. When all
//! come at once, each waits here for its turn, and its bytes wait with it, on its own machine: the
//! windows of HTTP/2 let no more than [`SMALL`] bytes of a stream come before they are read.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of bytes of a request that need no room. Whoever wants more has to have sent so many.
pub const SMALL: usize = 32 << 10;

/// The room that all share. Who waits longest is next.
#[derive(Debug)]
pub struct MemoryBudget {
    bytes: Arc<Semaphore>,
    all: u32,
    waiting: Arc<AtomicUsize>,
}

/// Room that was taken. It is given back when this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    _bytes: Option<OwnedSemaphorePermit>,
}

/// Room that somebody waits for.
pub(crate) type Waiting = Pin<Box<dyn Future<Output = Reservation> + Send>>;

/// Somebody who waits.
struct Waits(Arc<AtomicUsize>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl MemoryBudget {
    /// Room for so many bytes, and for one at least: then large requests are read one by one.
    pub fn new(bytes: usize) -> MemoryBudget {
        let bytes = bytes.clamp(1, Semaphore::MAX_PERMITS);
        let all = u32::try_from(bytes).unwrap_or(u32::MAX);
        MemoryBudget { bytes: Arc::new(Semaphore::new(all as usize)), all, waiting: Arc::default() }
    }

    /// Waits for the room that a request of so many bytes needs. One that needs more than there is
    /// gets all of it.
    pub fn take(&self, bytes: usize) -> Waiting {
        let needed = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.all);
        let all = Arc::clone(&self.bytes);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let waits = Waits(Arc::clone(&self.waiting));
        Box::pin(async move {
            // The semaphore is never closed.
            let taken = Reservation { _bytes: all.acquire_many_owned(needed).await.ok() };
            drop(waits);
            taken
        })
    }

    /// Returns true if somebody waits for room.
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}
