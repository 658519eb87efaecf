//! The policy of another tool, in the words of `abide.toml`.

use abide_lint::Preset;

/// The settings of another tool.
pub(super) struct ForeignPolicy {
    pub(super) preset: Preset,
    /// The file that it comes from.
    pub(super) of: &'static str,
    /// The tables of `abide.toml`.
    pub(super) tables: String,
    /// Notes about dropped settings, and what to do.
    pub(super) notes: Vec<String>,
}
