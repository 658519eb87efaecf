//! The grammar of the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as Group, Parser, Subcommand};

use super::ask::AskArgs;
use super::conformance::ConformanceArgs;
use super::usage::UsageArgs;
use super::versions::VersionsArgs;
use crate::clients::ExpectArgs;
use crate::duration::parse_seconds;
use crate::error::Error;
use crate::limits::Limits;
use crate::listeners::{DrainArgs, ListenAddress};
use crate::resources::{ApiArgs, JudgeArgs, SourceArgs};
use crate::restart::RestartArgs;
use crate::tools::{BootstrapArgs, ManagerArgs, RestarterArgs, ShutdownArgs};
use abide_transport::TlsArgs;

/// Serve resources of an API to clients of several versions, over xDS.
///
/// Resources are read from a folder, from git or from etcd, checked against the API, and handed out over gRPC. What does
/// not pass the check is refused as a whole, and what was served before stays.
#[derive(Debug, Parser)]
#[command(
    name = "abide-serve",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

/// What else `abide-serve` does. A command is a variant here, and a module in `commands`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the resources as a server would, and end: 0 if they would be served, else 1
    Check(Inputs),
    Ask(AskArgs),
    Conformance(ConformanceArgs),
    Versions(VersionsArgs),
    Usage(UsageArgs),
    Bootstrap(BootstrapArgs),
    Restarter(RestarterArgs),
    ShutdownManager(ManagerArgs),
    Shutdown(ShutdownArgs),
}

/// What is served.
#[derive(Clone, Debug, Group)]
pub(crate) struct Inputs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// How a server runs.
#[derive(Clone, Debug, Group)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// The address of the gRPC services, or `unix:PATH` for a socket of this machine
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18000")]
    pub(crate) grpc: ListenAddress,
    /// The address of long polling over REST, or `unix:PATH`
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18080")]
    pub(crate) http: ListenAddress,
    /// Who may open the sockets of `--grpc` and `--http`, as bits of permission: 660 is the owner and the
    /// group
    #[arg(long, value_name = "OCTAL", default_value = "600", value_parser = parse_mode)]
    pub(crate) socket_mode: u32,
    /// How many seconds a poll may wait for something new
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub(crate) long_poll: Duration,
    /// A folder to write what everyone gets to, for clients that read files
    #[arg(long, value_name = "DIR")]
    pub(crate) file_out: Option<PathBuf>,
    /// A folder to keep what is served, what was taken back and what operators set, for the next process
    ///
    /// It serves what was served last if its source cannot be served when it starts. The folder has
    /// resources, secrets too: only its owner can read it.
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// The address of the admin pages, or `unix:PATH` for a socket that only this user can open
    ///
    /// Whoever reaches them may do what they offer, unless there are tokens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:19000")]
    pub(crate) admin: ListenAddress,
    /// An address for probes and Prometheus, with `/ready` and `/stats/prometheus` alone
    ///
    /// It may be one that others can reach: nothing can be changed there, and nothing says who the clients are.
    #[arg(long, value_name = "ADDR")]
    pub(crate) status: Option<ListenAddress>,
    /// A file with tokens, one a line, without which the admin pages show nothing
    ///
    /// A request has one as `authorization: Bearer TOKEN`, or as the password of a browser. The file
    /// is read whenever somebody asks. Lines that begin with `#` are comments.
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// Send changes at once, not in steps in which no request is lost
    #[arg(long)]
    pub(crate) unordered: bool,
    /// Go back to what was served before once N clients of one release refused the same resource
    #[arg(long, value_name = "N")]
    pub(crate) roll_back_after: Option<NonZeroUsize>,
    /// How logs are written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    pub(crate) log_format: String,
    /// From which level on is logged; `debug` has a line for each response
    ///
    /// The environment variable `RUST_LOG` beats it.
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = ["error", "warn", "info", "debug", "trace"]
    )]
    pub(crate) log_level: String,
    #[command(flatten)]
    pub(crate) expect: ExpectArgs,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) drain: DrainArgs,
    #[command(flatten)]
    pub(crate) restart: RestartArgs,
}

/// Reads bits of permission, which never are those of anybody else than user, group and others.
fn parse_mode(text: &str) -> Result<u32, Error> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|it| *it <= 0o777);
    mode.ok_or_else(|| Error::Argument("expected three octal digits, such as `660`".to_owned()))
}
