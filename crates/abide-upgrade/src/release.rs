//! Releases candidates as stable versions.

mod build_file;
mod release_candidates;

pub use build_file::{BUILD_MARK, BuildFile, build_files, version_build_file};
pub use release_candidates::{Release, Risen, release};
