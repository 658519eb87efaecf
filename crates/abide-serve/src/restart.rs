//! Hot restart: a process takes over the listening sockets of the one before it, and clients move
//! over without a failed call.
//!
//! Both processes run for a while. The newer one reads and judges its resources first, then asks
//! the older one for its sockets ([`predecessor`]). As soon as it accepts connections it tells the
//! older one to drain, and to end after `--parent-shutdown-time-s`. The older one goes on as if
//! nothing had happened whenever the newer one is gone before that ([`successor`]).
//!
//! They find each other by the path of a unix-domain socket alone, so they may run in different
//! containers that share a folder. What they say is in `api/abide/restart/v1`.

mod channel;
mod counter_file;
mod messages;
mod predecessor;
mod successor;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::net::UnixListener;

pub(crate) use self::predecessor::Predecessor;
use self::predecessor::Setback;
pub(crate) use self::successor::Successors;
use crate::args::seconds;
use crate::drain::DrainArgs;
use crate::listeners::{Door, Listener};
use crate::unix_socket::listen;

/// How long the other process may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How old a count may be that the other process reads.
const FRESHNESS: Duration = Duration::from_millis(100);

/// How processes take over from one another.
#[derive(Args, Clone, Debug)]
pub(crate) struct RestartArgs {
    /// Where a newer process finds this one to take over from it: a unix-domain socket, in a
    /// folder that nobody else may write to
    #[arg(long, value_name = "PATH")]
    pub(crate) restart_socket: Option<PathBuf>,
    /// Which start this is: from 1 on, the process takes over from the one before it
    #[arg(long, value_name = "N", default_value_t = 0, requires = "restart_socket")]
    pub(crate) restart_epoch: u32,
    /// How many seconds after it began to drain the process before this one ends
    #[arg(long, value_name = "SECONDS", default_value = "900", value_parser = seconds)]
    pub(crate) parent_shutdown_time_s: Duration,
}

impl RestartArgs {
    /// Refuses times that would cut connections off.
    ///
    /// # Errors
    /// What to set instead: one phrase.
    pub(crate) fn check(&self, drain: &DrainArgs) -> Result<(), String> {
        if self.restart_socket.is_some() && self.parent_shutdown_time_s <= drain.drain_time_s {
            return Err("connections would be cut off: `--parent-shutdown-time-s` has to be more \
                        than `--drain-time-s`"
                .to_owned());
        }
        Ok(())
    }
}

/// What a process starts with.
pub(crate) struct Start {
    pub(crate) listeners: Vec<Listener>,
    /// The process that it takes over from, if there is one.
    pub(crate) predecessor: Option<Predecessor>,
    /// Where the next process finds this one.
    pub(crate) socket: Option<UnixListener>,
}

/// Takes over from the process before this one. Without one, listens at the addresses.
///
/// # Errors
/// Why this process cannot run, and what to do: one phrase. The other one goes on.
pub(crate) async fn start(
    args: &RestartArgs,
    wanted: &[(Door, SocketAddr)],
) -> Result<Start, String> {
    let Some(path) = &args.restart_socket else {
        return Ok(Start { listeners: bind(wanted)?, predecessor: None, socket: None });
    };
    match Predecessor::of(path, args.restart_epoch, wanted).await {
        Ok((predecessor, listeners, socket)) => {
            let predecessor = Some(predecessor);
            return Ok(Start { listeners, predecessor, socket: Some(socket) });
        }
        Err(Setback::Fatal(why)) => return Err(why),
        Err(Setback::Gone) if args.restart_epoch == 0 => {}
        Err(Setback::Gone) => {
            let path = path.display();
            tracing::warn!(%path, "the process before this one is gone: nothing is taken over");
        }
    }
    let listeners = bind(wanted)?;
    let socket = listen(path).map_err(|it| format!("cannot listen at {}: {it}", path.display()))?;
    Ok(Start { listeners, predecessor: None, socket: Some(socket) })
}

fn bind(wanted: &[(Door, SocketAddr)]) -> Result<Vec<Listener>, String> {
    wanted.iter().map(|&(door, address)| Listener::bind(door, address)).collect()
}
