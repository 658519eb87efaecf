//! The session of a stream, which its task steps and the admin port looks at.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::{Action, Event, Initialisation, Options, Session, TypeStatus, View};

use super::server_state::{ResponseVerdict, increment};
use crate::resources::Group;

/// The session of a stream, whose times count from its begin. What its client has is asked when
/// somebody looks.
#[derive(Debug)]
pub(crate) struct SharedSession {
    state: Mutex<State>,
    begin: Instant,
    pub(crate) traffic: StreamTraffic,
}

#[derive(Debug)]
struct State {
    session: Session,
    served: Option<(Arc<View>, Group)>,
    /// The responses that its client has not accepted.
    behind: Option<Behind>,
    /// The time that its client took to accept a change, until somebody counts it.
    convergence: Option<Duration>,
}

/// What a client has not accepted of what it was sent.
#[derive(Clone, Copy, Debug)]
struct Behind {
    since: Instant,
    /// True if the resources changed, and it did not ask for more.
    is_change: bool,
}

/// Counters of one stream.
#[derive(Debug, Default)]
pub(crate) struct StreamTraffic {
    requests: AtomicU64,
    responses: AtomicU64,
    nacks: AtomicU64,
    bytes: AtomicU64,
}

/// The counts of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamCounts {
    pub(crate) requests: u64,
    pub(crate) responses: u64,
    pub(crate) nacks: u64,
    /// Of resources in responses.
    pub(crate) bytes: u64,
}

impl StreamTraffic {
    /// Counts a request, and what it says about a response, if anything.
    pub(crate) fn count_request(&self, answer: Option<ResponseVerdict>) {
        increment(&self.requests);
        if answer == Some(ResponseVerdict::Refused) {
            increment(&self.nacks);
        }
    }

    /// Counts a response whose resources have so many bytes.
    pub(crate) fn count_response(&self, bytes: usize) {
        increment(&self.responses);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the counts of now.
    pub(crate) fn counts(&self) -> StreamCounts {
        let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
        StreamCounts {
            requests: count(&self.requests),
            responses: count(&self.responses),
            nacks: count(&self.nacks),
            bytes: count(&self.bytes),
        }
    }
}

/// The resources that a client has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientState {
    /// Of each type.
    pub(crate) types: Vec<TypeStatus>,
    /// The view that it is served, with what that lacks, and its group; `None` before it is
    /// served anything.
    pub(crate) served: Option<(Arc<View>, Group)>,
}

impl State {
    /// Takes in what a step of the session did.
    fn follow(&mut self, actions: &[Action], since: Instant, is_change: bool) {
        if actions.iter().any(|it| it.response().is_some()) {
            self.behind.get_or_insert(Behind { since, is_change });
        }
        if self.behind.is_some() && self.session.has_accepted_all() {
            let behind = self.behind.take().filter(|it| it.is_change);
            self.convergence = behind.map(|it| it.since.elapsed());
        }
    }
}

impl SharedSession {
    pub(crate) fn new(options: Options) -> SharedSession {
        let session = Session::new(options);
        let state = State { session, served: None, behind: None, convergence: None };
        let traffic = StreamTraffic::default();
        SharedSession { state: Mutex::new(state), begin: Instant::now(), traffic }
    }

    /// Takes in what happened, and returns what to do.
    pub(crate) fn step(&self, event: Event) -> Vec<Action> {
        let mut state = self.state();
        let actions = state.session.step(self.begin.elapsed(), event);
        state.follow(&actions, Instant::now(), false);
        actions
    }

    /// Takes in what its client is served from now on, since a time if that is known, and returns what
    /// to do.
    pub(crate) fn set_snapshot(
        &self,
        view: &Arc<View>,
        group: &Group,
        changed: Option<Instant>,
    ) -> Vec<Action> {
        let mut state = self.state();
        state.served = Some((Arc::clone(view), group.clone()));
        let event = Event::Snapshot(Arc::clone(&view.snapshot));
        let actions = state.session.step(self.begin.elapsed(), event);
        state.follow(&actions, changed.unwrap_or_else(Instant::now), true);
        actions
    }

    /// Takes the time that its client took to accept a change, if it just did.
    pub(crate) fn take_convergence(&self) -> Option<Duration> {
        self.state().convergence.take()
    }

    /// Returns how long its client has not accepted what it was sent; `None` if it has.
    pub(crate) fn time_behind(&self) -> Option<Duration> {
        self.state().behind.map(|it| it.since.elapsed())
    }

    /// Returns true if a response with this nonce was sent on its stream.
    pub(crate) fn has_sent(&self, nonce: &str) -> bool {
        self.state().session.has_sent(nonce)
    }

    /// Returns true if its client answered all that it was sent, and no change is half sent.
    pub(crate) fn is_settled(&self) -> bool {
        self.state().session.is_settled()
    }

    /// Returns the time until [`Event::Tick`] is due, if it will be.
    pub(crate) fn time_until_tick(&self) -> Option<Duration> {
        let deadline = self.state().session.deadline();
        deadline.map(|it| it.saturating_sub(self.begin.elapsed()))
    }

    /// Returns what its client has.
    pub(crate) fn client_state(&self) -> ClientState {
        let state = self.state();
        ClientState { types: state.session.status(), served: state.served.clone() }
    }

    /// Returns how far its client has come by now.
    pub(crate) fn initialisation(&self) -> Initialisation {
        self.state().session.initialisation(self.begin.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
