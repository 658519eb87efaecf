//! The grammar of the command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as Group, Parser, Subcommand};

use crate::bootstrap::BootstrapArgs;
use crate::restarter::RestarterArgs;
use crate::shutdown::{ManagerArgs, ShutdownArgs};

/// Serve resources of an API to clients of several versions, over xDS.
///
/// Resources are read from a folder, checked against the API, and handed out over gRPC. What does
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
    Bootstrap(BootstrapArgs),
    Restarter(RestarterArgs),
    ShutdownManager(ManagerArgs),
    Shutdown(ShutdownArgs),
}

/// What is served.
#[derive(Clone, Debug, Group)]
pub(crate) struct Inputs {
    /// The folder of the resources: YAML, JSON, text or binary files
    ///
    /// What is in `node-cluster/NAME/` is for clients of that cluster, and what is in `node/ID/` for
    /// that client; there, a resource takes the place of the one that all others get.
    // Optional only for a command, which has its own.
    #[arg(long, value_name = "FOLDER", required = true)]
    pub(crate) resources: Option<PathBuf>,
    /// The API that declares them: a folder, `git:REV`, an archive, a descriptor set, or a program
    /// that carries its API, such as Envoy
    #[arg(long, value_name = "SOURCE", required = true)]
    pub(crate) api: Option<String>,
    /// A folder to find imports of the API in
    #[arg(short = 'I', long, value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// What older clients understand: a table in TOML, YAML or JSON
    ///
    /// A row has the keys `user_agent`, `version` (such as `<1.38`) and `api` (a SOURCE). What its
    /// clients do not know is not sent to them, and `/clients` shows what they miss.
    #[arg(long, value_name = "FILE")]
    pub(crate) clients: Option<PathBuf>,
    /// The name of a cluster that clients have from elsewhere: routes may lead to it
    #[arg(long, value_name = "NAME")]
    pub(crate) static_cluster: Vec<String>,
}

/// How a server runs.
#[derive(Clone, Debug, Group)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// The address of the gRPC services
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18000")]
    pub(crate) grpc: SocketAddr,
    /// The address of long polling over REST
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18080")]
    pub(crate) http: SocketAddr,
    /// How many seconds a poll may wait for something new
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) long_poll: Duration,
    /// A folder to write what everyone gets to, for clients that read files
    #[arg(long, value_name = "DIR")]
    pub(crate) file_out: Option<PathBuf>,
    /// The address of the admin pages; whoever reaches it may do what they offer
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:19000")]
    pub(crate) admin: SocketAddr,
    /// Send changes at once, not in steps in which no request is lost
    #[arg(long)]
    pub(crate) unordered: bool,
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
    pub(crate) limits: Limits,
}

/// What a client can make grow, and how far.
#[derive(Clone, Debug, Group)]
pub(crate) struct Limits {
    /// How many streams may be open
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_streams: usize,
    /// How many bytes a request may have
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub(crate) max_request: usize,
    /// How many names a stream may ask for, for each type
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_names: usize,
    /// How many seconds a client may take to read a response, or to send its first request
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) stall: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.trim_end_matches('s').parse().map_err(|_| "expected seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
