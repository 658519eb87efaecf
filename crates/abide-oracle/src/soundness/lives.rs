//! Lives of clients of `abide-xds`, in virtual time: the tests of that crate say what they do.

use std::panic::catch_unwind;

use abide_harness::Result;

use crate::laws::report;
use crate::run_in_parallel;
use crate::sequences::lives::live;

/// Plays this many lives, each in both variants of the protocol; true if no client lost anything.
pub(crate) fn try_lives(count: u64, seed: u64) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let failures = run_in_parallel(count, |id| {
        let life = seed.wrapping_mul(1 << 32) ^ (id / 2);
        let ended = catch_unwind(|| live(life, id % 2 == 0));
        ended.err().map(|why| match why.downcast::<String>() {
            Ok(why) => *why,
            Err(_) => format!("life {life} panicked"),
        })
    })?;
    Ok(report("lives", seed, count, "lives of clients among servers", &failures))
}
