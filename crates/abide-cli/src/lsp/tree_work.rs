//! A tree that documents belong to, and the work on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use abide_editor::TreeAnalysis;
use lsp_types::Uri;

use super::project_root::{EditedTree, FileTimes, ReadFailure, TreeRoot};

/// Work that another thread has done.
pub(super) enum BackgroundResult {
    Read(TreeRoot, Box<Result<EditedTree, ReadFailure>>),
    /// The check of a whole tree as it was at some number of changes; nothing, if it was given up.
    Checked(TreeRoot, u64, Option<Box<TreeAnalysis>>),
}

/// A tree that documents belong to, and the work on it.
#[derive(Default)]
pub(super) struct TreeWork {
    pub(super) tree: Option<EditedTree>,
    /// The findings of the whole tree, while they are those of its files as they are.
    pub(super) whole: Option<Box<TreeAnalysis>>,
    /// The number of changes so far.
    pub(super) changes: Arc<AtomicU64>,
    pub(super) stamps: FileTimes,
    pub(super) is_reading: bool,
    /// True if it must be read again.
    pub(super) is_outdated: bool,
    /// True if its findings are out of date.
    pub(super) is_dirty: bool,
    pub(super) is_checking: bool,
    /// The time of the next check of the whole tree.
    pub(super) check_at: Option<Instant>,
    pub(super) troubles: Vec<String>,
    /// The file in which errors of abide.toml are shown.
    pub(super) config: Option<Uri>,
}

impl TreeWork {
    pub(super) fn mark_changed(&mut self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.whole = None;
        self.is_dirty = true;
    }
}
