//! Pairs of trees, as both tools judge them.

use std::path::PathBuf;

use serde_json::Value;

/// The results for a pair.
pub(super) struct Judged {
    pub(super) name: String,
    /// The sets of descriptors of the old and the new tree.
    pub(super) sets: [PathBuf; 2],
    /// The findings of Abide about changes, as JSON.
    pub(super) findings: Vec<Value>,
    /// What buf reports, or why it refuses the pair.
    pub(super) theirs: std::result::Result<Vec<BufReport>, String>,
}

/// One report of a rule of buf.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct BufReport {
    pub(super) rule: String,
    pub(super) path: String,
    /// The file in the old tree, if Abide reports it.
    pub(super) old_path: String,
    /// Line and column, from 1.
    pub(super) start: (u64, u64),
    pub(super) said: String,
}
