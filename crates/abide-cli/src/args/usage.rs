//! The arguments of `abide usage`.

use clap::Args;

use super::common::TreeArgs;
use crate::render::{USES, UsesFormat, parse_format};

pub(super) const HELP: &str = "\
The code is read and not run. Generated files, hidden files and files that git ignores are left out. \
Names are found by imports, by what is declared and assigned, and by the members of messages, so a \
few uses may be missed, and of members that several messages have a few may be wrong.

The output of `--format jsonl` is a file for `files` of [usage] in abide.toml: findings then name the \
clients that use an element, `abide deprecations` lists them, and with `removal = \"unused\"` in \
[deprecation] what nobody uses may go.

Examples:
  abide usage ../billing                     where the code of a client uses elements
  abide usage ../billing --tree git:v1.4     elements of a release
  abide usage ../billing --client billing --release 2.1 --format jsonl --output uses/billing.jsonl";

/// Arguments of `abide usage`.
#[derive(Args, Debug)]
pub(crate) struct UsageArgs {
    /// Files and folders with code in Go, Java, Python and C++
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The tree: a folder, git:REV, a descriptor set or an archive [default: the configured tree]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) tree: Option<String>,
    /// Resolve imports in DIR; its files are linked, and their uses are not listed (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The name of the client that the code belongs to [default: each FILE as it is named]
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// The release of the client
    #[arg(long, value_name = "VERSION")]
    pub(crate) release: Option<String>,
    /// The last day on which the code runs [default: none, so it may run today]
    #[arg(long, value_name = "DATE", value_parser = super::common::parse_date)]
    pub(crate) last: Option<jiff::civil::Date>,
    /// The format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(USES))]
    pub(crate) format: &'static UsesFormat,
}

impl UsageArgs {
    /// The tree, as other commands name it.
    pub(crate) fn tree(&self) -> TreeArgs {
        TreeArgs { source: self.tree.clone(), import_path: self.import_path.clone() }
    }
}
