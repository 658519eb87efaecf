//! Listening sockets, their connections, and when these are told to leave.

mod connections;
mod drain;
mod fd_limit;
mod host_names;
mod listen_address;
mod peer;
mod peer_shares;

pub(crate) use self::connections::{Connections, DrainSignal, Listener, ListenerKind};
pub(crate) use self::drain::DrainArgs;
pub(crate) use self::fd_limit::raise_fd_limit;
pub(crate) use self::host_names::AllowedHosts;
pub(crate) use self::listen_address::ListenAddress;
pub(crate) use self::peer::Peer;
