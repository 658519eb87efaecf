//! The policy of another tool, in the words of `abide.toml`.

use abide_lint::Preset;

/// What another tool was told.
pub(super) struct Policy {
    pub(super) preset: Preset,
    /// The file that it comes from.
    pub(super) of: &'static str,
    /// The tables of `abide.toml`.
    pub(super) tables: String,
    /// What was dropped, and what to do.
    pub(super) notes: Vec<String>,
}
