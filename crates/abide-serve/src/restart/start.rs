//! The start of a process, with the sockets of the one before it or with its own.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::time::{Instant, sleep};

use super::args::RestartArgs;
use super::predecessor::{Predecessor, TakeoverError, ask_for_state};
use crate::clients::SavedState;
use crate::error::Error;
use crate::listeners::{Listener, ListenerKind};
use abide_transport::{OWNER_ONLY, listen};

/// The time after which the system has released the sockets of a process that was killed.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// The time between two attempts to listen.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The sockets that a process starts with.
pub(crate) struct Start {
    pub(crate) listeners: Vec<Listener>,
    /// The process that it takes over from, if there is one.
    pub(crate) predecessor: Option<Predecessor>,
    /// The socket by which the next process finds this one.
    pub(crate) socket: Option<UnixListener>,
}

/// Asks the process before this one what it owes its clients, if there is one.
///
/// # Errors
/// Anything that keeps this process from taking over from it.
pub(crate) async fn take_state(args: &RestartArgs) -> Result<Option<SavedState>, Error> {
    let path = args.restart_socket.as_ref().filter(|_| args.restart_epoch > 0);
    let Some(path) = path else { return Ok(None) };
    match ask_for_state(path, args.restart_epoch).await {
        Ok(state) => Ok(state),
        Err(TakeoverError::Gone) => Ok(None),
        Err(TakeoverError::Fatal(error)) => Err(error),
    }
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
    let listeners = match args.restart_epoch {
        0 => bind(wanted)?,
        _ => bind_when_released(wanted).await?,
    };
    let socket = listen(path, OWNER_ONLY).map_err(|error| Error::Bind {
        address: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(Start { listeners, predecessor: None, socket: Some(socket) })
}

/// Listens at the addresses of a process that may have ended just now.
async fn bind_when_released(wanted: &[(ListenerKind, SocketAddr)]) -> Result<Vec<Listener>, Error> {
    let end = Instant::now() + RELEASE_TIMEOUT;
    loop {
        match bind(wanted) {
            Err(_) if Instant::now() < end => sleep(RETRY_INTERVAL).await,
            bound => return bound,
        }
    }
}

fn bind(wanted: &[(ListenerKind, SocketAddr)]) -> Result<Vec<Listener>, Error> {
    wanted.iter().map(|&(door, address)| Listener::bind(door, address)).collect()
}
