//! The arguments of `abide drift`.

use clap::Args;

use super::common::{ExtraReport, JudgeArgs, SelectArgs, TreeArgs, parse_extra_report};
use crate::render::{REPORTS, ReportFormat, parse_format};

pub(super) const HELP: &str = "\
Compares what runs with the tree: what would break if the tree were deployed now, what clients of the \
server would lose, and for each difference who is behind. The exit status is 1 if the deployment would \
break somebody.

A server shows the files of its services, and no others. Services of packages that the tree does not \
have, and packages that the server does not show, are named and not compared; neither are comments and \
options that stay in the source. Who is behind is read from the history in git: if the tree was once \
as the server is, the server is behind. Without a history, whoever lacks an element is behind.

TARGET is any SOURCE. A descriptor set counts as what a server says of itself.

Examples:
  abide drift grpc://localhost:50051               a server, and the tree of abide.toml
  abide drift grpcs://api.example.com:443 proto    over TLS, and the tree in proto
  abide drift api.binpb                            what `abide-remote reflect -o api.binpb` saved
  abide drift git:v1.4                             a release
  abide drift grpc://old:50051 grpc://new:50051    two servers
  abide drift grpc://localhost:50051 --format json

`abide-remote` asks servers, from the PATH: `abide` itself never uses the network. \
`abide-remote reflect --help` lists the environment variables that both obey, such as \
ABIDE_REMOTE_CA and ABIDE_REMOTE_HEADERS.";

/// Arguments of `abide drift`.
#[derive(Args, Debug)]
pub(crate) struct DriftArgs {
    /// What runs: grpc://HOST:PORT, grpcs://HOST:PORT, or any other SOURCE
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(REPORTS))]
    pub(crate) format: &'static ReportFormat,
    /// Also write the report to FILE in another format, such as sarif=drift.sarif (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_extra_report)]
    pub(crate) report: Vec<ExtraReport>,
    /// The findings to show.
    #[command(flatten)]
    pub(crate) show: SelectArgs,
}

impl DriftArgs {
    /// The same as the arguments of a command that judges the tree.
    pub(crate) fn to_judge(&self) -> JudgeArgs {
        JudgeArgs {
            tree: self.tree.clone(),
            more: Vec::new(),
            stdin_filepath: None,
            changed: false,
            allow_plugins: false,
            format: self.format,
            report: self.report.clone(),
            show: self.show.clone(),
        }
    }
}
