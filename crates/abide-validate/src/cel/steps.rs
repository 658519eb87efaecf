//! The bound on the work of an evaluation.

use std::cell::Cell;

/// The most steps of one evaluation: comprehensions inside of each other multiply.
pub(super) const MAX_STEPS: usize = 1_000_000;

/// The work that may still be done.
pub(super) struct StepBudget(Cell<usize>);

impl StepBudget {
    pub(super) fn new(steps: usize) -> StepBudget {
        StepBudget(Cell::new(steps))
    }

    /// Takes so many steps.
    pub(super) fn take(&self, count: usize) -> Result<(), String> {
        let Some(left) = self.0.get().checked_sub(count) else {
            self.0.set(0);
            return Err("it takes too long to evaluate".to_owned());
        };
        self.0.set(left);
        Ok(())
    }

    /// Returns how many steps may still be taken.
    pub(super) fn left(&self) -> usize {
        self.0.get()
    }
}
