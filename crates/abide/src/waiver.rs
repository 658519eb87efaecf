//! Reasoned exceptions, in comments and in `abide.toml`.

use crate::finding::Finding;
use crate::rule::Context;

/// What waivers did to the findings of a run.
pub(crate) struct Waived {
    /// How many findings they took away.
    pub(crate) count: usize,
    /// What is wrong with the waivers themselves.
    pub(crate) findings: Vec<Finding>,
}

/// Takes away the findings that a waiver covers.
pub(crate) fn apply(_context: &Context<'_>, _findings: &mut Vec<Finding>) -> Waived {
    Waived { count: 0, findings: Vec::new() }
}
