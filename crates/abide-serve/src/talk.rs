//! The session of a stream, which its task steps and the admin port looks at.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::{Action, Event, Initialisation, Options, Session, TopicStatus};

/// The session of a stream, whose times count from its begin.
#[derive(Debug)]
pub(crate) struct Talk {
    session: Mutex<Session>,
    begin: Instant,
}

impl Talk {
    pub(crate) fn new(options: Options) -> Talk {
        Talk { session: Mutex::new(Session::new(options)), begin: Instant::now() }
    }

    /// Takes in what happened, and returns what to do.
    pub(crate) fn step(&self, event: Event) -> Vec<Action> {
        self.session().step(self.begin.elapsed(), event)
    }

    /// How long it is until [`Event::Tick`] is due, if it will be.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let deadline = self.session().deadline();
        deadline.map(|it| it.saturating_sub(self.begin.elapsed()))
    }

    /// What its client has, by type.
    pub(crate) fn status(&self) -> Vec<TopicStatus> {
        self.session().status()
    }

    /// How far its client has come by now.
    pub(crate) fn initialisation(&self) -> Initialisation {
        self.session().initialisation(self.begin.elapsed())
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
