//! Takes a proxy out of service before its pod ends, without cutting connections.
//!
//! Two commands share one file. `shutdown` runs as the hook of the manager's container:
//! it fails the health checks of the proxy, waits until few enough connections are
//! open, and then makes the ready file. `shutdown-manager` answers the hook of the
//! proxy's container as soon as that file is there, so that the proxy is not ended
//! before. Kubernetes runs both hooks at once.
//!
//! Without connections that end by themselves, this promises no zero loss: when the
//! grace period is over, the pod is killed all the same.

mod command;
mod exposition;
mod manager;
mod proxy;
mod ready_file;

pub(crate) use command::{ShutdownArgs, shutdown};
pub(crate) use manager::{ManagerArgs, manage};
