//! Releases candidates as stable versions.

mod build_file;
mod release_candidates;

pub use build_file::{BUILD_MARK, BuildFile, build_files, build_version_file};
pub use release_candidates::{PromotedPackage, ReleaseResult, release};
