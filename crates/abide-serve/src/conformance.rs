//! Conformance of xDS servers and clients: one table of scenarios, played over the network.
//!
//! A [`Scenario`] is a conversation, written down: what is served, what a client asks, what has to
//! come. [`play`] plays it against any [`Target`]. [`Server`] is one that is reached over gRPC and
//! REST; the tests have another, a session without a network.
//! [`client`] is the other way round: it is the server, and judges what a client says.

pub(crate) mod client;
mod message;
mod play;
mod resources;
mod scenario;
mod server;
#[cfg(test)]
mod session;

pub(crate) use play::{Outcome, Rules, play};

pub(crate) use scenario::{Scenario, Way};
pub(crate) use server::{Changes, Server, ServerOptions};
