//! Room for large requests: how much of them all streams and polls together have in memory at once.
//!
//! A client that comes again says what it holds, which may be most of what a request can be. When all
//! come at once, each waits here for its turn, and its bytes wait with it, on its own machine: the
//! windows of HTTP/2 let no more than [`SMALL`] bytes of a stream come before they are read.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many bytes a request may have that needs no room.
pub(crate) const SMALL: usize = 64 << 10;

/// The room that all share. Who waits longest is next.
#[derive(Debug)]
pub(crate) struct Room {
    bytes: Arc<Semaphore>,
    all: u32,
}

/// Room that was taken. It is given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    _bytes: Option<OwnedSemaphorePermit>,
}

/// Room that somebody waits for.
pub(crate) type Waiting = Pin<Box<dyn Future<Output = Taken> + Send>>;

impl Room {
    /// Room for so many bytes.
    pub(crate) fn new(bytes: usize) -> Room {
        let all = u32::try_from(bytes.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Room { bytes: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Waits for the room that a request of so many bytes needs. One that needs more than there is
    /// gets all of it.
    pub(crate) fn take(&self, bytes: usize) -> Waiting {
        let needed = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.all);
        let all = Arc::clone(&self.bytes);
        Box::pin(async move {
            match bytes > SMALL {
                // The semaphore is never closed.
                true => Taken { _bytes: all.acquire_many_owned(needed).await.ok() },
                false => Taken::default(),
            }
        })
    }
}
