//! The arguments of `abide runtime`.

use clap::{Args, Subcommand};

use super::common::parse_notation;
use crate::render::{RUNTIMES, RuntimeFormat, parse_format};

pub(super) const HELP: &str = "\
Examples:
  abide runtime show envoy.yaml     which value each runtime key has, and from which layer
  abide help runtime show           more about a command";

const SHOW: &str = "\
Reads the layers that `layered_runtime` of a bootstrap declares, or the older `runtime`. Static layers \
are in the bootstrap itself. Layers on disk are read where they say. Layers by RTDS and the admin \
layer are empty, because their values come while a server runs.

A key has the value of the last layer that has the key. A value that is not of the type which a \
reader asks for counts as not set: `type` is what it is for readers.

Examples:
  abide runtime show envoy.yaml                                  every key
  abide runtime show envoy.yaml --key health_check.min_interval  one key, layer by layer
  abide runtime show envoy.yaml --service-cluster edge           as a server of that cluster
  abide runtime show envoy.yaml --format json                    for programs
  abide runtime show old.yaml --api git:v1.11:api                with the bootstrap of an API";

/// Arguments of `abide runtime`.
#[derive(Args, Debug)]
pub(crate) struct RuntimeArgs {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: RuntimeCommand,
}

/// The commands below `abide runtime`.
#[derive(Debug, Subcommand)]
pub(crate) enum RuntimeCommand {
    /// Show the value of each runtime key, and the layer that it is from
    #[command(after_help = SHOW)]
    Show(RuntimeShowArgs),
}

/// Arguments of `abide runtime show`.
#[derive(Args, Debug)]
pub(crate) struct RuntimeShowArgs {
    /// The bootstrap in YAML, JSON, text format or binary; - is standard input
    #[arg(value_name = "BOOTSTRAP")]
    pub(crate) bootstrap: String,
    /// The API with the type of the bootstrap: a folder, git:REV, a descriptor set or an archive
    /// [default: what Envoy's bootstraps say about runtime, which is built in]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) api: Option<String>,
    /// Resolve imports of the API in DIR (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR", requires = "api")]
    pub(crate) import_path: Vec<String>,
    /// The service cluster, which ends the path of layers with `append_service_cluster` [default:
    /// `node.cluster` of the bootstrap]
    #[arg(long, value_name = "NAME")]
    pub(crate) service_cluster: Option<String>,
    /// The service node, as Envoy takes it; no layer depends on it
    #[arg(long, value_name = "NAME")]
    pub(crate) service_node: Option<String>,
    /// Show only this key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The notation of the bootstrap [default: by its name]
    #[arg(long, value_name = "NOTATION", value_parser = parse_notation())]
    pub(crate) notation: Option<String>,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(RUNTIMES))]
    pub(crate) format: &'static RuntimeFormat,
}
