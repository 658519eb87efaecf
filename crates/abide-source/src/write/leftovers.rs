//! Leftovers of a run if it ended now: temporary files, folders without a file, and changes
//! that are half made.
//!
//! They go when the run fails and when a signal ends it. Nothing can be done about what a killed
//! process leaves, except later.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::iterator::Signals;

/// A leftover that must not stay when the run ends.
pub(super) trait Leftover: Send + Sync {
    /// Clears it. The caller holds the lock of [`ALL`].
    fn clear(&self);
}

/// All that is left over, in the order in which it came.
pub(super) type Leftovers = Vec<Arc<dyn Leftover>>;

/// All leftovers of this process. Whoever makes some, or keeps it, holds the lock, so that a signal
/// finds either all of it or none.
static ALL: Mutex<Leftovers> = Mutex::new(Vec::new());

/// Holds off signals: what is done meanwhile is done as a whole.
pub(super) fn lock_leftovers() -> MutexGuard<'static, Leftovers> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes out what is kept, or what its owner clears.
pub(super) fn remove_leftover(all: &mut Leftovers, it: &Arc<dyn Leftover>) {
    all.retain(|other| !Arc::ptr_eq(other, it));
}

/// The list, once signals are handled.
pub(super) fn signal_safe() -> MutexGuard<'static, Leftovers> {
    #[cfg(unix)]
    {
        static HANDLED: Once = Once::new();
        HANDLED.call_once(handle_signals);
    }
    lock_leftovers()
}

/// From now on, leftovers go before a signal ends the process.
#[cfg(unix)]
fn handle_signals() {
    let ignored = ignore_signals();
    let ending = [SIGHUP, SIGINT, SIGTERM];
    let handled = ending.into_iter().filter(|it| ignored & (1 << (it - 1)) == 0);
    // Without it signals end the process as they always do.
    let Ok(mut signals) = Signals::new(handled) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // Never unlocked again: nobody makes more. A folder is listed before its files, and a
            // change before what it is made with.
            let all = lock_leftovers();
            all.iter().rev().for_each(|it| it.clear());
            // Whoever waits for this process sees which signal ended it.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The signals that the process was started to ignore, a bit for each, such as SIGHUP under
/// `nohup`. Only Linux says so without unsafe code.
#[cfg(unix)]
fn ignore_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or_default()
}
