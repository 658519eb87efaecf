//! Programs beside a server or a proxy: their bootstrap, restart and shutdown.

mod bootstrap;
mod restarter;
mod shutdown;

pub(crate) use self::bootstrap::{BootstrapArgs, bootstrap};
pub(crate) use self::restarter::{RestarterArgs, restart};
pub(crate) use self::shutdown::{ManagerArgs, ShutdownArgs, manage, shutdown};
