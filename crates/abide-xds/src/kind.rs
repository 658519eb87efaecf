//! The role of each type of resource in the protocol.

mod builtin;
mod registry;

use std::sync::Arc;

pub use registry::{Contradiction, TypeEntry, TypeKey, Types};

/// The prefix of all type URLs.
pub const TYPE_URL_PREFIX: &str = "type.googleapis.com/";

/// The number of kinds that have room after each built-in one.
const ROOM: u32 = 1 << 16;

/// The role of a type of resource in the protocol: all majors of one type are of one kind. The
/// order is that in which a stream of all types sends them. [`Types`] knows the rest about each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(u32);

#[allow(missing_docs, reason = "each is named after the messages that it stands for")]
impl Kind {
    pub const CLUSTER: Kind = Kind::built_in(0);
    pub const ENDPOINTS: Kind = Kind::built_in(1);
    pub const LISTENER: Kind = Kind::built_in(2);
    pub const SCOPED_ROUTES: Kind = Kind::built_in(3);
    pub const ROUTES: Kind = Kind::built_in(4);
    pub const VIRTUAL_HOST: Kind = Kind::built_in(5);
    pub const SECRET: Kind = Kind::built_in(6);
    pub const EXTENSION: Kind = Kind::built_in(7);
    pub const RUNTIME: Kind = Kind::built_in(8);
    /// Of a type that nobody described.
    pub const OTHER: Kind = Kind(u32::MAX);

    const fn built_in(place: u32) -> Kind {
        Kind(place * ROOM)
    }

    /// Returns true if references to resources of this kind say that clients ask for them here, and wait.
    pub fn is_always_asked_for(self) -> bool {
        [Kind::ENDPOINTS, Kind::SCOPED_ROUTES, Kind::SECRET, Kind::EXTENSION].contains(&self)
    }
}

/// A type of resource.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// Its kind.
    pub kind: Kind,
    /// The facts that are known about it.
    pub entry: TypeEntry,
    /// The kind whose resources have to follow when one of this kind changed, even if they did not
    /// change themselves: clients warm the change up with them.
    pub warmed_by: Option<Kind>,
}

impl ResourceType {
    /// The type URL of its messages in a major, 2 or 3.
    pub fn type_url(&self, major: u8) -> Option<Arc<str>> {
        let message = self.entry.messages[usize::from(major == 3)].as_ref()?;
        Some(format!("{TYPE_URL_PREFIX}{message}").into())
    }
}
