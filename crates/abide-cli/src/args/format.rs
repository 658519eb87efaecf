//! The arguments of `abide format`.

use std::path::PathBuf;

use clap::Args;

pub(super) const HELP: &str = "\
The layout is that of `buf format`: imports and options sorted, one statement a line, two spaces a
step. No token and no comment is lost, and a file that is formatted stays as it is. Files that
`abide upgrade` wrote are left out: they have the layout that the upgrade gives them.

Examples:
  abide format --write               format the tree that abide.toml names
  abide format proto --diff          show what would change, as a patch
  abide format --check               for CI: name the files that are not formatted
  abide format --write a.proto b     format a file and a folder
  abide format --stdin-filepath a.proto <a.proto
                                     for editors: from standard input to standard output";

/// Arguments of `abide format`.
#[derive(Args, Debug)]
pub(crate) struct FormatArgs {
    /// What to format: folders and files, or git:REV or an archive to check [default: the
    /// configured tree]
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Leave out files in DIR, which only holds imports (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The handling of the files.
    #[command(flatten)]
    pub(crate) target: FormatTarget,
}

/// Arguments that choose where formatted texts go.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct FormatTarget {
    /// Write the files in their layout
    #[arg(long)]
    pub(crate) write: bool,
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print the files that are not formatted; exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Format standard input and print the result; errors name PATH, which is not read
    #[arg(long, value_name = "PATH", conflicts_with = "sources")]
    pub(crate) stdin_filepath: Option<PathBuf>,
}
