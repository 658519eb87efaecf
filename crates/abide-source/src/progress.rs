//! A progress line on the terminal.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress line: shown only on a terminal, and only when the work takes a while.
pub struct Progress {
    bar: ProgressBar,
    /// Each step with the time it began.
    steps: Mutex<Vec<(String, Instant)>>,
}

/// Work that finishes sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

impl Progress {
    /// Draws on standard error if that is a terminal and `quiet` is not set.
    pub fn new(quiet: bool) -> Progress {
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

    /// Begins a step and shows its name.
    pub fn begin_step(&self, what: impl Into<String>) {
        let what = what.into();
        self.bar.set_message(what.clone());
        self.begin(what);
    }

    /// Shows how far the current step is.
    pub fn report(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    fn begin(&self, what: String) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push((what, Instant::now()));
    }

    /// Formats the time of each step, one phrase per step.
    pub fn format_timings(&self) -> Vec<String> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let took = |pair: &[(String, Instant)]| {
            let time = pair[1].1.duration_since(pair[0].1);
            format!("{} took {:.1} ms", pair[0].0, time.as_secs_f64() * 1000.0)
        };
        steps.windows(2).map(took).collect()
    }

    /// Removes the line before anything else is written.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
        self.begin(String::new());
    }
}
