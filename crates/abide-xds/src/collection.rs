//! The resources of one type.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

use crate::kind::Kind;
use crate::names::NameSet;
use crate::resource::{Resource, hash};

/// How many differences to other collections are remembered: those to what was served before, and
/// to nothing, which new clients have.
const MAX_DIFFERENCES: usize = 4;

/// How many sets of names it is remembered for which resources they select: as many kinds of clients may
/// want parts of it without slowing each other down.
const MAX_SELECTIONS: usize = 256;

/// The resources of one type, with a version over all of them.
#[derive(Debug)]
pub struct Collection {
    resources: BTreeMap<Arc<str>, Arc<Resource>>,
    /// Alias to name, where no resource has the alias as its name.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
    version: Arc<str>,
    /// Its resources, as a response has them that holds all.
    all: OnceLock<Arc<[Arc<Resource>]>>,
    /// What they refer to.
    references: OnceLock<BTreeMap<Kind, BTreeSet<Arc<str>>>>,
    /// Found once for all clients that have the same.
    differences: Mutex<VecDeque<(Weak<Collection>, Arc<Difference>)>>,
    /// Likewise for all that want the same of it, as long as somebody has it.
    selections: Mutex<VecDeque<(Weak<NameSet>, Weak<Collection>)>>,
}

/// What takes a client from one collection to another.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The resources that the old one lacks or has in another version, by name.
    pub(crate) changed: Arc<[Arc<Resource>]>,
    /// The names of the old one that are gone, in order.
    pub(crate) removed: Arc<[Arc<str>]>,
}

impl Difference {
    /// Whether a resource of this name is among those that changed.
    pub(crate) fn has_changed(&self, name: &str) -> bool {
        self.changed.binary_search_by(|it| (*it.name).cmp(name)).is_ok()
    }

    /// Whether this name is among those that are gone.
    pub(crate) fn has_removed(&self, name: &str) -> bool {
        self.removed.binary_search_by(|it| (**it).cmp(name)).is_ok()
    }
}

impl Default for Collection {
    fn default() -> Collection {
        Collection::of([])
    }
}

impl Collection {
    /// The collection of these resources; of two with one name the last.
    pub fn of(resources: impl IntoIterator<Item = Arc<Resource>>) -> Collection {
        let resources: BTreeMap<Arc<str>, Arc<Resource>> =
            resources.into_iter().map(|it| (Arc::clone(&it.name), it)).collect();
        let mut aliases = BTreeMap::new();
        for resource in resources.values() {
            for alias in resource.aliases.iter().filter(|it| !resources.contains_key(*it)) {
                aliases.entry(Arc::clone(alias)).or_insert_with(|| Arc::clone(&resource.name));
            }
        }
        let parts = resources.values().flat_map(|it| [it.name.as_bytes(), it.version.as_bytes()]);
        let version = hash(parts);
        Collection {
            resources,
            aliases,
            version,
            all: OnceLock::new(),
            references: OnceLock::new(),
            differences: Mutex::default(),
            selections: Mutex::default(),
        }
    }

    /// The collection without resources.
    pub(crate) fn nothing() -> &'static Arc<Collection> {
        static NOTHING: LazyLock<Arc<Collection>> = LazyLock::new(Arc::default);
        &NOTHING
    }

    /// A hash over the names and versions of its resources.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// Its resources, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// The resource with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Resource>> {
        self.resources.get(name)
    }

    /// The resource with this name or alias.
    pub fn find(&self, name_or_alias: &str) -> Option<&Arc<Resource>> {
        self.get(name_or_alias).or_else(|| self.get(self.aliases.get(name_or_alias)?))
    }

    /// How many resources it has.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether it has no resource.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The same with some resources put in and others taken out.
    pub(crate) fn with(&self, changes: BTreeMap<Arc<str>, Option<Arc<Resource>>>) -> Collection {
        let mut resources = self.resources.clone();
        for (name, change) in changes {
            match change {
                Some(resource) => resources.insert(name, resource),
                None => resources.remove(&name),
            };
        }
        Collection::of(resources.into_values())
    }

    /// Its resources by name, the same list for all who ask.
    pub(crate) fn all(&self) -> Arc<[Arc<Resource>]> {
        Arc::clone(self.all.get_or_init(|| self.iter().cloned().collect()))
    }

    /// Whether one of its resources refers to this one.
    pub(crate) fn refers_to(&self, kind: Kind, name: &str) -> bool {
        let references = self.references.get_or_init(|| {
            let mut all: BTreeMap<Kind, BTreeSet<Arc<str>>> = BTreeMap::new();
            for it in self.iter().flat_map(|it| &it.references) {
                all.entry(it.kind).or_default().insert(Arc::clone(&it.name));
            }
            all
        });
        references.get(&kind).is_some_and(|it| it.contains(name))
    }

    /// Those of its resources that have one of these names or aliases: the same answer for all who
    /// ask for the same, as long as one of them has it.
    pub(crate) fn selected(&self, names: &Arc<NameSet>) -> Arc<Collection> {
        let is_it = |(it, _): &(Weak<NameSet>, Weak<Collection>)| {
            std::ptr::eq(it.as_ptr(), &raw const **names)
        };
        let mut known = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(is_it);
        if let Some(selected) = at.and_then(|at| known[at].1.upgrade()) {
            return selected;
        }
        // Whoever asks for the same meanwhile waits, and does not find it again.
        let found = names.iter().filter_map(|name| self.find(name)).cloned();
        let selected = Arc::new(Collection::of(found));
        if let Some(at) = at {
            known.remove(at);
        }
        known.truncate(MAX_SELECTIONS - 1);
        known.push_front((Arc::downgrade(names), Arc::downgrade(&selected)));
        selected
    }

    /// What takes a client from `old` to this one: the same answer for all who ask soon after one
    /// another.
    pub(crate) fn since(&self, old: &Arc<Collection>) -> Arc<Difference> {
        let mut known = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(it, _): &&(Weak<Collection>, _)| std::ptr::eq(it.as_ptr(), &raw const **old);
        if let Some((_, difference)) = known.iter().find(is_it) {
            return Arc::clone(difference);
        }
        let held = |it: &Resource| old.get(&it.name).is_some_and(|old| old.version == it.version);
        let is_gone = |name: &&Arc<str>| !self.resources.contains_key(*name);
        let difference = Arc::new(Difference {
            changed: self.iter().filter(|it| !held(it)).cloned().collect(),
            removed: old.resources.keys().filter(is_gone).cloned().collect(),
        });
        known.truncate(MAX_DIFFERENCES - 1);
        known.push_front((Arc::downgrade(old), Arc::clone(&difference)));
        difference
    }
}
