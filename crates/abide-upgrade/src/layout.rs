//! The canonical layout of proto files.

mod canonical;
mod lines;

pub use canonical::canonical_layout;
pub(crate) use lines::{WIDTH, is_windows, windows};
