//! What a run found.

use crate::bump_level::Bump;
use crate::finding::Finding;

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings, in the order of paths, places and rules.
    pub findings: Vec<Finding>,
    /// How many files were judged.
    pub files: usize,
    /// How many packages were judged.
    pub packages: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many findings are warnings.
    pub warnings: usize,
    /// How many findings are notes.
    pub notes: usize,
    /// How many findings a waiver took away. A break among them still counts for
    /// the bump.
    pub waived: usize,
    /// How many findings were accepted before.
    pub accepted: usize,
    /// The bump that the changes need, where there is a baseline: the highest of
    /// any package. A break is a major where it is refused; where a waiver, the
    /// policy or `abide.accepted` allows it, and in alphas and betas, a minor.
    pub required_bump: Option<Bump>,
    /// Whether it would be a major, but for a waiver or `abide.accepted`.
    pub waives_breaks: bool,
    /// What a waiver took away, with the severities that the policy gave it.
    pub spared: Vec<Finding>,
}
