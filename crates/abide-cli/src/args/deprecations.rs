//! The arguments of `abide deprecations`.

use clap::Args;

use super::common::TreeArgs;
use crate::render::{DEPRECATIONS, DeprecationFormat, parse_format};

pub(super) const HELP: &str = "\
For each deprecated element, the list shows since when it is deprecated, what replaces it, and when \
clients warn about it, refuse it and remove it. [calendar] sets these days. The file has the same \
list with dates only, so it does not change from one day to the next. `file` in [deprecation] names another file. \
If the file has the two comments that --write puts around the list, only what is between them is \
replaced.

Examples:
  abide deprecations                       what is deprecated, with its phase today
  abide deprecations --as-of 2027-06-30    its phase on another day
  abide deprecations --write               write DEPRECATED.md
  abide deprecations --check               for CI: fail if DEPRECATED.md is out of date
  abide deprecations git:v1.4 --format json";

/// Arguments of `abide deprecations`.
#[derive(Args, Debug)]
pub(crate) struct DeprecationsArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The handling of the file.
    #[command(flatten)]
    pub(crate) action: DeprecationsAction,
    /// With --write: replace a file that abide did not write
    #[arg(long, requires = "write")]
    pub(crate) overwrite: bool,
    /// The format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(DEPRECATIONS))]
    #[arg(conflicts_with_all = ["write", "check", "diff"])]
    pub(crate) format: &'static DeprecationFormat,
}

/// Arguments that choose what `abide deprecations` does instead of its report.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
pub(crate) struct DeprecationsAction {
    /// Write the list to DEPRECATED.md
    #[arg(long)]
    pub(crate) write: bool,
    /// Exit with status 1 if DEPRECATED.md is out of date
    #[arg(long)]
    pub(crate) check: bool,
    /// Print what --write would write, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
}
