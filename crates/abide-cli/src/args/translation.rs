//! The arguments of `abide config upgrade` and `abide config downgrade`.

use std::path::PathBuf;

use clap::Args;

use super::common::{parse_notation, parse_reader};
use crate::render::{TRANSLATIONS, TranslationFormat, parse_format};

pub(super) const UPGRADE: &str = "\
Types get the names that the mapping or the annotations of the newer version say, in \
google.protobuf.Any as well; fields and enum values keep their numbers. Steps say what becomes of \
the rest. In YAML and JSON, comments, order and layout stay as they are. What has no place in the \
newer version is reported, and nothing is written.

Examples:
  abide config upgrade envoy.yaml --api api --diff                show what would change
  abide config upgrade envoy.yaml --api api --out envoy-v3.yaml   write another file
  abide config upgrade conf --api api --write                     change the files themselves
  abide config upgrade conf --api proto --steps migrations --to v3 --check";

pub(super) const DOWNGRADE: &str = "\
The reverse of `abide config upgrade`, where the older version has a place for everything.

Examples:
  abide config downgrade envoy.yaml --api api --out envoy-v2.yaml
  abide config downgrade user.json --api proto --type acme.user.v2.User --to v1 --diff";

/// Arguments of `abide config upgrade` and `abide config downgrade`.
#[derive(Args, Debug)]
pub(crate) struct TranslationArgs {
    /// Files in YAML, JSON, text format or binary, and folders of them; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The API with both versions: a folder, git:REV, a descriptor set or an archive [default: the
    /// configured tree]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) api: Option<String>,
    /// Resolve imports of the API in DIR (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The version to go to, such as v3 [default: up to the newest stable one, down by one]
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: Option<String>,
    /// A mapping that `abide upgrade --mapping` wrote, as .json or .binpb
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Option<PathBuf>,
    /// Steps: a file, a folder of them, or `envoy-v2-to-v3`, which comes with abide (repeatable)
    /// [default: all that come with abide]
    #[arg(long, value_name = "STEPS")]
    pub(crate) steps: Vec<String>,
    /// The place of the new files.
    #[command(flatten)]
    pub(crate) target: TranslationTarget,
    /// Leave out what the other version has no place for: losses are warnings
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// The message that each document is a value of
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) ty: Option<String>,
    /// The notation of all files [default: by their names]
    #[arg(long, value_name = "NOTATION", value_parser = parse_notation())]
    pub(crate) notation: Option<String>,
    /// Whose reading of YAML and JSON is meant [default: by the type]
    #[arg(long, value_name = "READER", value_parser = parse_reader())]
    pub(crate) reader: Option<String>,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(TRANSLATIONS))]
    pub(crate) format: &'static TranslationFormat,
}

/// Arguments that choose where translated files go.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct TranslationTarget {
    /// Write to PATH: of one file, a file or - for standard output; of many, a folder
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Change the files themselves
    #[arg(long)]
    pub(crate) write: bool,
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Exit with status 1 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
}
