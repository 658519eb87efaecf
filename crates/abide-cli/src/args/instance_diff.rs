//! The arguments of `abide config diff`.

use clap::Args;

use super::common::parse_notation;
use crate::render::{DIFFS, DiffFormat, parse_format};

pub(super) const HELP: &str = "\
Compares values, not texts: comments, order of keys, notation and spelled-out defaults do not count. \
Elements of lists are paired by their names, or else by their places.

For bootstraps, discovery responses and resources of Envoy, each change has its cost: it changes \
nothing, takes effect live, warms a cluster, drains a filter chain or a listener, or needs a hot \
restart. For a part of a bootstrap that discovery services could send, the report also says what the \
change would cost then.

Examples:
  abide config diff old.yaml new.yaml --api api                  what changed, and its cost
  abide config diff old.yaml new.yaml --api git:v1.41:api --format markdown
  abide config diff old.txtpb new.txtpb --api proto --type acme.user.v1.User";

/// Arguments of `abide config diff`.
#[derive(Args, Debug)]
pub(crate) struct ConfigDiffArgs {
    /// The old file, in YAML, JSON, text format or binary; - is standard input
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The new file
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// The API: a folder, git:REV, a descriptor set or an archive [default: the configured tree]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) api: Option<String>,
    /// Resolve imports of the API in DIR (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The message that each document is a value of
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) ty: Option<String>,
    /// The notation of both files [default: by their names]
    #[arg(long, value_name = "NOTATION", value_parser = parse_notation())]
    pub(crate) notation: Option<String>,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(DIFFS))]
    pub(crate) format: &'static DiffFormat,
}
