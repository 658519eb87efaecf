//! The clients that are connected, and what they are served.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::{TopicStatus, View};
use tokio::sync::watch;

use crate::apis::{Apis, Group};
use crate::args::Limits;
use crate::encoding::Encodings;
use crate::listeners::Gates;
use crate::served::Served;
use crate::wire::Node;

/// What all parts of a server share.
pub(crate) struct Fleet {
    served: watch::Sender<Option<Arc<Served>>>,
    state: Mutex<State>,
    pub(crate) counters: Counters,
    pub(crate) encodings: Encodings,
    pub(crate) apis: Arc<Apis>,
    pub(crate) limits: Limits,
    pub(crate) is_ordered: bool,
    pub(crate) gates: Gates,
    /// Which start this is.
    pub(crate) epoch: u32,
    /// Changes when resources were judged.
    verdicts: watch::Sender<()>,
    started: Instant,
}

#[derive(Default)]
struct State {
    clients: BTreeMap<u64, Client>,
    next: u64,
    /// Why the newest resources are not served.
    refused: Vec<String>,
    is_draining: bool,
}

/// A stream of a client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) node: Node,
    /// `v2` or `v3`.
    pub(crate) transport: &'static str,
    pub(crate) types: Vec<TopicStatus>,
    /// What it is served, and what that lacks.
    pub(crate) view: Arc<View>,
}

/// What is counted since the start of the first epoch.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) streams: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) responses: AtomicU64,
    pub(crate) nacks: AtomicU64,
    pub(crate) updates: AtomicU64,
    pub(crate) update_rejected: AtomicU64,
    pub(crate) streams_refused: AtomicU64,
    pub(crate) streams_stalled: AtomicU64,
    /// What the processes before this one have counted, by name.
    past: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    /// Each with its name.
    pub(crate) fn all(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("grpc.requests", &self.requests),
            ("grpc.responses", &self.responses),
            ("grpc.nacks", &self.nacks),
            ("grpc.streams_total", &self.streams),
            ("grpc.streams_refused", &self.streams_refused),
            ("grpc.streams_stalled", &self.streams_stalled),
            ("resources.update_rejected", &self.update_rejected),
            ("resources.update_success", &self.updates),
        ];
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |name: &str| past.get(name).copied().unwrap_or_default();
        all.map(|(name, it)| (name, before(name) + it.load(Ordering::Relaxed))).to_vec()
    }

    /// Counts on from what the processes before this one have counted by now.
    pub(crate) fn inherit(&self, past: BTreeMap<String, u64>) {
        *self.past.lock().unwrap_or_else(PoisonError::into_inner) = past;
    }
}

/// Counts one more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Fleet {
    pub(crate) fn new(
        apis: Arc<Apis>,
        limits: Limits,
        is_ordered: bool,
        gates: Gates,
        epoch: u32,
    ) -> Fleet {
        Fleet {
            served: watch::Sender::new(None),
            state: Mutex::default(),
            counters: Counters::default(),
            encodings: Encodings::default(),
            apis,
            limits,
            is_ordered,
            gates,
            epoch,
            verdicts: watch::Sender::new(()),
            started: Instant::now(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves this from now on.
    pub(crate) fn serve(&self, served: Served) {
        count(&self.counters.updates);
        self.state().refused.clear();
        let before = self.served.borrow().clone().unwrap_or_default();
        let served = served.after(&before);
        self.served.send_replace(Some(Arc::new(served)));
        self.verdicts.send_replace(());
    }

    /// Goes on with what is served: the newest resources must not be.
    pub(crate) fn refuse(&self, why: Vec<String>) {
        count(&self.counters.update_rejected);
        self.state().refused = why;
        self.verdicts.send_replace(());
    }

    /// Waits until something is served.
    ///
    /// # Errors
    /// Why the first resources must not be, one line each.
    pub(crate) async fn initialised(&self) -> Result<(), Vec<String>> {
        let mut verdicts = self.verdicts.subscribe();
        loop {
            if self.served.borrow().is_some() {
                return Ok(());
            }
            let refused = self.state().refused.clone();
            if !refused.is_empty() {
                return Err(refused);
            }
            if verdicts.changed().await.is_err() {
                return Err(Vec::new());
            }
        }
    }

    /// What is served, and when that changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Option<Arc<Served>>> {
        self.served.subscribe()
    }

    /// What is served to a client now; nothing before the first resources.
    pub(crate) fn view(
        &self,
        served: &Option<Arc<Served>>,
        node: &Node,
        group: Group,
    ) -> Option<Arc<View>> {
        // Making a view takes a while where much was served, and others share it.
        served.as_ref().map(|it| tokio::task::block_in_place(|| it.view(&self.apis, node, group)))
    }

    /// Why it is not ready for clients, one line each.
    pub(crate) fn hindrances(&self) -> Vec<String> {
        let state = self.state();
        let mut lines = state.refused.clone();
        if state.is_draining {
            lines.insert(0, "draining".to_owned());
        } else if self.served.borrow().is_none() {
            lines.insert(0, "nothing is served yet".to_owned());
        }
        lines
    }

    /// Whether clients may come: something is served, and nobody asked it to drain.
    pub(crate) fn is_ready(&self) -> bool {
        !self.state().is_draining && self.served.borrow().is_some()
    }

    /// Whether health checks are to fail.
    pub(crate) fn set_draining(&self, is_draining: bool) {
        self.state().is_draining = is_draining;
        match is_draining {
            true => self.gates.fail_health_checks(),
            false => self.gates.pass_health_checks(),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.state().is_draining
    }

    /// How long it has run.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Takes a stream in, unless there are too many. It is gone when the guard is dropped.
    pub(crate) fn enter(self: &Arc<Fleet>, node: Node, transport: &'static str) -> Option<Guest> {
        let mut state = self.state();
        if state.clients.len() >= self.limits.max_streams {
            count(&self.counters.streams_refused);
            return None;
        }
        count(&self.counters.streams);
        state.next += 1;
        let number = state.next;
        state
            .clients
            .insert(number, Client { node, transport, types: Vec::new(), view: Arc::default() });
        Some(Guest { fleet: Arc::clone(self), number })
    }

    /// The streams that are open, oldest first.
    pub(crate) fn clients(&self) -> Vec<Client> {
        self.state().clients.values().cloned().collect()
    }
}

/// A stream that was taken in.
pub(crate) struct Guest {
    fleet: Arc<Fleet>,
    number: u64,
}

impl Guest {
    /// Records what its client has.
    pub(crate) fn update(&self, types: Vec<TopicStatus>) {
        if let Some(client) = self.fleet.state().clients.get_mut(&self.number) {
            client.types = types;
        }
    }

    /// Records what its client is served.
    pub(crate) fn see(&self, view: &Arc<View>) {
        if let Some(client) = self.fleet.state().clients.get_mut(&self.number) {
            client.view = Arc::clone(view);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.fleet.state().clients.remove(&self.number);
    }
}
