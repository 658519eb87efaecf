//! The grammar of the command line.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};

use crate::admin_address::AdminAddress;
use crate::bootstrap::BootstrapArgs;
use crate::commands::conformance::ConformanceArgs;
use crate::commands::{AskArgs, VersionsArgs};
use crate::drain::DrainArgs;
use crate::expected::ExpectArgs;
use crate::restart::RestartArgs;
use crate::restarter::RestarterArgs;
use crate::shutdown::{ManagerArgs, ShutdownArgs};
use crate::source::SourceArgs;
use crate::tls::TlsArgs;

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
    /// The API that declares them: a folder, `git:REV`, an archive, a descriptor set, or a program
    /// that carries its API, such as Envoy
    #[arg(long, value_name = "SOURCE", required = true)]
    pub(crate) api: Option<String>,
    /// A folder to find imports of the API in
    #[arg(short = 'I', long, value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// What older clients understand: a table in TOML, YAML or JSON
    ///
    /// A row has the key `api` (a SOURCE). A client gets what the API of its own release has, which
    /// it is known by from the extensions that it lists; one that lists none, by the keys
    /// `user_agent` and `version` (such as `<1.38`). What it does not know is not sent to it, and
    /// `/clients` shows what it misses.
    #[arg(long, value_name = "FILE")]
    pub(crate) clients: Option<PathBuf>,
    /// Steps that give older clients an older form of what they do not know: files, folders, or
    /// `envoy` for those from v3 to v2 of Envoy's API (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) steps: Vec<String>,
    /// A file that describes more types of resource, in TOML: a table `[[types]]` for each
    ///
    /// `name` and `message` are needed; `service`, `methods` and `rest` say how clients ask for it. Without
    /// them, it is served on aggregated streams alone. The page "Serving" of the book lists all keys.
    #[arg(long, value_name = "FILE")]
    pub(crate) types: Option<PathBuf>,
    /// Warn about resources of the major before the newest stable one, instead of refusing them
    ///
    /// It is about what is in the source. Clients that ask for the older major get it in any case,
    /// translated from the newest one.
    #[arg(long)]
    pub(crate) allow_previous_major: bool,
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
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18000", value_parser = address)]
    pub(crate) grpc: SocketAddr,
    /// The address of long polling over REST
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:18080", value_parser = address)]
    pub(crate) http: SocketAddr,
    /// How many seconds a poll may wait for something new
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) long_poll: Duration,
    /// A folder to write what everyone gets to, for clients that read files
    #[arg(long, value_name = "DIR")]
    pub(crate) file_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// The address of the admin pages, or `unix:PATH` for a socket that only this user can open
    ///
    /// Whoever reaches them may do what they offer, unless there are tokens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:19000")]
    pub(crate) admin: AdminAddress,
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

/// What becomes of the aggregated streams of a node that opens a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecondStream {
    /// Both stay: one process may have several gRPC clients with one node
    Allow,
    /// The newer one ends the one before
    Supersede,
    /// The newer one is refused
    Refuse,
}

/// What a client can make grow, and how far.
#[derive(Clone, Debug, Group)]
pub(crate) struct Limits {
    /// How many connections of clients may be open, as far as the system has file descriptors for them
    ///
    /// Those above it are closed at once. Connections that bring no request within `--stall` are closed,
    /// too. The admin port has its own hundred.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_connections: usize,
    /// How many streams and polls may be open
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_streams: usize,
    /// What becomes of the aggregated streams of a node that opens a second one
    #[arg(long, value_name = "WHAT", default_value = "allow")]
    pub(crate) second_stream: SecondStream,
    /// How many bytes a request may have
    ///
    /// A client that comes again lists what it holds: some 60 bytes for each resource and those of its
    /// name.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    pub(crate) max_request: usize,
    /// How many bytes of requests are read at once, of all clients together
    ///
    /// The first 32 KiB of each do not count. Clients that come again all at once with what they hold
    /// are answered one after the other, and the server needs no more memory for them than this
    /// allows. While others wait, one that is read has five seconds for each 32 KiB.
    #[arg(long, value_name = "BYTES", default_value_t = 32 << 20)]
    pub(crate) request_room: usize,
    /// How many names a stream may ask for, for each type
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_names: usize,
    /// How many names all streams together may ask for; what many ask for counts once
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    pub(crate) max_all_names: usize,
    /// How many seconds a client may take to read a response, or to send its first request
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) stall: Duration,
}

/// Where to listen.
fn address(text: &str) -> Result<SocketAddr, String> {
    let wanted = "expected an IP address and a port, such as `127.0.0.1:18000`";
    text.parse().map_err(|_| wanted.to_owned())
}

/// A span of time, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.trim_end_matches('s').parse().map_err(|_| "expected seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
