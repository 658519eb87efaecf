//! The messages of `abide.restart.v1`, as `api/abide/restart/v1/restart.proto` declares them.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

/// The major version of the protocol.
pub(super) const MAJOR: u32 = 1;
/// The minor version of the protocol.
pub(super) const MINOR: u32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Handshake {
    #[prost(uint32, tag = "1")]
    pub(super) protocol_major: u32,
    #[prost(uint32, tag = "2")]
    pub(super) protocol_minor: u32,
    #[prost(uint32, tag = "3")]
    pub(super) epoch: u32,
    #[prost(string, tag = "4")]
    pub(super) program_version: String,
}

impl Handshake {
    /// Builds the greeting of a process of this program.
    pub(super) fn of(epoch: u32) -> Handshake {
        Handshake {
            protocol_major: MAJOR,
            protocol_minor: MINOR,
            epoch,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Request {
    #[prost(oneof = "Ask", tags = "1, 2, 3, 4")]
    pub(super) request: Option<Ask>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Ask {
    #[prost(message, tag = "1")]
    TakeListeners(Nothing),
    #[prost(message, tag = "2")]
    Drain(Nothing),
    #[prost(message, tag = "3")]
    Terminate(Nothing),
    #[prost(message, tag = "4")]
    TakeState(Nothing),
}

/// A message without fields.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Reply {
    #[prost(oneof = "Answer", tags = "1, 2, 3, 4, 5, 6")]
    pub(super) reply: Option<Answer>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Answer {
    #[prost(message, tag = "1")]
    Refusal(Refusal),
    #[prost(message, tag = "2")]
    Hello(Handshake),
    #[prost(message, tag = "3")]
    Heritage(InheritedState),
    #[prost(message, tag = "4")]
    Draining(Draining),
    #[prost(message, tag = "5")]
    Terminating(Nothing),
    #[prost(message, tag = "6")]
    State(Nothing),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Refusal {
    #[prost(string, tag = "1")]
    pub(super) reason: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InheritedState {
    #[prost(message, repeated, tag = "1")]
    pub(super) listeners: Vec<Listener>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Listener {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) address: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Draining {
    #[prost(double, tag = "1")]
    pub(super) seconds: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Counters {
    #[prost(btree_map = "string, uint64", tag = "1")]
    pub(super) values: BTreeMap<String, u64>,
}
