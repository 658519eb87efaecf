//! Listening sockets, their connections, and when these are told to leave.

mod admin_address;
mod connections;
mod drain;
mod fd_limit;
mod host_names;
mod peer_shares;

pub(crate) use self::admin_address::AdminAddress;
pub(crate) use self::connections::{Connections, DrainSignal, Listener, ListenerKind};
pub(crate) use self::drain::DrainArgs;
pub(crate) use self::fd_limit::raise_fd_limit;
pub(crate) use self::host_names::AllowedHosts;
