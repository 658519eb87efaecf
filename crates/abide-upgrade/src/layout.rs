//! The canonical layout of proto files.

mod canonical;
mod lines;

pub use canonical::format_canonically;
pub(crate) use lines::{MAX_LINE_WIDTH, has_windows_line_ends, to_windows_line_ends};
