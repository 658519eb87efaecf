//! Takes a change back once enough clients of one release refused the same resource.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::snapshot::Snapshot;

/// The number of of the last things served are kept to go back to.
const PAST: usize = 4;

/// The number of pairs of a resource and a release that votes are counted for: clients choose what
/// they say about their release.
const MAX_COUNTS: usize = 10_000;

/// A resource at one of its versions, as it is served.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceVersion {
    /// Its type.
    pub type_url: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
}

/// A set of resources that is served as a whole.
pub trait Holds {
    /// Returns true if it has this resource at this version.
    fn holds(&self, resource: &ResourceVersion) -> bool;
}

impl Holds for Snapshot {
    fn holds(&self, resource: &ResourceVersion) -> bool {
        let found = self.collection(&resource.type_url).and_then(|it| it.get(&resource.name));
        found.is_some_and(|it| it.version == resource.version)
    }
}

impl<H: Holds> Holds for Arc<H> {
    fn holds(&self, resource: &ResourceVersion) -> bool {
        (**self).holds(resource)
    }
}

/// A resource that is not served any more, and who refused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolledBack {
    /// The resource and its version.
    pub resource: ResourceVersion,
    /// The release whose clients refused it.
    pub release: String,
    /// The number of clients that refused it.
    pub clients: usize,
    /// The message of the last of them.
    pub message: String,
}

/// The resources that were served, the refusals of them, and the ones to go back to.
///
/// A client counts once for each resource, whatever it says; clients without a name count as one.
/// `S` is what is served, and cheap to clone.
#[derive(Debug)]
pub struct RollBack<S> {
    after: NonZeroUsize,
    /// The resources that were served last, newest at the end.
    past: VecDeque<S>,
    /// By resource and release: the clients that refused it.
    votes: BTreeMap<(ResourceVersion, String), BTreeSet<String>>,
    taken_back: Vec<RolledBack>,
}

impl<S: Holds + Clone> RollBack<S> {
    /// Takes a change back after so many clients of one release refused one resource of it.
    pub fn new(after: NonZeroUsize) -> RollBack<S> {
        RollBack { after, past: VecDeque::new(), votes: BTreeMap::new(), taken_back: Vec::new() }
    }

    /// Takes in what another one knew: what was served, oldest first, and what was taken back of it.
    pub fn restore(
        &mut self,
        past: impl IntoIterator<Item = S>,
        taken_back: impl IntoIterator<Item = RolledBack>,
    ) {
        self.past.extend(past);
        self.past.drain(..self.past.len().saturating_sub(PAST));
        self.taken_back.extend(taken_back);
    }

    /// The resources that are taken back, and must not be served. They may be served again after
    /// something without it was.
    pub fn taken_back(&self) -> &[RolledBack] {
        &self.taken_back
    }

    /// Finds the resources of these that were taken back, so that they must not be served.
    pub fn hindrances<'r>(&'r self, next: &S) -> impl Iterator<Item = &'r RolledBack> {
        self.taken_back.iter().filter(|it| next.holds(&it.resource))
    }

    /// Records that this is served from now on.
    pub fn serve(&mut self, next: S) {
        self.taken_back.clear();
        self.votes.retain(|(resource, _), _| next.holds(resource));
        self.past.push_back(next);
        self.past.drain(..self.past.len().saturating_sub(PAST));
    }

    /// Takes in that a client of a release refused resources, and what it said. Returns what to
    /// serve instead, if what is served is to be taken back: the newest of the last few without
    /// any of the resources that enough clients refused. If all of them have one, nothing changes.
    pub fn refused(
        &mut self,
        release: &str,
        client: &str,
        resources: impl IntoIterator<Item = ResourceVersion>,
        message: &str,
    ) -> Option<S> {
        let mut newly = Vec::new();
        for resource in resources {
            if !self.past.back().is_some_and(|it| it.holds(&resource)) {
                continue; // It is about something that was served before.
            }
            let key = (resource, release.to_owned());
            if self.votes.len() >= MAX_COUNTS && !self.votes.contains_key(&key) {
                continue;
            }
            let resource = key.0.clone();
            let is_old = self.past.iter().all(|it| it.holds(&resource));
            let voters = self.votes.entry(key).or_default();
            if is_old && voters.len() == self.after.get() {
                // It was refused before the change came, so the change is not the reason.
                return None;
            }
            // More than decide are not counted.
            if voters.len() < self.after.get() {
                voters.insert(client.to_owned());
            }
            if voters.len() == self.after.get() {
                newly.push(RolledBack {
                    resource,
                    release: release.to_owned(),
                    clients: voters.len(),
                    message: message.to_owned(),
                });
            }
        }
        // A client that never accepted anything refuses all that it is sent. What has been there all along
        // is no reason to take a change back.
        let is_new = |it: &RolledBack| self.past.iter().any(|past| !past.holds(&it.resource));
        if newly.iter().any(is_new) {
            newly.retain(is_new);
        }
        let is_bad =
            |it: &S| newly.iter().chain(&self.taken_back).any(|bad| it.holds(&bad.resource));
        let good = self.past.iter().rposition(|it| !is_bad(it))?;
        if good + 1 == self.past.len() {
            return None;
        }
        self.taken_back.extend(newly);
        self.past.truncate(good + 1);
        let back = self.past.back().cloned();
        self.votes.retain(|(resource, _), _| back.as_ref().is_some_and(|it| it.holds(resource)));
        back
    }
}
