//! The resources that are served, of all types.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::collection::Collection;
use crate::kind::{Kind, Types};
use crate::resource::{Resource, hash};

/// The resources of every type at one moment. It never changes; the next one takes
/// its place.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    types: BTreeMap<Arc<str>, Arc<Collection>>,
    /// By type URL, the names of resources that there are, but not in any form that these clients
    /// could hold.
    withheld: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
}

/// A reference to a resource that is nowhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dangling {
    /// The type URL of the resource that refers.
    pub type_url: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The kind of the missing one.
    pub kind: Kind,
    /// Its name.
    pub missing: Arc<str>,
    /// True if the snapshot cannot work without it.
    pub is_required: bool,
}

impl Snapshot {
    /// The snapshot of these resources, each with its type URL.
    pub fn of<'u>(resources: impl IntoIterator<Item = (&'u str, Resource)>) -> Snapshot {
        let mut types: BTreeMap<&str, Vec<Arc<Resource>>> = BTreeMap::new();
        for (type_url, resource) in resources {
            types.entry(type_url).or_default().push(Arc::new(resource));
        }
        let types = types.into_iter().map(|(url, it)| (url.into(), Arc::new(Collection::of(it))));
        Snapshot::of_collections(types)
    }

    /// The snapshot of these collections, by type URL.
    pub fn of_collections(
        types: impl IntoIterator<Item = (Arc<str>, Arc<Collection>)>,
    ) -> Snapshot {
        Snapshot { types: types.into_iter().collect(), withheld: BTreeMap::new() }
    }

    /// Says that there is a resource which it does not have, because these clients could not hold it:
    /// one that has it from before keeps it.
    pub fn withhold(&mut self, type_url: &Arc<str>, name: &Arc<str>) {
        self.withheld.entry(Arc::clone(type_url)).or_default().insert(Arc::clone(name));
    }

    /// The names of the resources of a type that are withheld.
    pub(crate) fn withheld(&self, type_url: &str) -> impl Iterator<Item = &Arc<str>> {
        self.withheld.get(type_url).into_iter().flatten()
    }

    /// The same with the resources of `upper`, which take the place of those with
    /// their type and name.
    #[must_use]
    pub fn under(&self, upper: &Snapshot) -> Snapshot {
        let mut types = self.types.clone();
        for (url, collection) in &upper.types {
            let own = types.entry(Arc::clone(url)).or_default();
            let changes = collection.iter().map(|it| (Arc::clone(&it.name), Some(Arc::clone(it))));
            *own = Arc::new(own.with(changes.collect()));
        }
        Snapshot::of_collections(types)
    }

    /// The resources of a type, if it has any.
    pub fn collection(&self, type_url: &str) -> Option<&Arc<Collection>> {
        self.types.get(type_url)
    }

    /// Its types with their resources, by type URL.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<Collection>)> {
        self.types.iter()
    }

    /// A hash over all of it.
    pub fn version(&self) -> Arc<str> {
        hash(self.types.iter().flat_map(|(url, it)| [url.as_bytes(), it.version().as_bytes()]))
    }

    /// Returns true if a resource of it refers to this one, be it there or not.
    pub fn refers_to(&self, kind: Kind, name: &str) -> bool {
        self.types.values().any(|it| it.refers_to(kind, name))
    }

    /// The references to resources that are nowhere. A kind of which the snapshot
    /// has no resource at all is one that clients have from elsewhere, except the
    /// endpoints of clusters, scopes of routes, secrets and filters, whose references say that they are
    /// served here.
    /// `known` are clusters that clients have from elsewhere.
    pub fn dangling(&self, types: &Types, known: &BTreeSet<String>) -> Vec<Dangling> {
        self.absent(types, known, false)
    }

    /// The required references to resources of kinds of which the snapshot has none
    /// at all, so that clients need them from elsewhere. `known` are clusters that
    /// clients are known to have.
    pub fn from_elsewhere(&self, types: &Types, known: &BTreeSet<String>) -> Vec<Dangling> {
        self.absent(types, known, true)
    }

    /// The references to resources that it does not have: those that clients have from
    /// elsewhere, or the others.
    fn absent(&self, types: &Types, known: &BTreeSet<String>, elsewhere: bool) -> Vec<Dangling> {
        let kinds: Vec<(Kind, &Arc<Collection>)> =
            self.types.iter().map(|(url, it)| (types.kind(url), it)).collect();
        let mut found = Vec::new();
        for (type_url, collection) in &self.types {
            for resource in collection.iter() {
                for reference in &resource.references {
                    let is_known =
                        reference.kind == Kind::CLUSTER && known.contains(&*reference.name);
                    let mut same_kind = kinds.iter().filter(|(kind, _)| *kind == reference.kind);
                    // Clients ask for these here, and wait.
                    let is_asked_for = reference.kind.is_always_asked_for();
                    let is_elsewhere = !is_asked_for && same_kind.clone().next().is_none();
                    let counts = reference.is_required || is_asked_for;
                    if counts
                        && !is_known
                        && is_elsewhere == elsewhere
                        && !same_kind.any(|(_, it)| reference.is_met_by(it))
                    {
                        found.push(Dangling {
                            type_url: Arc::clone(type_url),
                            name: Arc::clone(&resource.name),
                            kind: reference.kind,
                            missing: Arc::clone(&reference.name),
                            is_required: reference.is_required,
                        });
                    }
                }
            }
        }
        found.sort();
        found
    }
}
