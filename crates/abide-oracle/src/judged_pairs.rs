//! Pairs of trees, as both tools judge them.

use std::path::PathBuf;

use serde_json::Value;

/// The results for a pair.
pub(crate) struct JudgedPair {
    pub(crate) name: String,
    /// The sets of descriptors of the old and the new tree.
    pub(crate) sets: [PathBuf; 2],
    /// The findings of Abide about changes, as JSON.
    pub(crate) findings: Vec<Value>,
    /// What buf reports, or why it refuses the pair.
    pub(crate) theirs: std::result::Result<Vec<BufReport>, String>,
}

/// One report of a rule of buf.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BufReport {
    pub(crate) rule: String,
    pub(crate) path: String,
    /// The file in the old tree, if Abide reports it.
    pub(crate) old_path: String,
    /// Line and column, from 1.
    pub(crate) start: (u64, u64),
    pub(crate) said: String,
}
