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

mod args;
mod channel;
mod counter_file;
mod messages;
mod predecessor;
mod service_manager;
mod start;
mod successor;

pub(crate) use self::args::RestartArgs;
pub(crate) use self::service_manager::{ServiceState, notify_service_manager};
pub(crate) use self::start::{Start, start, take_state};
pub(crate) use self::successor::Successors;
