//! One resource.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::collection::Collection;
use crate::kind::Kind;

/// One resource: a name, a version and a serialised payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name.
    pub name: Arc<str>,
    /// Other names that clients may ask for it by.
    pub aliases: Box<[Arc<str>]>,
    /// A hash of its meaning: the same content has the same version everywhere.
    pub version: Arc<str>,
    /// The serialised message.
    pub body: Bytes,
    /// The resources that it refers to.
    pub references: Box<[Reference]>,
    /// Of a cluster with active health checks, how long the first round of them takes at most.
    pub health_round: Option<Duration>,
    /// True if its content is known. It is not where a client says that it holds a version which
    /// nobody serves: this is never sent, and may refer to anything.
    pub(crate) is_known: bool,
}

/// A resource that another one refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Arc<str>,
    /// True if a snapshot that lacks it cannot work. Otherwise it may be one that
    /// clients have from elsewhere, or may come later.
    pub is_required: bool,
}

impl Resource {
    /// A resource whose payload stands for its meaning.
    pub fn new(name: &str, body: impl Into<Bytes>) -> Resource {
        let body = body.into();
        let version = hash([&*body]);
        Resource {
            name: name.into(),
            aliases: Box::default(),
            version,
            body,
            references: Box::default(),
            health_round: None,
            is_known: true,
        }
    }

    /// The same with references.
    #[must_use]
    pub fn referring_to(mut self, references: impl IntoIterator<Item = Reference>) -> Resource {
        let mut references: Vec<Reference> = references.into_iter().collect();
        references.sort();
        references.dedup();
        self.references = references.into();
        self
    }

    /// The same with other names.
    #[must_use]
    pub fn known_as(mut self, aliases: &[&str]) -> Resource {
        self.aliases = aliases.iter().map(|&alias| alias.into()).collect();
        self
    }

    /// A resource that a client says it holds: a name and a version.
    pub(crate) fn held(name: &str, version: &str) -> Resource {
        Resource {
            name: name.into(),
            aliases: Box::default(),
            version: version.into(),
            body: Bytes::new(),
            references: Box::default(),
            health_round: None,
            is_known: false,
        }
    }
}

impl Reference {
    /// The name of a reference to whatever there is of a kind.
    pub const ANY: &str = "*";

    /// A reference without which a snapshot cannot work.
    pub fn required(kind: Kind, name: &str) -> Reference {
        Reference { kind, name: name.into(), is_required: true }
    }

    /// Returns true if one of these resources of its kind is what it refers to.
    pub(crate) fn is_met_by(&self, all: &Collection) -> bool {
        match &*self.name {
            Reference::ANY => !all.is_empty(),
            name => all.find(name).is_some(),
        }
    }

    /// A reference to something that clients may have from elsewhere.
    pub fn optional(kind: Kind, name: &str) -> Reference {
        Reference { kind, name: name.into(), is_required: false }
    }
}

/// A version for parts in their order: the head of a hash over each and its length.
pub(crate) fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Arc<str> {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    // Half of it leaves no chance of two contents with one version.
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}
