//! Ages, freezes, deprecations and removals.
