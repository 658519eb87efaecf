//! How a test waits: for what a process says or does, however long that takes, and never for a time.
#![allow(dead_code, unreachable_pub, reason = "each test program needs a part of it")]

use std::io::BufRead;
use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything takes on the busiest machine: what takes longer hangs.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// How soon a look is taken again at what nobody tells of.
const SOON: Duration = Duration::from_millis(5);

/// The lines that a process says.
#[derive(Default)]
pub(crate) struct Log {
    said: Mutex<Said>,
    grew: Condvar,
}

#[derive(Default)]
struct Said {
    text: String,
    /// Whether nothing more will come.
    is_all: bool,
}

impl Log {
    /// Keeps what comes on a thread of its own: somebody has to read it.
    pub(crate) fn of(lines: impl BufRead + Send + 'static) -> Arc<Log> {
        let log = Arc::new(Log::default());
        let keeper = Arc::clone(&log);
        std::thread::spawn(move || {
            lines.lines().map_while(Result::ok).for_each(|line| keeper.add(&line));
            keeper.said().is_all = true;
            keeper.grew.notify_all();
        });
        log
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().expect("nobody panics who holds it")
    }

    pub(crate) fn add(&self, line: &str) {
        let mut said = self.said();
        said.text.push_str(line);
        said.text.push('\n');
        self.grew.notify_all();
    }

    pub(crate) fn text(&self) -> String {
        self.said().text.clone()
    }

    /// Waits for a line; `None` if the process ends without it.
    pub(crate) fn line_or_end(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        let found = |said: &Said| said.text.lines().find(|it| is_it(it)).map(str::to_owned);
        let goes_on = |said: &mut Said| !said.is_all && found(said).is_none();
        let (said, waited) = self
            .grew
            .wait_timeout_while(self.said(), LONG, goes_on)
            .expect("nobody panics who holds it");
        assert!(!waited.timed_out(), "it hangs, and said before: {}", said.text);
        found(&said)
    }

    /// Waits for a line.
    pub(crate) fn line(&self, is_it: impl Fn(&str) -> bool) -> String {
        let line = self.line_or_end(is_it);
        line.unwrap_or_else(|| panic!("it never said it, but: {}", self.text()))
    }

    /// Waits for the end of what it says, and returns all of it.
    pub(crate) fn whole(&self) -> String {
        self.line_or_end(|_| false);
        self.text()
    }

    /// Looks for something until it is there: again at once when a line is said, and soon in any
    /// case, for not everything is said.
    pub(crate) fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let begin = Instant::now();
        while begin.elapsed() < LONG {
            let before = self.said().text.len();
            if let Some(found) = look() {
                return Some(found);
            }
            let is_same = |said: &mut Said| said.text.len() == before;
            let waited = self.grew.wait_timeout_while(self.said(), SOON, is_same);
            drop(waited.expect("nobody panics who holds it"));
        }
        None
    }
}

/// Waits for something that comes without a word.
pub(crate) fn wait<T>(look: impl FnMut() -> Option<T>) -> T {
    Log::default().until(look).expect("it never came")
}

/// Waits for a process, or for what it writes until its end. One that hangs is killed.
pub(crate) fn unless_it_hangs<T>(child: &mut Child, wait: impl FnOnce(&mut Child) -> T) -> T {
    let pid = Pid::from_child(child);
    let (came, is_over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_over.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        let found = wait(child);
        drop(came);
        found
    })
}
