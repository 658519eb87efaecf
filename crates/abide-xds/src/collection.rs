//! The resources of one type.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resource::{Resource, hash};

/// The resources of one type, with a version over all of them.
#[derive(Clone, Debug)]
pub struct Collection {
    resources: BTreeMap<Arc<str>, Arc<Resource>>,
    /// Alias to name, where no resource has the alias as its name.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
    version: Arc<str>,
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
        Collection { resources, aliases, version }
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

    /// The resources that `old` lacks or has in another version.
    pub(crate) fn changed_since<'c>(
        &'c self,
        old: &'c Collection,
    ) -> impl Iterator<Item = &'c Arc<Resource>> {
        let held = |it: &Resource| old.get(&it.name).is_some_and(|old| old.version == it.version);
        self.iter().filter(move |it| !held(it))
    }

    /// The names of `old` that are gone.
    pub(crate) fn removed_since<'c>(
        &'c self,
        old: &'c Collection,
    ) -> impl Iterator<Item = &'c Arc<str>> {
        old.resources.keys().filter(|name| !self.resources.contains_key(*name))
    }
}
