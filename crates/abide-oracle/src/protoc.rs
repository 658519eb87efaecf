//! Trees, verdicts and hashes beside protoc.

pub(crate) mod diff;
pub(crate) mod editions;
pub(crate) mod hash;
pub(crate) mod sets;
pub(crate) mod verdicts;
pub(crate) mod wire;
