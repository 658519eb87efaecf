//! The clients that are connected, and what they are served.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use abide_instance::runtime::Runtime;
use abide_xds::{TopicStatus, View};
use tokio::sync::watch;

use crate::apis::{Apis, Group};
use crate::args::Limits;
use crate::folder::Audience;
use crate::overrides::Overrides;
use crate::served::Served;
use crate::traffic::Traffic;
use crate::wire::Node;

/// What all parts of a server share.
pub(crate) struct Fleet {
    served: watch::Sender<Option<Arc<Served>>>,
    source: Mutex<Source>,
    before_serving: OnceLock<BeforeServing>,
    state: Mutex<State>,
    pub(crate) counters: Counters,
    pub(crate) apis: Arc<Apis>,
    pub(crate) limits: Limits,
    pub(crate) is_ordered: bool,
    started: Instant,
}

/// What has to be done with resources before clients get them.
type BeforeServing = Box<dyn Fn(&Served) + Send + Sync>;

/// What is made into what is served. It is locked until that is done.
#[derive(Default)]
struct Source {
    /// What was judged good last.
    judged: Option<Served>,
    /// What the operator set above it.
    overrides: Overrides,
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

/// What is counted since the start.
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
    pub(crate) traffic: Traffic,
}

impl Counters {
    /// Each with its name and what it counts, without those of [`Traffic`].
    pub(crate) fn all(&self) -> Vec<(&'static str, &'static str, u64)> {
        let all = [
            ("grpc.requests", "Requests of streams and polls.", &self.requests),
            ("grpc.responses", "Responses to streams and polls.", &self.responses),
            ("grpc.nacks", "Requests that refuse a response.", &self.nacks),
            ("grpc.streams_total", "Streams and polls that were opened.", &self.streams),
            ("grpc.streams_refused", "Streams and polls above the limit.", &self.streams_refused),
            (
                "grpc.streams_stalled",
                "Streams that ended because the client did not read.",
                &self.streams_stalled,
            ),
            (
                "resources.update_rejected",
                "Changes of the resources that were refused.",
                &self.update_rejected,
            ),
            (
                "resources.update_success",
                "Changes of the resources that are served.",
                &self.updates,
            ),
        ];
        all.map(|(name, help, it)| (name, help, it.load(Ordering::Relaxed))).to_vec()
    }
}

/// Counts one more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Fleet {
    pub(crate) fn new(apis: Arc<Apis>, limits: Limits, is_ordered: bool) -> Fleet {
        Fleet {
            served: watch::Sender::new(None),
            source: Mutex::default(),
            before_serving: OnceLock::new(),
            state: Mutex::default(),
            counters: Counters::default(),
            apis,
            limits,
            is_ordered,
            started: Instant::now(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves this from now on.
    pub(crate) fn serve(&self, served: Served) {
        count(&self.counters.updates);
        let mut source = self.source();
        source.judged = Some(served);
        self.publish(&source);
        self.state().refused.clear();
    }

    /// Has this done with all resources before clients get them, from now on. Only the first
    /// call counts.
    pub(crate) fn before_serving(&self, work: impl Fn(&Served) + Send + Sync + 'static) {
        drop(self.before_serving.set(Box::new(work)));
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, source: &Source) {
        let Some(judged) = &source.judged else { return };
        let served = judged.map(|it| source.overrides.over(&self.apis.newest, it));
        if let Some(work) = self.before_serving.get() {
            work(&served);
        }
        let before = self.served.borrow().clone().unwrap_or_default();
        self.served.send_replace(Some(Arc::new(served.after(&before))));
    }

    /// Sets keys of runtime above all layers that are served; empty values take back what was
    /// set. Clients get it at once.
    ///
    /// # Errors
    /// Why nothing was set: one phrase.
    pub(crate) fn modify_runtime(&self, pairs: &[(String, String)]) -> Result<(), String> {
        let mut source = self.source();
        source.overrides.modify(pairs)?;
        self.publish(&source);
        Ok(())
    }

    /// The layers of runtime that an audience is served, below what the operator set. `None` if
    /// nothing is for this audience alone.
    pub(crate) fn runtime(&self, audience: &str) -> Option<Runtime> {
        let source = self.source();
        let audiences = source.judged.as_ref().map(Served::audiences).unwrap_or_default();
        let its = audiences.into_iter().find(|it| it.0.to_string() == audience);
        if its.is_none() && audience != Audience::Everyone.to_string() {
            return None;
        }
        let snapshot = its.map(|it| it.1).unwrap_or_default();
        Some(source.overrides.above(&self.apis.newest, &snapshot))
    }

    /// Goes on with what is served: the newest resources must not be.
    pub(crate) fn refuse(&self, why: Vec<String>) {
        count(&self.counters.update_rejected);
        self.state().refused = why;
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
