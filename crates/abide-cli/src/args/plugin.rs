//! The arguments of `abide plugin`.

use clap::{Args, Subcommand};

pub(super) const HELP: &str = "\
buf starts its plugins by any command. In buf.yaml:

  plugins:
    - plugin: [abide, plugin, buf]
      options:
        preset: standard

`buf lint` and `buf breaking` then also report what abide finds. By default they run the rules that \
are errors in the preset `standard`; `use` and `except` choose others, by ids such as \
ABIDE_FIELD_REMOVED or by categories such as ABIDE_LAYOUT and ABIDE_ENVOY. The options are `preset`, \
`config` (the path of an abide.toml) and `as_of`.

protoc finds its plugins on the PATH, as programs named protoc-gen-NAME: protoc-gen-abide is installed \
beside abide, and a link of that name to abide does the same. What it reports fails the run of protoc:

  protoc --abide_out=. --abide_opt=against=old.binpb,preset=standard acme/user/v1/user.proto

Its options are `against` (the old tree, such as a descriptor set), `preset`, `config`, `as_of`, `report` \
(a file to write the report to), `format` (of that file) and `fail` (`error`, or `never`). It reads the \
files that these name, and no others.

Examples:
  abide plugin buf --spec --format json  what a host such as buf can ask for
  abide plugin protoc < request.binpb    answer a request of protoc

Exit status: 0 if abide answers, with findings or without; 2 if it cannot.";

/// A plugin, and what the other tool passes to it.
#[derive(Args, Debug)]
pub(crate) struct PluginArgs {
    /// The tool that starts abide.
    #[command(subcommand)]
    pub(crate) tool: PluginTool,
}

/// A tool that starts abide.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginTool {
    /// Answer buf, as one of its check plugins
    Buf(ToolArgs),
    /// Answer protoc, as one of its code generators
    Protoc(ToolArgs),
}

/// Arguments that another tool passes to its plugin.
#[derive(Args, Debug)]
pub(crate) struct ToolArgs {
    /// Arguments of the other tool
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
}
