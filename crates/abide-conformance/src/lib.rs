//! Conformance of xDS servers and clients: one table of scenarios, played over the network.
//!
//! A [`Scenario`] is a conversation, written down: what is served, what a client asks, what has to
//! come. [`Server::play`] plays it against a server that is reached over gRPC and REST; the tests have
//! another target, a session without a network. [`play_client`] is the other way round: it is the
//! server, and judges what a client says.
#![allow(clippy::disallowed_methods)] // This crate speaks with programs of others.

mod client;
mod error;
mod message;
mod play;
mod resources;
mod scenario;
mod server;
#[cfg(test)]
mod session;

pub use self::client::{ClientOptions, ClientScenario, play_client};
pub use self::error::{Absence, ConformanceError, LineProblem, TableError};
pub use self::play::{Outcome, Rules};
pub use self::resources::Type;
pub use self::scenario::{Scenario, Way};
pub use self::server::{Changes, Server, ServerOptions};
