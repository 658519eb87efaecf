//! Limits on what clients can make a server hold.

use std::time::Duration;

use clap::{Args as Group, ValueEnum};

use crate::duration::parse_seconds;

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
    /// How many connections of clients may come from one address [default: all that there may be]
    ///
    /// An address of IPv6 counts with its network of 64 bits. Where there are as many connections as
    /// there may be, the address with the most of them loses one to whoever has fewer.
    #[arg(long, value_name = "N")]
    pub(crate) max_peer_connections: Option<usize>,
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
    ///
    /// Above it, a stream that asks for more than its share of them ends. Names that are served cost
    /// nothing.
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    pub(crate) max_all_names: usize,
    /// How many seconds listeners that changed go on at clients: their own `--drain-time-s`
    ///
    /// Routes and clusters that only such a listener leads to are taken out after that.
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = parse_seconds)]
    pub(crate) client_drain_time_s: Duration,
    /// How many seconds a client may take to read a response, or to send its first request
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub(crate) stall: Duration,
}
