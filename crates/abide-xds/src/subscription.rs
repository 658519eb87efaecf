//! The resources of one type that a client subscribes to.

use std::sync::Arc;

use crate::collection::Collection;
use crate::names::{NameSet, SharedNames};

/// The name that stands for all resources.
const WILDCARD: &str = "*";

/// The resources of one type that a client wants: names or aliases, everything, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscription {
    is_wildcard: bool,
    names: Arc<NameSet>,
    shared: Arc<SharedNames>,
    /// True if it named a resource before: then naming none means wanting none.
    has_named: bool,
}

/// The names of resources among those of a request.
fn resources(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str).filter(|it| *it != WILDCARD)
}

impl Subscription {
    /// One that nothing was asked for yet; its names are shared with others.
    pub(crate) fn new(shared: &Arc<SharedNames>) -> Subscription {
        Subscription { shared: Arc::clone(shared), ..Subscription::default() }
    }

    /// Replaces it by a request in the state of the world. Returns the names
    /// that are in it and were not before.
    pub(crate) fn replace(&mut self, names: &[String]) -> Vec<Arc<str>> {
        self.has_named |= !names.is_empty();
        let was_wildcard = self.is_wildcard;
        self.is_wildcard = !self.has_named || names.iter().any(|it| it == WILDCARD);
        let names = self.shared.of(resources(names));
        let old = std::mem::replace(&mut self.names, names);
        let mut added: Vec<Arc<str>> = match Arc::ptr_eq(&self.names, &old) {
            true => Vec::new(),
            false => self.names.without(&old).cloned().collect(),
        };
        if self.is_wildcard && !was_wildcard {
            added.push(WILDCARD.into());
        }
        added
    }

    /// Begins it with the first incremental request: one without names wants
    /// everything.
    pub(crate) fn begin(&mut self, subscribe: &[String]) {
        self.is_wildcard = subscribe.is_empty();
        self.add(subscribe);
    }

    /// Adds names or aliases.
    pub(crate) fn add(&mut self, names: &[String]) {
        self.is_wildcard |= names.iter().any(|it| it == WILDCARD);
        self.names = self.shared.with(&self.names, resources(names));
    }

    /// Takes names or aliases out; those that are not in it are passed over. Returns whether any was.
    pub(crate) fn remove(&mut self, names: &[String]) -> bool {
        let is_less = self.is_wildcard && names.iter().any(|it| it == WILDCARD);
        self.is_wildcard &= !is_less;
        let names = self.shared.without(&self.names, resources(names));
        let old = std::mem::replace(&mut self.names, names);
        is_less || self.names.len() < old.len()
    }

    /// Returns true if it wants everything.
    pub(crate) fn is_wildcard(&self) -> bool {
        self.is_wildcard
    }

    /// Its names, in order; the wildcard is none.
    pub(crate) fn all_names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.names.iter()
    }

    /// The number of names it has.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of bytes its names have in all.
    pub(crate) fn bytes(&self) -> usize {
        self.names.bytes()
    }

    /// Returns true if it has this name, the wildcard being one.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name) || name == WILDCARD && self.is_wildcard
    }

    /// Returns true if it names this resource or one of its aliases.
    pub(crate) fn names(&self, resource: &crate::Resource) -> bool {
        self.names.contains(&resource.name)
            || resource.aliases.iter().any(|alias| self.names.contains(alias))
    }

    /// Returns true if it wants what has this name or alias.
    pub(crate) fn wants_name(&self, name: &str) -> bool {
        self.is_wildcard || self.names.contains(name)
    }

    /// Returns true if it wants this resource.
    pub(crate) fn wants(&self, resource: &crate::Resource) -> bool {
        self.is_wildcard || self.names(resource)
    }

    /// Selects the resources of a collection that it wants.
    pub(crate) fn of(&self, all: &Arc<Collection>) -> Arc<Collection> {
        match self.is_wildcard {
            true => Arc::clone(all),
            false => all.selected(&self.names),
        }
    }

    /// The set of names.
    pub(crate) fn set(&self) -> &Arc<NameSet> {
        &self.names
    }
}
