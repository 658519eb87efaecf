//! The arguments of `abide edition`.

use abide_schema::Edition;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::common::TreeArgs;

pub(super) const HELP: &str = "\
Files in proto2, proto3 or an earlier edition become files of the edition that `--to` names, by \
edits that keep comments, order and layout. Where the edition has other defaults, features are \
overridden: for the file where most of its elements want it, else at the elements. Groups become \
messages, `required` and `packed` become features, `import weak` and `ctype` go from 2024 on.

Nothing changes by it, which is proven before anything is written: every feature in effect is the \
same, the semantic hashes are the same, and no surface breaks. What cannot be carried is named with \
the reason, its file stays as it is, and the exit status is 1. A second run changes nothing.

Examples:
  abide edition --to 2023 --diff
  abide edition proto/acme/user --to 2024 --write
  abide edition --to 2024 --check";

/// Arguments of `abide edition`.
#[derive(Args, Debug)]
pub(crate) struct EditionArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The edition
    #[arg(long, value_name = "EDITION", value_parser = parse_edition())]
    pub(crate) to: Edition,
    /// The handling of the edits.
    #[command(flatten)]
    pub(crate) target: EditionTarget,
}

/// Arguments that choose where the edits go.
#[derive(Args, Clone, Copy, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct EditionTarget {
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Edit the files
    #[arg(long)]
    pub(crate) write: bool,
    /// Print the files that are in an earlier edition; exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

fn parse_edition() -> impl TypedValueParser<Value = Edition> {
    let words = Edition::iter_known().filter(|it| it.is_edition()).map(Edition::word);
    PossibleValuesParser::new(words)
        .map(|word| Edition::from_word(&word).unwrap_or(Edition::NEWEST))
}
