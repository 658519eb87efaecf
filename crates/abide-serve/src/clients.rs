//! The clients that are connected, and the state that all of them share.

mod expected;
mod leases;
mod poll_history;
mod server_state;
mod shared_session;
mod traffic;
mod usage;

pub(crate) use self::expected::{ExpectArgs, Expected};
pub(crate) use self::leases::Places;
pub(crate) use self::poll_history::{Asker, Polled};
pub(crate) use self::server_state::{Admission, Aggregated, Client, Fleet, Guest, Protocol, count};
pub(crate) use self::shared_session::{Has, Talk};
pub(crate) use self::traffic::Count;
pub(crate) use self::usage::{UsageReport, UsedType};
