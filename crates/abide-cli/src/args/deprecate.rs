//! The arguments of `abide deprecate`.

use clap::Args;

use super::common::{EditTarget, TreeArgs, parse_date};

pub(super) const HELP: &str = "\
ELEMENT is the full name of a message, field, extension, enum, enum value, service or method. It gets the option \
`deprecated` and a comment that says what to use instead. If the tree imports the annotations of \
Abide or of Envoy, these say so as well, and since when. Nothing is written if the tree would have \
errors then that it does not have now.

Examples:
  abide deprecate acme.user.v1.User.mail --replaced-by email --diff
  abide deprecate acme.user.v1.User.mail --replaced-by email --write
  abide deprecate acme.user.v1.User.mail --replaced-by email --date 2026-03-31 --write
  abide deprecate acme.user.v1.Legacy --dropped 'nobody calls it' --write
  abide deprecate acme.user.v1.Legacy --check            # is it deprecated?";

/// Arguments of `abide deprecate`.
#[derive(Args, Debug)]
pub(crate) struct DeprecateArgs {
    /// The full name of the element
    #[arg(value_name = "ELEMENT")]
    pub(crate) element: String,
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// What to use instead: a full name, or the name of a sibling
    #[arg(long, value_name = "NAME")]
    pub(crate) replaced_by: Option<String>,
    /// Why nothing replaces it: a sentence, or a part of one
    #[arg(long, value_name = "REASON", conflicts_with = "replaced_by")]
    pub(crate) dropped: Option<String>,
    /// The day of the deprecation, as YYYY-MM-DD [default: today, or the day of --as-of]
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub(crate) date: Option<jiff::civil::Date>,
    /// The handling of the edits.
    #[command(flatten)]
    pub(crate) target: EditTarget,
}
