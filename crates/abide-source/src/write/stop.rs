//! Points at which a test stops a writer: nobody meets one in the middle of its work by luck.
//!
//! Whatever changes a disk is a step, counted from 1. A run with `ABIDE_STOP_BEFORE=N` in its
//! environment says on standard error what its Nth step is, and waits for the end of its standard
//! input before it. So a test learns by an event that the run is there, and does what it is about:
//! a signal, an end, a look at what others see meanwhile.
//!
//! A build without debug assertions, as every release is, never asks for the variable: the compiler
//! leaves all of this out.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

/// Takes note that a step comes next, which `step` says as a clause. Nobody calls this who holds a
/// lock: whatever comes meanwhile finds the run as it is between two steps.
pub(super) fn stop_before(step: &str) {
    if cfg!(debug_assertions) && is_asked_for() {
        let _ = writeln!(io::stderr(), "stopped before {step}");
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
    }
}

/// Returns true if the next step is the one to stop before.
fn is_asked_for() -> bool {
    static STEPS: AtomicU32 = AtomicU32::new(0);
    let number = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    std::env::var("ABIDE_STOP_BEFORE").is_ok_and(|it| it == number.to_string())
}
