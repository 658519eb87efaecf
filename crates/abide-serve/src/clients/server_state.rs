//! The clients that are connected, and what they are served.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use abide_instance::runtime::Runtime;
use abide_xds::wire::{Node, VersionedTypeUrl, one_line, simple_name};
use abide_xds::{
    ClientProfile, Initialisation, Refusal, Resource, RollBack, RolledBack, SharedNames, View,
};
use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::convergence::Convergence;
use super::expected::ExpectedClients;
use super::leases::{Lease, Leases};
use super::saved_state::{SavedListing, SavedState};
use super::shared_session::{ClientState, SharedSession, StreamCounts};
use super::traffic::{TrafficCounter, TrafficCounters};
use super::usage::VersionUsage;
use crate::error::Error;
use crate::limits::{Limits, SecondStream};
use crate::listeners::{Connections, Peer};
use crate::resources::{Apis, Audience, Group, Groups, Overrides, ResourceFile, ServedResources};
use abide_transport::{EncodingCache, MemoryBudget, ReloadingTls};

/// The number of listings that the next process gets, to go back to.
const MAX_SAVED: usize = 4;

/// The state that all parts of a server share.
pub(crate) struct ServerState {
    served: watch::Sender<Option<Arc<ServedResources>>>,
    good: Mutex<AcceptedResources>,
    state: Mutex<State>,
    pub(crate) counters: ServerCounters,
    pub(crate) encodings: EncodingCache,
    /// The names that streams ask for.
    pub(crate) names: Arc<SharedNames>,
    /// For requests that are large.
    pub(crate) room: Arc<MemoryBudget>,
    pub(crate) apis: Arc<Apis>,
    pub(crate) limits: Limits,
    /// The clients that the operator expects.
    expected: ExpectedClients,
    pub(crate) is_ordered: bool,
    pub(crate) gates: Connections,
    /// The number of this start.
    pub(crate) epoch: u32,
    /// Changes when resources were judged.
    verdicts: watch::Sender<()>,
    pub(crate) usage: VersionUsage,
    groups: Groups,
    /// One for each stream and poll that there may be.
    places: Arc<Semaphore>,
    /// The aggregated streams, by node.
    aggregated: Leases<String>,
    started: Instant,
    /// The same by the clock of the wall.
    pub(crate) started_at: Timestamp,
    /// The certificate that clients are shown, if they are shown any.
    tls: OnceLock<Arc<ReloadingTls>>,
}

/// The resources that are made into what is served. They are locked until that is done, after
/// [`State`] if both are.
#[derive(Default)]
struct AcceptedResources {
    /// The resources that were judged good last, and not taken back.
    served: Option<Arc<ServedResources>>,
    /// Those that were served before, oldest first.
    past: VecDeque<Arc<ServedResources>>,
    /// Those that a process before this one served last: they are served if those of now cannot be.
    inherited: Option<Arc<ServedResources>>,
    /// The runtime that the operator set above them.
    overrides: Overrides,
}

impl AcceptedResources {
    /// Those that clients have now.
    fn newest(&self) -> Option<Arc<ServedResources>> {
        self.served.as_ref().or(self.inherited.as_ref()).cloned()
    }
}

#[derive(Default)]
struct State {
    clients: BTreeMap<u64, ConnectedClient>,
    next: u64,
    /// Problems for which the newest resources are not served.
    refused: Vec<String>,
    /// Problems for which some clients are not served what is newest for them.
    stopped: Vec<String>,
    /// The time since when there are any of either.
    refused_since: Option<Instant>,
    /// The time since when the source cannot be read.
    away_since: Option<Instant>,
    /// The error with which files could not be written last, and since when.
    file_output: Option<(String, Instant)>,
    /// What the operator should know about the source, such as files that were edited in place.
    notes: Vec<String>,
    /// The name that their source has for those.
    refused_revision: Option<String>,
    /// The error with which the source cannot be read now.
    away: Option<String>,
    /// Decides when and how far to go back, if ever.
    roll_back: Option<RollBack<Arc<ServedResources>>>,
    /// True if health checks are to fail.
    fails_health_checks: bool,
    /// True if the listeners of clients close, or are closed.
    closes: bool,
    /// True if the process was told to end.
    ends: bool,
}

impl State {
    /// Says why clients are to leave, if they are.
    fn drains(&self) -> Option<&'static str> {
        let reasons = [
            (self.ends, "the server was told to end"),
            (self.closes, "the listeners of clients close"),
            (self.fails_health_checks, "health checks are to fail"),
        ];
        reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }
}

/// The state of the source of the resources.
pub(crate) struct SourceStatus {
    /// The name that it has for what is served.
    pub(crate) serving: Option<String>,
    /// The name that it has for what is newest, if that was refused.
    pub(crate) refused: Option<String>,
    /// The error with which it cannot be read now.
    pub(crate) away: Option<String>,
}

/// The service that a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientService {
    /// It asks for resources.
    Discovery,
    /// It offers to check the health of endpoints.
    Health,
}

/// A stream of a client.
#[derive(Clone, Debug)]
pub(crate) struct ConnectedClient {
    pub(crate) node: Node,
    pub(crate) origin: ClientOrigin,
    /// The time at which it came.
    pub(crate) since: Timestamp,
    /// An explanation, if it is not expected here.
    pub(crate) surprise: Option<String>,
    seen: ClientView,
}

/// The variant of the protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variant {
    /// The state of the world, on a stream.
    Sotw,
    /// Changes alone, on a stream.
    Delta,
    /// Polls.
    Rest,
}

impl Variant {
    /// Its name in pages and metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::Sotw => "sotw",
            Variant::Delta => "delta",
            Variant::Rest => "rest",
        }
    }
}

/// The way by which a client came.
#[derive(Clone, Debug)]
pub(crate) struct ClientOrigin {
    /// `v2` or `v3`.
    pub(crate) transport: &'static str,
    pub(crate) service: ClientService,
    pub(crate) variant: Variant,
    pub(crate) peer: Arc<Peer>,
}

/// A view of what a client has.
#[derive(Clone, Debug, Default)]
enum ClientView {
    /// Nowhere yet.
    #[default]
    Nowhere,
    /// By the session of its stream. How far it has come takes as long to find as there are resources.
    Stream(Arc<SharedSession>),
    /// By a poll.
    Poll(Initialisation, ClientState),
}

impl ConnectedClient {
    /// Returns what it has now.
    pub(crate) fn has(&self) -> ClientState {
        match &self.seen {
            ClientView::Nowhere => ClientState::default(),
            ClientView::Stream(talk) => talk.client_state(),
            ClientView::Poll(_, has) => has.clone(),
        }
    }

    /// Returns how long it has not accepted what it was sent; `None` if it has.
    pub(crate) fn time_behind(&self) -> Option<Duration> {
        match &self.seen {
            ClientView::Stream(talk) => talk.time_behind(),
            ClientView::Nowhere | ClientView::Poll(..) => None,
        }
    }

    /// Returns the counts of its stream, if it has one.
    pub(crate) fn traffic(&self) -> Option<StreamCounts> {
        match &self.seen {
            ClientView::Stream(talk) => Some(talk.traffic.counts()),
            ClientView::Nowhere | ClientView::Poll(..) => None,
        }
    }

    /// Returns how far it has come; `None` before its stream has a session.
    pub(crate) fn initialisation(&self) -> Option<Initialisation> {
        match &self.seen {
            ClientView::Nowhere => None,
            ClientView::Stream(talk) => Some(talk.initialisation()),
            ClientView::Poll(initialisation, _) => Some(initialisation.clone()),
        }
    }
}

/// The verdict of a client on a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseVerdict {
    Accepted,
    Refused,
}

/// The counters since the start of the first epoch.
#[derive(Debug, Default)]
pub(crate) struct ServerCounters {
    pub(crate) streams: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) responses: AtomicU64,
    pub(crate) nacks: AtomicU64,
    pub(crate) updates: AtomicU64,
    pub(crate) update_rejected: AtomicU64,
    pub(crate) rolled_back: AtomicU64,
    pub(crate) streams_refused: AtomicU64,
    pub(crate) streams_stalled: AtomicU64,
    pub(crate) traffic: TrafficCounters,
    pub(crate) convergence: Convergence,
    /// The counts of the processes before this one, by name.
    past: Mutex<BTreeMap<String, u64>>,
    pub(crate) streams_second: AtomicU64,
    pub(crate) streams_superseded: AtomicU64,
    pub(crate) streams_unexpected: AtomicU64,
    pub(crate) deprecated_uses: AtomicU64,
}

impl ServerCounters {
    /// Counts a request of a client, and what it says about a response, if anything.
    pub(crate) fn count_request(&self, type_url: &str, answer: Option<ResponseVerdict>) {
        increment(&self.requests);
        self.traffic.add(type_url, &[(TrafficCounter::Requests, 1)]);
        match answer {
            Some(ResponseVerdict::Accepted) => {
                self.traffic.add(type_url, &[(TrafficCounter::Acks, 1)]);
            }
            Some(ResponseVerdict::Refused) => {
                increment(&self.nacks);
                self.traffic.add(type_url, &[(TrafficCounter::Nacks, 1)]);
            }
            None => {}
        }
    }

    /// Counts a response with its resources, and returns how many bytes these have.
    pub(crate) fn count_response<'r>(
        &self,
        type_url: &str,
        resources: impl ExactSizeIterator<Item = &'r Arc<Resource>>,
    ) -> usize {
        increment(&self.responses);
        let count = resources.len();
        let bytes = resources.map(|resource| resource.body.len()).sum();
        let counts = [
            (TrafficCounter::Responses, 1),
            (TrafficCounter::Resources, count),
            (TrafficCounter::Bytes, bytes),
        ];
        self.traffic.add(type_url, &counts);
        bytes
    }

    /// Each with its name and what it counts, without those of [`TrafficCounters`].
    pub(crate) fn all(&self) -> Vec<(&'static str, &'static str, u64)> {
        let all = [
            ("grpc.requests", "Requests of streams and polls.", &self.requests),
            ("grpc.responses", "Responses to streams and polls.", &self.responses),
            ("grpc.nacks", "Requests that refuse a response.", &self.nacks),
            ("grpc.streams_total", "Streams and polls that were opened.", &self.streams),
            ("grpc.streams_refused", "Streams and polls above the limit.", &self.streams_refused),
            (
                "grpc.streams_second",
                "Aggregated streams of a node that has another one.",
                &self.streams_second,
            ),
            (
                "grpc.streams_stalled",
                "Streams that ended because the client did not read.",
                &self.streams_stalled,
            ),
            (
                "grpc.streams_superseded",
                "Streams whose place a newer one of the node took.",
                &self.streams_superseded,
            ),
            (
                "grpc.streams_unexpected",
                "Streams and polls of clients that are not expected.",
                &self.streams_unexpected,
            ),
            (
                "resources.rolled_back",
                "Changes of the resources that were taken back.",
                &self.rolled_back,
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
            (
                "runtime.deprecated_feature_use",
                "Uses of deprecated elements in what was served.",
                &self.deprecated_uses,
            ),
        ];
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |name: &str| past.get(name).copied().unwrap_or_default();
        all.map(|(name, help, it)| (name, help, before(name) + it.load(Ordering::Relaxed))).to_vec()
    }

    /// Returns how many uses of deprecated elements this process has counted.
    pub(crate) fn deprecated_uses_seen(&self) -> u64 {
        self.deprecated_uses.load(Ordering::Relaxed)
    }

    /// Counts on from what the processes before this one have counted by now.
    fn inherit(&self, past: BTreeMap<String, u64>) {
        self.traffic.inherit(&past);
        self.convergence.inherit(&past);
        *self.past.lock().unwrap_or_else(PoisonError::into_inner) = past;
    }
}

/// Counts one more.
pub(crate) fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ServerState {
    pub(crate) fn new(
        apis: Arc<Apis>,
        limits: Limits,
        expected: ExpectedClients,
        is_ordered: bool,
        gates: Connections,
        epoch: u32,
    ) -> ServerState {
        let places = limits.max_streams.min(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(places));
        ServerState {
            served: watch::Sender::new(None),
            good: Mutex::default(),
            state: Mutex::default(),
            counters: ServerCounters {
                traffic: TrafficCounters::new(apis.types()),
                ..ServerCounters::default()
            },
            encodings: EncodingCache::default(),
            names: Arc::default(),
            room: Arc::new(MemoryBudget::new(limits.request_room)),
            apis,
            limits,
            expected,
            is_ordered,
            gates,
            epoch,
            verdicts: watch::Sender::new(()),
            usage: VersionUsage::new(),
            groups: Groups::default(),
            places,
            aggregated: Leases::default(),
            started: Instant::now(),
            started_at: Timestamp::now(),
            tls: OnceLock::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a change back once so many clients of one release refused one resource of it.
    pub(crate) fn roll_back_after(&self, clients: NonZeroUsize) {
        self.state().roll_back = Some(RollBack::new(clients));
    }

    /// Serves this from now on. `stopped` says why some clients go on with what they had, one line each.
    ///
    /// # Errors
    /// What of it clients refused before, one line each: then it goes on with what is served.
    pub(crate) fn serve(
        &self,
        served: ServedResources,
        stopped: Vec<String>,
    ) -> Result<(), Vec<String>> {
        let mut state = self.state();
        let before = self.good().newest();
        let served = Arc::new(served.going_on_with(before.as_ref()));
        if let Some(roll_back) = &mut state.roll_back {
            let hindrances: Vec<String> = roll_back.hindrances(&served).map(taken_back).collect();
            if !hindrances.is_empty() {
                return Err(hindrances);
            }
            roll_back.serve(Arc::clone(&served));
        }
        increment(&self.counters.updates);
        state.refused.clear();
        state.refused_revision = None;
        match stopped.is_empty() {
            true => state.refused_since = None,
            false => {
                increment(&self.counters.update_rejected);
                state.refused_since.get_or_insert_with(Instant::now);
            }
        }
        state.stopped = stopped;
        self.publish(served);
        self.verdicts.send_replace(());
        Ok(())
    }

    /// Serves what was judged good, with what the operator set above it.
    fn publish(&self, judged: Arc<ServedResources>) {
        let mut good = self.good();
        if let Some(before) = good.served.replace(judged) {
            good.past.push_back(before);
        }
        let many = good.past.len().saturating_sub(MAX_SAVED - 1);
        good.past.drain(..many);
        self.publish_again(&good);
    }

    /// Goes on with what a process before this one served, if that is known and there is nothing better.
    fn fall_back(&self) {
        let inherited = match &*self.good() {
            AcceptedResources { served: None, inherited: Some(inherited), .. } => {
                Arc::clone(inherited)
            }
            _ => return,
        };
        let revision = inherited.revision().map(str::to_owned);
        tracing::warn!(revision, "serving the resources that the process before this one served");
        self.publish(inherited);
    }

    /// What the next process has to know.
    pub(crate) fn save(&self) -> SavedState {
        let state = self.state();
        let rolled_back = state.roll_back.iter().flat_map(|it| it.taken_back()).map(Into::into);
        let good = self.good();
        let last: Vec<_> = good.past.iter().chain(&good.served).cloned().collect();
        let is_last = |kept: &Arc<ServedResources>| {
            last.iter().any(|it| Arc::ptr_eq(it.files(), kept.files()))
        };
        let mut listings: Vec<_> =
            good.served.iter().flat_map(|it| it.kept_for_stopped()).collect();
        listings.retain(|it| !is_last(it));
        listings.extend(last);
        let listings = listings.iter();
        let state = SavedState {
            listings: listings.map(|it| SavedListing::new(it.revision(), it.files())).collect(),
            rolled_back: rolled_back.collect(),
            runtime: good.overrides.texts().collect(),
            fails_health_checks: state.fails_health_checks,
        };
        state.bounded()
    }

    /// Takes in what a process before this one saved: what it served is known to clients, and what it
    /// took back is not served again. `judge` makes of files what is served.
    pub(crate) fn restore(
        &self,
        saved: SavedState,
        judge: impl Fn(&[ResourceFile]) -> Option<ServedResources>,
    ) {
        let mut newest: Option<Arc<ServedResources>> = None;
        let mut past = Vec::new();
        for listing in &saved.listings {
            let files = listing.files();
            // What this process does not accept any more is no good to go back to.
            let Some(served) = judge(&files) else { continue };
            let revision = Some(&*listing.revision).filter(|it| !it.is_empty());
            let served = served.read_from(&files, revision).going_on_with(newest.as_ref());
            let served = served.descended_from(newest.take());
            past.push(Arc::clone(newest.insert(Arc::new(served))));
        }
        let mut state = self.state();
        if let Some(roll_back) = &mut state.roll_back {
            let taken_back = saved.rolled_back.into_iter().map(RolledBack::from);
            roll_back.restore(past.iter().cloned(), taken_back);
        }
        drop(state);
        let mut good = self.good();
        if let Err(error) = good.overrides.modify(&saved.runtime.into_iter().collect::<Vec<_>>()) {
            tracing::warn!("the runtime that was set before is lost: {error}");
        }
        good.inherited = newest;
        drop(good);
        if saved.fails_health_checks {
            self.fail_health_checks();
        }
    }

    /// Counts on from what the processes before this one have counted by now.
    pub(crate) fn inherit_counters(&self, past: BTreeMap<String, u64>) {
        self.usage.inherit(&past);
        self.counters.inherit(past);
    }

    /// All counters that the next process goes on with, by name.
    pub(crate) fn counters_by_name(&self) -> BTreeMap<String, u64> {
        let own = self.counters.all().into_iter().map(|(name, _, value)| (name.to_owned(), value));
        own.chain(self.counters.traffic.by_name())
            .chain(self.counters.convergence.by_name())
            .chain(self.usage.by_name())
            .collect()
    }

    /// Subscribes to verdicts about resources.
    pub(crate) fn subscribe_verdicts(&self) -> watch::Receiver<()> {
        self.verdicts.subscribe()
    }

    fn good(&self) -> MutexGuard<'_, AcceptedResources> {
        self.good.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_again(&self, good: &AcceptedResources) {
        let Some(served) = &good.served else { return };
        let served = served.map(|it| good.overrides.over(self.apis.types(), self.apis.newest, it));
        let now = match self.served.borrow().clone() {
            Some(before) => served.after(&before),
            None => served.descended_from(good.inherited.clone()),
        };
        self.served.send_replace(Some(Arc::new(now.published_at(Instant::now()))));
    }

    /// Sets keys of runtime above all layers that are served; empty values take back what was
    /// set. Clients get it at once.
    ///
    /// # Errors
    /// A key or value that cannot be set: then nothing was set.
    pub(crate) fn modify_runtime(&self, pairs: &[(String, String)]) -> Result<(), Error> {
        let mut good = self.good();
        good.overrides.modify(pairs)?;
        self.publish_again(&good);
        Ok(())
    }

    /// The runtime that the operator set.
    pub(crate) fn overrides(&self) -> Overrides {
        self.good().overrides.clone()
    }

    /// The layers of runtime that an audience is served, below what the operator set. `None` if
    /// nothing is for this audience alone.
    pub(crate) fn runtime(&self, audience: &str) -> Option<Runtime> {
        let good = self.good();
        let audiences = good.served.as_ref().map(|it| it.audiences()).unwrap_or_default();
        let its = audiences.into_iter().find(|it| it.0.to_string() == audience);
        if its.is_none() && audience != Audience::Everyone.to_string() {
            return None;
        }
        let snapshot = its.map(|it| it.1).unwrap_or_default();
        Some(good.overrides.above(self.apis.types(), self.apis.newest, &snapshot))
    }

    /// A client refused a response of what it is served. This may be one client too many. What
    /// operators set in a layer of runtime is theirs to take back.
    pub(crate) fn record_refusal(
        &self,
        node: &Node,
        view: &View,
        type_url: &str,
        refusal: &Refusal,
    ) {
        let mut state = self.state();
        let Some(roll_back) = &mut state.roll_back else { return };
        let resources = refusal.resources.iter();
        let types = self.apis.types();
        let resources = resources.filter_map(|(name, it)| view.original(types, type_url, name, it));
        let release = node.user_agent();
        let Some(back) = roll_back.refused(&release, &node.id, resources, &refusal.message) else {
            return;
        };
        let lines: Vec<String> = roll_back.taken_back().iter().map(taken_back).collect();
        increment(&self.counters.rolled_back);
        let newest = self.served.borrow().as_ref().and_then(|it| it.revision().map(str::to_owned));
        if state.refused.is_empty() {
            state.refused_revision = newest;
        }
        state.refused_since.get_or_insert_with(Instant::now);
        for line in lines {
            // What was taken back before is known.
            if !state.refused.contains(&line) {
                let serving = back.revision();
                tracing::error!(serving, "went back to what was served before: {line}");
                state.refused.push(line);
            }
        }
        self.publish(back);
    }

    /// Lists the resources that were taken back, and who refused them.
    pub(crate) fn taken_back(&self) -> Vec<RolledBack> {
        let state = self.state();
        state.roll_back.iter().flat_map(|it| it.taken_back()).cloned().collect()
    }

    /// Goes on with what is served: the newest resources must not be.
    pub(crate) fn reject_update(&self, revision: Option<&str>, why: Vec<String>) {
        increment(&self.counters.update_rejected);
        let mut state = self.state();
        state.refused_since.get_or_insert_with(Instant::now);
        state.refused = why;
        state.stopped.clear();
        state.refused_revision = revision.map(str::to_owned);
        drop(state);
        self.fall_back();
        self.verdicts.send_replace(());
    }

    /// Waits until something is served.
    ///
    /// # Errors
    /// Why the first resources must not be, one line each.
    pub(crate) async fn wait_until_served(&self) -> Result<(), Vec<String>> {
        let mut verdicts = self.verdicts.subscribe();
        loop {
            let refused = self.state().refused.clone();
            // What a process before this one took back keeps nobody from taking over.
            let back: Vec<String> = self.taken_back().iter().map(taken_back).collect();
            if refused.iter().any(|it| !back.contains(it)) {
                return Err(refused);
            }
            if self.served.borrow().is_some() {
                return Ok(());
            }
            if verdicts.changed().await.is_err() {
                return Err(Vec::new());
            }
        }
    }

    /// Goes on with what is served: the source cannot be read now. Returns whether that is news.
    pub(crate) fn mark_source_unreadable(&self, why: &str) -> bool {
        let mut state = self.state();
        let is_news = state.away.replace(why.to_owned()).as_deref() != Some(why);
        state.away_since.get_or_insert_with(Instant::now);
        drop(state);
        self.fall_back();
        is_news
    }

    /// The source was read. Returns whether it could not be read before.
    pub(crate) fn mark_source_readable(&self) -> bool {
        let mut state = self.state();
        state.away_since = None;
        state.away.take().is_some()
    }

    /// Takes in what the operator should know about the source now.
    pub(crate) fn set_notes(&self, notes: &[String]) {
        self.state().notes = notes.to_vec();
    }

    /// Takes in whether files could be written.
    pub(crate) fn set_file_output(&self, error: Option<String>) {
        let mut state = self.state();
        let since = state.file_output.take().map(|it| it.1);
        state.file_output = error.map(|it| (it, since.unwrap_or_else(Instant::now)));
    }

    /// Watches the certificate that clients are shown.
    pub(crate) fn watch_certificate(&self, tls: &Arc<ReloadingTls>) {
        // It is called once, at the start.
        let _ = self.tls.set(Arc::clone(tls));
    }

    /// Returns the time at which the certificate that clients are shown ends, in seconds since 1970.
    pub(crate) fn certificate_end(&self) -> Option<i64> {
        tokio::task::block_in_place(|| self.tls.get()?.certificate_end())
    }

    /// Lists what is not right and for how many seconds it has not been, each by its name at metrics;
    /// 0 for what is right.
    pub(crate) fn troubles(&self) -> [(&'static str, &'static str, u64); 4] {
        let tls = tokio::task::block_in_place(|| self.tls.get()?.refused_since());
        let state = self.state();
        let seconds = |since: Option<Instant>| since.map_or(0, |it| it.elapsed().as_secs().max(1));
        [
            (
                "file_output.failing_seconds",
                "Seconds since files could not be written; 0 if they can.",
                seconds(state.file_output.as_ref().map(|it| it.1)),
            ),
            (
                "resources.refused_seconds",
                "Seconds since the newest resources are refused; 0 if they are served.",
                seconds(state.refused_since),
            ),
            (
                "source.away_seconds",
                "Seconds since the source of the resources cannot be read; 0 if it can.",
                seconds(state.away_since),
            ),
            (
                "tls.refused_seconds",
                "Seconds since the files of the certificate cannot be used; 0 if they can.",
                seconds(tls),
            ),
        ]
    }

    /// Returns the state of the source.
    pub(crate) fn source(&self) -> SourceStatus {
        let state = self.state();
        let served = self.served.borrow();
        SourceStatus {
            serving: served.as_ref().and_then(|it| it.revision()).map(str::to_owned),
            refused: state.refused_revision.clone(),
            away: state.away.clone(),
        }
    }

    /// Subscribes to what is served and to its changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Arc<ServedResources>>> {
        self.served.subscribe()
    }

    /// Builds what is served to a client now; nothing before the first resources.
    pub(crate) fn view(
        &self,
        served: &Option<Arc<ServedResources>>,
        node: &Node,
        group: &Group,
    ) -> Option<Arc<View>> {
        let served = served.as_ref()?;
        // Making a view takes a while where much is served; others share it.
        let made = || tokio::task::block_in_place(|| served.view(&self.apis, node, group));
        served.known(node, group).or_else(made)
    }

    /// Assigns a client to those that are served alike, by what its first request says.
    ///
    /// # Errors
    /// More than clients may want.
    pub(crate) fn assign_group(
        &self,
        node: &Node,
        type_url: &str,
        listed: Vec<VersionedTypeUrl>,
    ) -> Result<Group, Error> {
        self.find_group(self.apis.resolve_profile(node, type_url, listed)?)
    }

    /// Assigns a client to another group after a further request, if it belongs there.
    ///
    /// # Errors
    /// More than clients may want.
    pub(crate) fn update_group(
        &self,
        group: &Group,
        type_url: &str,
        listed: Vec<VersionedTypeUrl>,
    ) -> Result<Option<Group>, Error> {
        let learned = self.apis.update_profile(&group.terms, type_url, listed)?;
        learned.map(|terms| self.find_group(terms)).transpose()
    }

    fn find_group(&self, terms: ClientProfile) -> Result<Group, Error> {
        let found = self.groups.with(terms);
        let (group, forgotten) = found.ok_or(Error::TooManyGroups)?;
        if let (Some(number), Some(served)) = (forgotten, &*self.served.borrow()) {
            served.forget(number);
        }
        Ok(group)
    }

    /// The place of an aggregated stream of a node; `None` if another one has it and keeps it.
    pub(crate) fn lease_aggregated_stream(&self, node: &str) -> Option<AggregatedLease> {
        let may_supersede = self.limits.second_stream != SecondStream::Refuse;
        let place = self.aggregated.take(node.to_owned(), may_supersede);
        if place.as_ref().is_none_or(|it| it.replaced_another) {
            increment(&self.counters.streams_second);
        }
        place.map(|place| AggregatedLease {
            place,
            ends: self.limits.second_stream == SecondStream::Supersede,
        })
    }

    /// Lists why it is not ready for clients, one line each.
    pub(crate) fn readiness_problems(&self) -> Vec<String> {
        let state = self.state();
        let mut lines = [&*state.refused, &*state.stopped].concat();
        lines.extend(state.away.clone());
        if state.drains().is_none() && self.served.borrow().is_none() {
            lines.insert(0, "nothing is served yet".to_owned());
        }
        lines
    }

    /// Returns true if what is newest is served, but not to all whom it is for.
    pub(crate) fn refuses_some(&self) -> bool {
        let state = self.state();
        state.refused.is_empty() && !state.stopped.is_empty()
    }

    /// Lists what the operator should know while the server is ready: about the source, and about files
    /// that could not be written. One line each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let state = self.state();
        let failed = state.file_output.iter().map(|it| it.0.clone());
        state.notes.iter().cloned().chain(failed).collect()
    }

    /// Returns true if clients may come: something is served, and nobody asked it to drain.
    pub(crate) fn is_ready(&self) -> bool {
        self.drains().is_none() && self.served.borrow().is_some()
    }

    /// Makes health checks fail: clients look for another server.
    pub(crate) fn fail_health_checks(&self) {
        self.state().fails_health_checks = true;
        self.gates.fail_health_checks();
        self.verdicts.send_replace(());
    }

    /// Makes health checks pass again: clients that have not left stay.
    pub(crate) fn pass_health_checks(&self) {
        self.state().fails_health_checks = false;
        self.gates.pass_health_checks();
        self.verdicts.send_replace(());
    }

    /// Closes the listeners of clients for good: at once, or when all of them had the time to leave.
    pub(crate) fn close(self: Arc<ServerState>, is_graceful: bool) {
        self.state().closes = true;
        self.verdicts.send_replace(());
        tokio::spawn(async move { self.gates.close(is_graceful).await });
    }

    /// Closes the listeners of clients and waits until they have left, or their time is over. Returns
    /// false if some are left.
    pub(crate) async fn end(&self) -> bool {
        self.state().ends = true;
        self.verdicts.send_replace(());
        self.gates.end().await
    }

    /// Says why clients are to leave, if they are: one phrase.
    pub(crate) fn drains(&self) -> Option<&'static str> {
        self.state().drains()
    }

    /// The time that it has run.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Takes in a stream or a poll of which nothing was read yet; `None` if there are as many as there
    /// may be.
    pub(crate) fn acquire_stream_permit(&self) -> Option<StreamPermit> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        if place.is_none() {
            increment(&self.counters.streams_refused);
        }
        place.map(StreamPermit)
    }

    /// Lists a stream or a poll with who its client is. It is gone when the guard is dropped.
    pub(crate) fn register_client(
        self: &Arc<ServerState>,
        admission: StreamPermit,
        node: Node,
        origin: ClientOrigin,
    ) -> ClientHandle {
        let surprise = self.expected.check_expected(&node);
        let mut state = self.state();
        increment(&self.counters.streams);
        if surprise.is_some() {
            increment(&self.counters.streams_unexpected);
        }
        state.next += 1;
        let number = state.next;
        let (since, seen) = (Timestamp::now(), ClientView::Nowhere);
        let client = ConnectedClient { node, origin, since, surprise, seen };
        state.clients.insert(number, client);
        ClientHandle { fleet: Arc::clone(self), number, _admission: admission }
    }

    /// The streams that are open, oldest first.
    pub(crate) fn clients(&self) -> Vec<ConnectedClient> {
        self.state().clients.values().cloned().collect()
    }
}

/// Explains in one line why a resource is not served.
fn taken_back(it: &RolledBack) -> String {
    let ty = simple_name(&it.resource.type_url);
    let clients = if it.clients == 1 { "client" } else { "clients" };
    format!(
        "the {ty} `{}` was refused by {} {clients} of {}: {}; change it, or take it out",
        it.resource.name,
        it.clients,
        if it.release.is_empty() { "an unknown release" } else { &it.release },
        one_line(&it.message)
    )
}

/// The place of an aggregated stream of a node.
pub(crate) struct AggregatedLease {
    place: Lease<String>,
    /// True if a newer one ends it.
    ends: bool,
}

impl AggregatedLease {
    /// Waits until a newer stream ends this one, which may be never.
    pub(crate) async fn superseded(&mut self) {
        match self.ends {
            true => self.place.superseded().await,
            false => std::future::pending().await,
        }
    }
}

/// One of the streams and polls that there may be.
pub(crate) struct StreamPermit(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

/// A stream or a poll that is listed.
pub(crate) struct ClientHandle {
    fleet: Arc<ServerState>,
    number: u64,
    _admission: StreamPermit,
}

impl ClientHandle {
    /// Records by what session its client is served.
    pub(crate) fn attach_session(&self, talk: &Arc<SharedSession>) {
        self.set_view(ClientView::Stream(Arc::clone(talk)));
    }

    /// Records how far its client has come, which polls, and what it has.
    pub(crate) fn record_poll(&self, initialisation: Initialisation, has: ClientState) {
        self.set_view(ClientView::Poll(initialisation, has));
    }

    /// Counts that its client did not take what it was answered.
    pub(crate) fn count_stalled(&self) {
        increment(&self.fleet.counters.streams_stalled);
    }

    fn set_view(&self, seen: ClientView) {
        if let Some(client) = self.fleet.state().clients.get_mut(&self.number) {
            client.seen = seen;
        }
    }
}

impl Drop for ClientHandle {
    fn drop(&mut self) {
        self.fleet.state().clients.remove(&self.number);
    }
}
