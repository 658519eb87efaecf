//! The session of a stream, which its task steps and the admin port looks at.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::{Action, Event, Initialisation, Options, Session, TopicStatus, View};

use crate::resources::Group;

/// The session of a stream, whose times count from its begin. What its client has is asked when
/// somebody looks.
#[derive(Debug)]
pub(crate) struct Talk {
    state: Mutex<State>,
    begin: Instant,
}

#[derive(Debug)]
struct State {
    session: Session,
    served: Option<(Arc<View>, Group)>,
}

/// What a client has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Has {
    /// Of each type.
    pub(crate) types: Vec<TopicStatus>,
    /// What it is served, with what that lacks, and whom it is served like; `None` before it is
    /// served anything.
    pub(crate) served: Option<(Arc<View>, Group)>,
}

impl Talk {
    pub(crate) fn new(options: Options) -> Talk {
        let state = State { session: Session::new(options), served: None };
        Talk { state: Mutex::new(state), begin: Instant::now() }
    }

    /// Takes in what happened, and returns what to do.
    pub(crate) fn step(&self, event: Event) -> Vec<Action> {
        self.state().session.step(self.begin.elapsed(), event)
    }

    /// Takes in what its client is served from now on, and returns what to do.
    pub(crate) fn serve(&self, view: &Arc<View>, group: &Group) -> Vec<Action> {
        let mut state = self.state();
        state.served = Some((Arc::clone(view), group.clone()));
        state.session.step(self.begin.elapsed(), Event::Snapshot(Arc::clone(&view.snapshot)))
    }

    /// How long it is until [`Event::Tick`] is due, if it will be.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let deadline = self.state().session.deadline();
        deadline.map(|it| it.saturating_sub(self.begin.elapsed()))
    }

    /// What its client has.
    pub(crate) fn has(&self) -> Has {
        let state = self.state();
        Has { types: state.session.status(), served: state.served.clone() }
    }

    /// How far its client has come by now.
    pub(crate) fn initialisation(&self) -> Initialisation {
        self.state().session.initialisation(self.begin.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
