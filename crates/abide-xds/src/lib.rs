//! Sessions of the xDS protocol: what a management server answers, and when.
//!
//! A [`Session`] is one stream of one client. [`Session::step`] takes what happened
//! and returns what to send. Nothing here does I/O, starts a thread or reads a clock:
//! time is an argument, so every sequence of messages is a test of microseconds.
//!
//! Resources are a [`Snapshot`]: names, versions and serialised payloads, which all
//! sessions share. [`find`] and [`build_snapshot`] make one of instances. The version of a resource is a
//! hash of its meaning, so that servers which read the same source answer alike.
//!
//! [`Types`] knows what each type of resource is to the protocol; a server may add types.
//!
//! [`Releases::resolve_profile`] says which versions a client gets, and a [`View`] is a snapshot as it can
//! hold it.

mod collection;
mod gather;
mod kind;
mod message;
mod names;
mod negotiation;
mod resource;
mod roll_back;
mod session;
mod snapshot;
mod subscription;
mod topic;
mod view;
pub mod wire;

pub use collection::Collection;
pub use gather::{BuiltSnapshot, Found, RejectedResource, build_snapshot, find};
pub use kind::{Contradiction, Kind, ResourceType, TYPE_URL_PREFIX, TypeEntry, TypeKey, Types};
pub use message::{Action, Event, Names, Request, Response, StreamError};
pub use names::SharedNames;
pub use negotiation::{
    ClientCapabilities, ClientProfile, Minor, NegotiationError, Release, Releases, VersionedTypeUrl,
};
pub use resource::{Reference, Resource};
pub use roll_back::{Holds, ResourceVersion, RollBack, RolledBack};
pub use session::{Awaited, HealthChecks, Initialisation, Options, Phase, Session};
pub use snapshot::{Dangling, Snapshot};
pub use topic::{Deferred, Refusal, TypeStatus};
pub use view::{Downgrade, Loss, SupportedFields, View};
