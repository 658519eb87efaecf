//! Dependencies of a tree: finds the protos of others on this disk, and brings those that are in
//! git repositories.
//!
//! A judging command reads only what `abide.toml` names with `[[dependency]]`, in a version that
//! the tree records, be it in `abide.lock` or in the file of another tool.

mod bazel_external;
mod buf_cache;
mod cargo_sources;
mod git_program;
mod go_modules;
mod machine;
mod node_modules;
mod package;
mod resolve;
mod site_packages;
mod vendored;
mod well_known;

pub use git_program::{FetchedFiles, GitError, fetch_files, resolve_commit};
pub use machine::Machine;
pub use package::{FoundPackage, TreePlace};
pub use resolve::{ResolvedDependency, list_packages, resolve_dependencies};
pub use vendored::{
    DEPENDENCY_FOLDER, VendoredFile, compute_content, is_licence, read_vendored, vendored_folder,
};
pub use well_known::{KnownRepository, find_module_repository, find_repository_of_import};
