//! The share of one stream of the names that all streams together may ask for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::collection::Collection;
use crate::names::SharedNames;
use crate::subscription::Subscription;

/// The number of names that every stream may ask for, however many others there are.
const LEAST_SHARE: usize = 100;

/// The share of one stream. It is smaller the more streams there are.
#[derive(Debug)]
pub(super) struct NameShare(Arc<SharedNames>);

impl NameShare {
    /// The share of a new stream.
    pub(super) fn new(names: &Arc<SharedNames>) -> NameShare {
        names.streams().fetch_add(1, Ordering::Relaxed);
        NameShare(Arc::clone(names))
    }

    /// Returns true if all streams ask for more than `most` names, and this one for more than its share
    /// of them. So whoever asks for little is served, whatever others do. Names that are served cost
    /// nothing, unless all streams ask for twice as many.
    pub(super) fn is_exceeded(
        &self,
        most: usize,
        own: &Subscription,
        served: &Arc<Collection>,
    ) -> bool {
        let all = self.0.len();
        if all <= most {
            return false;
        }
        let cost = match all > most.saturating_mul(2) {
            true => own.len(),
            false => own.all_names().filter(|it| served.find(it).is_none()).count(),
        };
        let streams = self.0.streams().load(Ordering::Relaxed).max(1);
        cost > (most / streams).max(LEAST_SHARE)
    }
}

impl Drop for NameShare {
    fn drop(&mut self) {
        self.0.streams().fetch_sub(1, Ordering::Relaxed);
    }
}
