//! The start of a process, with the sockets of the one before it or with its own.

use std::net::SocketAddr;

use tokio::net::UnixListener;

use super::args::RestartArgs;
use super::predecessor::{Predecessor, TakeoverError};
use crate::error::Error;
use crate::listeners::{Listener, ListenerKind};
use crate::transport::listen;

/// The sockets that a process starts with.
pub(crate) struct Start {
    pub(crate) listeners: Vec<Listener>,
    /// The process that it takes over from, if there is one.
    pub(crate) predecessor: Option<Predecessor>,
    /// The socket by which the next process finds this one.
    pub(crate) socket: Option<UnixListener>,
}

/// Takes over from the process before this one. Without one, listens at the addresses.
///
/// # Errors
/// Anything that keeps this process from running. The other one goes on.
pub(crate) async fn start(
    args: &RestartArgs,
    wanted: &[(ListenerKind, SocketAddr)],
) -> Result<Start, Error> {
    let Some(path) = &args.restart_socket else {
        return Ok(Start { listeners: bind(wanted)?, predecessor: None, socket: None });
    };
    match Predecessor::of(path, args.restart_epoch, wanted).await {
        Ok((predecessor, listeners, socket)) => {
            let predecessor = Some(predecessor);
            return Ok(Start { listeners, predecessor, socket: Some(socket) });
        }
        Err(TakeoverError::Fatal(error)) => return Err(error),
        Err(TakeoverError::Gone) if args.restart_epoch == 0 => {}
        Err(TakeoverError::Gone) => {
            let path = path.display();
            tracing::warn!(%path, "the process before this one is gone: nothing is taken over");
        }
    }
    let listeners = bind(wanted)?;
    let socket = listen(path).map_err(|error| Error::Bind {
        address: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(Start { listeners, predecessor: None, socket: Some(socket) })
}

fn bind(wanted: &[(ListenerKind, SocketAddr)]) -> Result<Vec<Listener>, Error> {
    wanted.iter().map(|&(door, address)| Listener::bind(door, address)).collect()
}
