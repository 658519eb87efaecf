//! The clients that are connected, and the state that all of them share.

mod convergence;
mod expected;
mod leases;
mod poll_history;
mod saved_state;
mod server_state;
mod shared_session;
mod traffic;
mod usage;

pub(crate) use self::convergence::HistogramSample;
pub(crate) use self::expected::{ExpectArgs, ExpectedClients};
pub(crate) use self::leases::Leases;
pub(crate) use self::poll_history::{PollHistory, PollKey};
pub(crate) use self::saved_state::{SavedState, SavedStateError, StateFolder, save_on_change};
pub(crate) use self::server_state::{
    AggregatedLease, ClientHandle, ClientOrigin, ClientService, ConnectedClient, ResponseVerdict,
    ServerState, StreamPermit, Variant, increment,
};
pub(crate) use self::shared_session::{ClientState, SharedSession, StreamCounts};
pub(crate) use self::traffic::TrafficCounter;
pub(crate) use self::usage::{UsageReport, UsedType};
