//! The arguments of `abide deps`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::render::{DEPENDENCY_LISTS, DependencyListFormat, parse_format};

pub(super) const HELP: &str = "\
Imports come from the tree, from `import-paths`, and from what `[[dependency]]` in abide.toml names: \
git repositories, modules of buf, Go modules, crates, distributions of Python, packages of npm and \
repositories of Bazel. `abide init` finds those that are on this disk and writes them down.

Only `vendor` and `update` use the network, through the `git` program. They write protos and licences \
to `.abide/deps`, or to the folder that `dependency-folder` names, and record commit and content in \
abide.lock. An interrupted run leaves what was there.

Examples:
  abide deps                      Where every import comes from
  abide deps vendor               Bring what is missing, at the recorded commits
  abide deps update googleapis    Bring the newest commit of its revision
  abide deps check                Exit with status 1 if anything is missing or was edited";

/// Arguments of `abide deps`.
#[derive(Args, Debug)]
pub(crate) struct DepsArgs {
    /// The action [default: list].
    #[command(subcommand)]
    pub(crate) command: Option<DepsCommand>,
}

/// The actions on dependencies.
#[derive(Debug, Subcommand)]
pub(crate) enum DepsCommand {
    /// List where each import comes from, in which version, and what is missing
    #[command(after_help = "Examples:\n  abide deps list\n  abide deps list --format json")]
    List {
        /// The format of the list
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        #[arg(value_parser = parse_format(DEPENDENCY_LISTS))]
        format: &'static DependencyListFormat,
    },
    /// Bring dependencies with git, at the commits that abide.lock records, and the well-known
    /// repositories that imports are missing from
    #[command(
        after_help = "Examples:\n  abide deps vendor\n  abide deps vendor --into third_party"
    )]
    Vendor {
        /// Bring only these [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Keep dependencies in DIR from now on, below the folder of abide.toml [default: the
        /// folder that `dependency-folder` names, else .abide/deps]
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Bring the newest commits of their revisions, and record them in abide.lock
    #[command(after_help = "Examples:\n  abide deps update\n  abide deps update googleapis")]
    Update {
        /// Update only these [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Exit with status 1 if a dependency is missing, was edited, or is not what abide.toml asks for
    #[command(after_help = "Examples:\n  abide deps check")]
    Check,
}
