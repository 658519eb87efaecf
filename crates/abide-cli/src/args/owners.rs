//! The arguments of `abide owners`.

use clap::Args;

use super::common::TreeArgs;
use crate::render::{OWNER_LISTS, OwnersFormat, parse_format};

pub(super) const HELP: &str = "\
The owners are those of .github/CODEOWNERS, CODEOWNERS, docs/CODEOWNERS or .gitlab/CODEOWNERS, the \
first that exists at the top of the repository. The rules of GitHub apply: the last pattern that \
matches a file decides. The rules of GitLab apply in .gitlab and to a file with sections.

Examples:
  abide owners                              the owners of every package
  abide owners --against git:main...        of the packages that changed since main
  abide owners --check                      for CI: fail if a package has no owner
  abide owners --against git:main... --format markdown";

/// Arguments of `abide owners`.
#[derive(Args, Debug)]
pub(crate) struct OwnersArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// Only the packages with a file that differs from this old tree
    #[arg(long, value_name = "SOURCE")]
    pub(crate) against: Option<String>,
    /// Exit with status 1 if a file of a package has no owner
    #[arg(long)]
    pub(crate) check: bool,
    /// The format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(OWNER_LISTS))]
    pub(crate) format: &'static OwnersFormat,
}
