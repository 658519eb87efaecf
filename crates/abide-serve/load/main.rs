//! Load for an xDS server, and the floor beneath it: `cargo xtask bench --only serving` runs both.
//!
//! `load clients` is told on its standard input what to do, and answers each line with one of JSON.
//! `load floor` is the least that a server can do: it sends prepared bytes, and decides nothing.
#![allow(clippy::disallowed_methods, reason = "a program of its own, which reads its arguments")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "this is how it answers")]

mod clients;
mod floor;
mod framing;
mod messages;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

#[derive(Debug, Parser)]
enum Role {
    /// Clients that take all clusters incrementally, each over a connection of its own
    ///
    /// Lines of the input: `connect N`, `change FROM TO` (moves a file and waits until each client
    /// has accepted what came of it), `watch SECONDS`, `reconnect`.
    Clients {
        /// The server
        #[arg(long)]
        target: SocketAddr,
        /// Where to write the first response and that to the change, for the floor
        #[arg(long)]
        record: Option<PathBuf>,
    },
    /// A server that sends a prepared response to each client, and another one after a change
    Floor {
        /// The first response, as recorded by clients of another server
        #[arg(long)]
        first: PathBuf,
        /// The response to the change
        #[arg(long)]
        change: PathBuf,
        /// The file whose exchange is the change
        #[arg(long)]
        watch: PathBuf,
    },
}

/// What can go wrong here.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Result<()> {
    match Role::parse() {
        Role::Clients { target, record } => clients::run(target, record).await,
        Role::Floor { first, change, watch } => floor::run(&first, &change, watch).await,
    }
}
