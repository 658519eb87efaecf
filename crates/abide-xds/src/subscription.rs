//! What a client wants of one type.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::collection::Collection;

/// The name that stands for all resources.
const WILDCARD: &str = "*";

/// What a client wants of one type: names or aliases, everything, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscription {
    is_wildcard: bool,
    names: BTreeSet<Arc<str>>,
    /// How many bytes the names have in all.
    bytes: usize,
    /// Whether it named a resource before: then naming none means wanting none.
    has_named: bool,
}

impl Subscription {
    /// What it becomes by a request in the state of the world. Returns the names
    /// that are in it and were not before.
    pub(crate) fn replace(&mut self, names: &[String]) -> Vec<Arc<str>> {
        self.has_named |= !names.is_empty();
        let was_wildcard = self.is_wildcard;
        self.is_wildcard = !self.has_named || names.iter().any(|it| it == WILDCARD);
        let names = names.iter().filter(|it| *it != WILDCARD);
        let names: BTreeSet<Arc<str>> = names.map(|it| it.as_str().into()).collect();
        let old = std::mem::replace(&mut self.names, names);
        self.bytes = self.names.iter().map(|it| it.len()).sum();
        let mut added: Vec<Arc<str>> = self.names.difference(&old).cloned().collect();
        if self.is_wildcard && !was_wildcard {
            added.push(WILDCARD.into());
        }
        added
    }

    /// What it becomes by the first incremental request: one without names wants
    /// everything.
    pub(crate) fn begin(&mut self, subscribe: &[String]) {
        self.is_wildcard = subscribe.is_empty();
        self.add(subscribe);
    }

    /// Adds names or aliases.
    pub(crate) fn add(&mut self, names: &[String]) {
        for name in names {
            match name.as_str() {
                WILDCARD => self.is_wildcard = true,
                name if self.names.insert(name.into()) => self.bytes += name.len(),
                _ => {}
            }
        }
    }

    /// Takes names or aliases out; those that are not in it are passed over.
    pub(crate) fn remove(&mut self, names: &[String]) {
        for name in names {
            match name.as_str() {
                WILDCARD => self.is_wildcard = false,
                name if self.names.remove(name) => self.bytes -= name.len(),
                _ => {}
            }
        }
    }

    /// Whether it wants everything.
    pub(crate) fn is_wildcard(&self) -> bool {
        self.is_wildcard
    }

    /// Its names, in order; the wildcard is none.
    pub(crate) fn all_names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.names.iter()
    }

    /// How many names it has.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// How many bytes its names have in all.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it has this name, the wildcard being one.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name) || name == WILDCARD && self.is_wildcard
    }

    /// Whether it names this resource or one of its aliases.
    pub(crate) fn names(&self, resource: &crate::Resource) -> bool {
        self.names.contains(&resource.name)
            || resource.aliases.iter().any(|alias| self.names.contains(alias))
    }

    /// Whether it wants this resource.
    pub(crate) fn wants(&self, resource: &crate::Resource) -> bool {
        self.is_wildcard || self.names(resource)
    }

    /// What of a collection it wants.
    pub(crate) fn of(&self, all: &Arc<Collection>) -> Arc<Collection> {
        if self.is_wildcard {
            return Arc::clone(all);
        }
        Arc::new(Collection::of(self.names.iter().filter_map(|name| all.find(name)).cloned()))
    }
}
