//! A line on the terminal that says what takes so long.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shown on a terminal only, and only when work takes long enough to wonder.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What was begun, and when.
    steps: Mutex<Vec<(String, Instant)>>,
}

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

impl Progress {
    /// A line on standard error, where that is a terminal and `quiet` is not set.
    pub(crate) fn new(quiet: bool) -> Progress {
        if quiet || !std::io::stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden(), steps: Mutex::default() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let shown = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress { bar, steps: Mutex::default() }
    }

    /// Says what is being done.
    pub(crate) fn step(&self, what: impl Into<String>) {
        let what = what.into();
        self.bar.set_message(what.clone());
        self.begin(what);
    }

    /// Says how far the step at hand is.
    pub(crate) fn tell(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    fn begin(&self, what: String) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push((what, Instant::now()));
    }

    /// How long each step took, a phrase each.
    pub(crate) fn timings(&self) -> Vec<String> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let took = |pair: &[(String, Instant)]| {
            let time = pair[1].1.duration_since(pair[0].1);
            format!("{} took {:.1} ms", pair[0].0, time.as_secs_f64() * 1000.0)
        };
        steps.windows(2).map(took).collect()
    }

    /// Takes the line away, before anything else is written.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        self.begin(String::new());
    }
}
