//! The old trees that a finding is about, where a run compares with several.

/// An old tree that an element breaks, of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBaseline {
    /// The source that names the old tree.
    pub name: String,
    /// The fingerprint of the finding that this old tree alone gives.
    pub fingerprint: String,
}
