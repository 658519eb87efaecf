//! A line on the terminal that says what takes so long.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shown on a terminal only, and only when work takes long enough to wonder.
pub struct Progress {
    bar: ProgressBar,
}

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

impl Progress {
    /// A line on standard error, where that is a terminal and `quiet` is not set.
    pub fn new(quiet: bool) -> Progress {
        if quiet || !std::io::stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden() };
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
        Progress { bar }
    }

    /// Says what is being done.
    pub fn step(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Takes the line away, before anything else is written.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
