//! The arguments of `abide config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{SelectArgs, parse_notation, parse_reader};
use super::instance_diff::{self, ConfigDiffArgs};
use super::translation::{DOWNGRADE, TranslationArgs, UPGRADE};
use crate::render::{
    REPORTS, ReportFormat, USABLE_DEPRECATIONS, UsableDeprecationFormat, parse_format,
};

pub(super) const HELP: &str = "\
Examples:
  abide config check envoy.yaml --api git:v1.41:api    will it load on that release?
  abide config upgrade envoy.yaml --api api --diff     what does the next major need?
  abide config diff old.yaml new.yaml --api api        what changed, and does it need a restart?
  abide help config check                              more about a command";

const CHECK: &str = "\
A document says its type in a comment `# proto-message: NAME` (YAML and text format) or with the \
key `@type`. Bootstraps, discovery responses and resources of Envoy are recognised by their keys. \
Other documents need `--type`.

YAML and JSON are read as the API's own reader does: with `--reader envoy`, plain words of YAML mean \
what YAML 1.1 says, only the first document of a file counts, and a value may be written in more \
ways. What only Envoy takes is a warning. That is the default for types of envoy, udpa and xds.

`--at` names a value inside of each document: keys, numbers of elements and `*`, with dots between \
them. If a text stands there, as in a ConfigMap of Kubernetes, it is read as YAML or JSON, and \
findings are at its lines.

Examples:
  abide config check envoy.yaml --api api                  against a tree
  abide config check envoy.yaml --api git:v1.41:api        against a revision
  abide config check envoy.yaml --api /usr/local/bin/envoy against the Envoy that will load it
  abide config check configmap.yaml --api api --at data.envoy.yaml
  abide config check envoy.yaml --release 1.40 --release 1.41   by several [api.NAME] at once
  abide config check envoy.yaml --api api --runtime /srv/runtime/current
  abide config check envoy.yaml --api api --disk-root image   with the layers on disk of an image
  abide config check                                       the [[instances]] of abide.toml
  abide config check fixtures --api proto --type acme.user.v1.User
  abide config check - --api api.binpb --type acme.user.v1.User --notation json";

const DEPRECATIONS: &str = "\
An element is a message, a field or an enum value. Readers warn of what is deprecated and refuse what \
is disallowed, unless the runtime key is set to true.

Examples:
  abide config deprecations --api git:v1.41:api
  abide config deprecations --api /usr/local/bin/envoy --format json";

/// Arguments of `abide config`.
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// The commands below `abide config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check configuration files and other values of messages against an API
    #[command(after_help = CHECK)]
    Check(ConfigCheckArgs),
    /// Translate configuration files to the next major version of their API
    #[command(after_help = UPGRADE)]
    Upgrade(TranslationArgs),
    /// Translate configuration files to the major version before
    #[command(after_help = DOWNGRADE)]
    Downgrade(TranslationArgs),
    /// List what an API has deprecated, with the runtime keys that allow it
    #[command(after_help = DEPRECATIONS)]
    Deprecations(ConfigDeprecationsArgs),
    /// Show what changed between two files, and what the change costs a server
    #[command(after_help = instance_diff::HELP)]
    Diff(ConfigDiffArgs),
}

/// Arguments of `abide config deprecations`.
#[derive(Args, Debug)]
pub(crate) struct ConfigDeprecationsArgs {
    /// The API, as of `abide config check` [default: the configured one]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) api: Option<String>,
    /// Resolve imports of the API in DIR (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(USABLE_DEPRECATIONS))]
    pub(crate) format: &'static UsableDeprecationFormat,
}

/// Arguments of `abide config check`.
#[derive(Args, Debug)]
pub(crate) struct ConfigCheckArgs {
    /// Files in YAML, JSON, text format or binary, and folders of them; - is standard input
    /// [default: the `[[instances]]` of abide.toml]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// The API: a folder, git:REV, a descriptor set, an archive or a program that has its
    /// descriptors compiled in [default: the only `[api.NAME]`, else the configured tree]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) api: Option<String>,
    /// Judge by `[api.NAME]` of abide.toml (repeatable: findings say which releases they are for)
    #[arg(long = "release", value_name = "NAME", conflicts_with = "api")]
    pub(crate) releases: Vec<String>,
    /// Put a layer of runtime on top: a file with its keys, or a folder as on disk (repeatable)
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) runtime: Vec<String>,
    /// Read the runtime layers that a bootstrap has on disk below DIR, a copy of that disk
    /// [default: where the bootstrap says]
    #[arg(long, value_name = "DIR")]
    pub(crate) disk_root: Option<PathBuf>,
    /// Fail if a runtime key decides about what is deprecated
    #[arg(long)]
    pub(crate) deny_overrides: bool,
    /// Warn about types of the major before the newest stable one, instead of refusing them
    #[arg(long)]
    pub(crate) allow_previous_major: bool,
    /// Resolve imports of the API in DIR, and types that nothing imports (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The message that each document is a value of
    #[arg(long = "type", value_name = "NAME")]
    pub(crate) ty: Option<String>,
    /// Where the instances stand in their documents, such as spec.config; a text there is read, too
    #[arg(long, value_name = "PATH")]
    pub(crate) at: Option<String>,
    /// The notation of all files [default: by their names]
    #[arg(long, value_name = "NOTATION", value_parser = parse_notation())]
    pub(crate) notation: Option<String>,
    /// Whose reading of YAML and JSON is meant [default: by the type]
    #[arg(long, value_name = "READER", value_parser = parse_reader())]
    pub(crate) reader: Option<String>,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(REPORTS))]
    pub(crate) format: &'static ReportFormat,
    /// The findings to show.
    #[command(flatten)]
    pub(crate) show: SelectArgs,
}
