//! The annotations that carry policy, read from custom options.

/// The extensions of this tree that have a meaning to policy.
#[derive(Debug, Default)]
pub(crate) struct Known {}
