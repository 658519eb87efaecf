//! The session of a stream, which its task steps and the admin port looks at.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::{Action, Event, Initialisation, Options, Session, TypeStatus, View};

use crate::resources::Group;

/// The session of a stream, whose times count from its begin. What its client has is asked when
/// somebody looks.
#[derive(Debug)]
pub(crate) struct SharedSession {
    state: Mutex<State>,
    begin: Instant,
}

#[derive(Debug)]
struct State {
    session: Session,
    served: Option<(Arc<View>, Group)>,
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

impl SharedSession {
    pub(crate) fn new(options: Options) -> SharedSession {
        let state = State { session: Session::new(options), served: None };
        SharedSession { state: Mutex::new(state), begin: Instant::now() }
    }

    /// Takes in what happened, and returns what to do.
    pub(crate) fn step(&self, event: Event) -> Vec<Action> {
        self.state().session.step(self.begin.elapsed(), event)
    }

    /// Takes in what its client is served from now on, and returns what to do.
    pub(crate) fn set_snapshot(&self, view: &Arc<View>, group: &Group) -> Vec<Action> {
        let mut state = self.state();
        state.served = Some((Arc::clone(view), group.clone()));
        state.session.step(self.begin.elapsed(), Event::Snapshot(Arc::clone(&view.snapshot)))
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
