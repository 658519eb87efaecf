//! The arguments of `abide waive`.

use clap::Args;

use super::common::{CompareArgs, EditTarget, parse_date};

pub(super) const HELP: &str = "\
Runs what `abide check` runs, and waives one of its findings with a reason: as a comment above the \
statement that the finding is in, which names the change, so that the next change is found again. \
Where no comment can stand, as in generated files, it becomes a [[waiver]] of abide.toml. \
`abide explain waivers` says more.

FINDING is a fingerprint, as `abide check -v` shows it, or a rule. If the rule reports several \
times, AT says which finding is meant: the element, FILE, or FILE:LINE.

Examples:
  abide waive field-type-changed --reason 'agreed with all users' --diff
  abide waive field-removed acme.user.v1.User.mail --reason 'nobody ever set it' --write
  abide waive field-removed user.proto:7 --reason 'see #123' --until 2027-06-30 --write
  abide waive 9f86d081884c7d65 --against git:main --reason 'a typo' --write";

/// Arguments of `abide waive`.
#[derive(Args, Debug)]
pub(crate) struct WaiveArgs {
    /// The finding: its fingerprint, or its rule
    #[arg(value_name = "FINDING")]
    pub(crate) finding: String,
    /// The element, FILE or FILE:LINE, if the rule reports at several
    #[arg(value_name = "AT")]
    pub(crate) at: Option<String>,
    /// Why the finding may stay: one line
    #[arg(long, value_name = "REASON")]
    pub(crate) reason: String,
    /// The last day of the waiver: later it is an error
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub(crate) until: Option<jiff::civil::Date>,
    /// Resolve imports in DIR; its files are linked but not checked (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The old trees.
    #[command(flatten)]
    pub(crate) compare: CompareArgs,
    /// The handling of the edit.
    #[command(flatten)]
    pub(crate) target: EditTarget,
}
