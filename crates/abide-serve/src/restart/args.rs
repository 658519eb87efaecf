//! The arguments of a restart, and its times.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::duration::parse_seconds;
use crate::error::Error;
use crate::listeners::DrainArgs;

/// The time that the other process may take to answer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The greatest age of a count that the other process reads.
pub(super) const COUNTER_INTERVAL: Duration = Duration::from_millis(100);

/// How processes take over from one another.
#[derive(Args, Clone, Debug)]
pub(crate) struct RestartArgs {
    /// Where a newer process finds this one to take over from it: a unix-domain socket, in a
    /// folder that nobody else may write to
    #[arg(long, visible_alias = "base-id", value_name = "PATH")]
    pub(crate) restart_socket: Option<PathBuf>,
    /// Which start this is: from 1 on, the process takes over from the one before it
    #[arg(long, value_name = "N", default_value_t = 0, requires = "restart_socket")]
    pub(crate) restart_epoch: u32,
    /// How many seconds after it began to drain the process before this one ends
    #[arg(long, value_name = "SECONDS", default_value = "900", value_parser = parse_seconds)]
    pub(crate) parent_shutdown_time_s: Duration,
}

impl RestartArgs {
    /// Refuses times that would cut connections off.
    ///
    /// # Errors
    /// A time of draining that is not over before the process ends.
    pub(crate) fn check(&self, drain: &DrainArgs) -> Result<(), Error> {
        if self.restart_socket.is_some() && self.parent_shutdown_time_s <= drain.drain_time() {
            let message = "connections would be cut off: `--parent-shutdown-time-s` must be more \
                           than `--drain-time-s`";
            return Err(Error::Argument(message.to_owned()));
        }
        Ok(())
    }
}
