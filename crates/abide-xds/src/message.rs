//! Events that go into a session, and actions that come out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resource::Resource;
use crate::snapshot::Snapshot;
use crate::topic::Refusal;

/// Something that happened to a stream.
#[derive(Clone, Debug)]
pub enum Event {
    /// The client sent a request.
    Request(Request),
    /// The resources that are served to this client are now these.
    Snapshot(Arc<Snapshot>),
    /// Time passed; [`Session::deadline`](crate::Session::deadline) says when to come.
    Tick,
}

/// An action that the server has to take.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send a response.
    Send(Response),
    /// Take note that the client refuses a response. It comes after what there is to send.
    Refused {
        /// The type of the resources.
        type_url: Arc<str>,
        /// The response, and what the client said.
        refusal: Refusal,
    },
    /// End the stream with an error.
    End(StreamError),
}

/// A request of a client, in either variant of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The type of the resources.
    pub type_url: String,
    /// The nonce of the response that this is about; empty if about none.
    pub nonce: String,
    /// In the state of the world, the version of what the client accepted last, here or on another
    /// stream; empty if it accepted nothing. It only says whether the client has anything.
    pub version: String,
    /// The message with which that response is refused.
    pub error: Option<String>,
    /// The resources that the client wants.
    pub names: Names,
}

/// The resources of one type that a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// State of the world: everything that it wants.
    Sotw(Vec<String>),
    /// Incremental: what it wants now, or no longer.
    Delta {
        /// Names or aliases.
        subscribe: Vec<String>,
        /// Names or aliases.
        unsubscribe: Vec<String>,
        /// On a new stream, the names and versions that it holds.
        held: BTreeMap<String, String>,
    },
}

impl Default for Names {
    fn default() -> Names {
        Names::Sotw(Vec::new())
    }
}

/// A response, in either variant of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The type of the resources.
    pub type_url: Arc<str>,
    /// The version of all that the client wants of this type.
    pub version: Arc<str>,
    /// The nonce, by which the answer of the client refers to it.
    pub nonce: Arc<str>,
    /// The resources. Clients that are sent the same share this list.
    pub resources: Arc<[Arc<Resource>]>,
    /// Of an incremental response, the names that are gone; shared likewise.
    pub removed: Arc<[Arc<str>]>,
    /// Of an incremental response, the names that the client asked for and that stand for nothing. Where
    /// clients wait for what a request of theirs needs, this is how they learn that they need not.
    pub unresolved: Arc<[Arc<str>]>,
    /// True if it is incremental.
    pub is_delta: bool,
}

/// An error with which the server ends a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The client broke the protocol.
    Invalid(String),
    /// The client wants more than a stream may hold.
    TooMuch(String),
}
