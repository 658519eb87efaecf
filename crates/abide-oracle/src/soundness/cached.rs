//! Runs that may use a kept report, compared with runs that keep nothing, over more changes than the
//! tests have time for.

use std::path::Path;

use abide_harness::Result;
use abide_harness::programs;

use self::changing::Changing;
use super::laws::report;
use super::run_in_parallel;

#[path = "../../../abide-cli/tests/cached/mod.rs"]
mod changing;

/// The number of changes of one repository.
const STEPS: u64 = 50;

/// Changes repositories this many times; true if every run says what one says that keeps nothing.
pub(crate) fn try_cached(count: u64, seed: u64, abide: Option<&Path>) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let abide = programs::abide(abide)?;
    let failures = run_in_parallel(count.div_ceil(STEPS), |id| {
        let folder = tempfile::tempdir().ok()?;
        let mut repository = Changing::new(&abide, folder.path(), seed ^ id.rotate_left(32));
        let steps = STEPS.min(count - id * STEPS);
        let difference = (0..steps).find_map(|_| repository.step())?;
        Some(format!("repository {id}: {difference}"))
    })?;
    Ok(report("cached", seed, count, "changes under a kept report", &failures))
}
