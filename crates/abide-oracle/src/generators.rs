//! The model of generated code beside the real generators.

pub(crate) mod gapic;
pub(crate) mod symbols;
