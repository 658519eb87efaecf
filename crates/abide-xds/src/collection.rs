//! The resources of one type.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

use crate::kind::Kind;
use crate::names::NameSet;
use crate::resource::{Resource, hash};

/// The number of differences to other collections that are remembered: those to what was served
/// before, and to nothing, which new clients have.
const MAX_DIFFERENCES: usize = 4;

/// The number of sets of names for which it is remembered which resources they select: as many
/// kinds of clients may want parts of it without slowing each other down.
const MAX_SELECTIONS: usize = 256;

/// Finds where a resource stands in a list by name, or where it would.
fn place(resources: &[Arc<Resource>], name: &str) -> Result<usize, usize> {
    resources.binary_search_by(|it| (*it.name).cmp(name))
}

/// The resources of one type, with a version over all of them.
#[derive(Debug)]
pub struct Collection {
    /// By name.
    resources: Arc<[Arc<Resource>]>,
    /// Alias to name, where no resource has the alias as its name.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
    version: Arc<str>,
    /// True if the content of one of them is not known.
    has_unknown: bool,
    /// The resources that they refer to.
    references: OnceLock<BTreeMap<Kind, BTreeSet<Arc<str>>>>,
    /// Found once for all clients that have the same.
    differences: Mutex<VecDeque<(Weak<Collection>, Arc<Difference>)>>,
    /// Likewise for all that want the same of it, as long as somebody has it.
    selections: Mutex<VecDeque<(Weak<NameSet>, Weak<Collection>)>>,
}

/// The change that takes a client from one collection to another.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The resources that the old one lacks or has in another version, by name.
    pub(crate) changed: Arc<[Arc<Resource>]>,
    /// The names of the old one that are gone, in order.
    pub(crate) removed: Arc<[Arc<str>]>,
}

impl Difference {
    /// Compares two lists of resources by name. Most are the same in both, so that their
    /// addresses tell.
    fn between(old: &[Arc<Resource>], new: &[Arc<Resource>]) -> Difference {
        let (mut changed, mut removed) = (Vec::new(), Vec::new());
        let mut before = old.iter().peekable();
        for it in new {
            while let Some(gone) = before.next_if(|old| !Arc::ptr_eq(old, it) && old.name < it.name)
            {
                removed.push(Arc::clone(&gone.name));
            }
            let same = before.next_if(|old| Arc::ptr_eq(old, it) || old.name == it.name);
            if same.is_none_or(|old| !Arc::ptr_eq(old, it) && old.version != it.version) {
                changed.push(Arc::clone(it));
            }
        }
        removed.extend(before.map(|it| Arc::clone(&it.name)));
        Difference { changed: changed.into(), removed: removed.into() }
    }

    /// Returns true if a resource of this name is among those that changed.
    pub(crate) fn has_changed(&self, name: &str) -> bool {
        place(&self.changed, name).is_ok()
    }

    /// Returns true if this name is among those that are gone.
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
        let mut resources: Vec<Arc<Resource>> = resources.into_iter().collect();
        // Mostly they are in order already, so that this is little work.
        resources.sort_by(|one, other| one.name.cmp(&other.name));
        resources.dedup_by(|later, kept| {
            let is_same = later.name == kept.name;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        let mut aliases = BTreeMap::new();
        for resource in &resources {
            for alias in resource.aliases.iter().filter(|it| place(&resources, it).is_err()) {
                aliases.entry(Arc::clone(alias)).or_insert_with(|| Arc::clone(&resource.name));
            }
        }
        let parts = resources.iter().flat_map(|it| [it.name.as_bytes(), it.version.as_bytes()]);
        let version = hash(parts);
        Collection {
            has_unknown: resources.iter().any(|it| !it.is_known),
            resources: resources.into(),
            aliases,
            version,
            references: OnceLock::new(),
            differences: Mutex::default(),
            selections: Mutex::default(),
        }
    }

    /// The collection without resources.
    pub fn nothing() -> &'static Arc<Collection> {
        static NOTHING: LazyLock<Arc<Collection>> = LazyLock::new(Arc::default);
        &NOTHING
    }

    /// A hash over the names and versions of its resources.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// Its resources, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Resource>> {
        self.resources.iter()
    }

    /// The resource with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Resource>> {
        place(&self.resources, name).ok().map(|at| &self.resources[at])
    }

    /// The resource with this name or alias.
    pub fn find(&self, name_or_alias: &str) -> Option<&Arc<Resource>> {
        self.get(name_or_alias).or_else(|| self.get(self.aliases.get(name_or_alias)?))
    }

    /// The number of resources it has.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Returns true if it has no resource.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The same with some resources put in and others taken out.
    pub(crate) fn with(&self, changes: BTreeMap<Arc<str>, Option<Arc<Resource>>>) -> Collection {
        let stays = self.iter().filter(|it| !changes.contains_key(&it.name)).cloned();
        Collection::of(stays.chain(changes.values().flatten().cloned()))
    }

    /// Its resources by name, the same list for all who ask.
    pub(crate) fn all(&self) -> Arc<[Arc<Resource>]> {
        Arc::clone(&self.resources)
    }

    /// Returns true if the content of one of its resources is not known, which then may refer to anything.
    pub(crate) fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    /// The same with the contents that `served` has of versions which a client only named. `None` if it
    /// has none of them.
    pub(crate) fn recognized(&self, served: &Collection) -> Option<Collection> {
        if !self.has_unknown {
            return None;
        }
        let is_it = |it: &&Arc<Resource>| {
            self.get(&it.name).is_some_and(|own| !own.is_known && own.version == it.version)
        };
        let found =
            served.iter().filter(is_it).map(|it| (Arc::clone(&it.name), Some(Arc::clone(it))));
        let found: BTreeMap<_, _> = found.collect();
        (!found.is_empty()).then(|| self.with(found))
    }

    /// Returns true if one of its resources refers to this one.
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

    /// Returns the change that takes a client from `old` to this one: the same answer for all who
    /// ask soon after one another.
    pub(crate) fn since(&self, old: &Arc<Collection>) -> Arc<Difference> {
        let mut known = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(it, _): &&(Weak<Collection>, _)| std::ptr::eq(it.as_ptr(), &raw const **old);
        if let Some((_, difference)) = known.iter().find(is_it) {
            return Arc::clone(difference);
        }
        let difference = Arc::new(Difference::between(&old.resources, &self.resources));
        known.truncate(MAX_DIFFERENCES - 1);
        known.push_front((Arc::downgrade(old), Arc::clone(&difference)));
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(all: &[(&str, &str)]) -> Arc<Collection> {
        Arc::new(Collection::of(
            all.iter().map(|(name, body)| Arc::new(Resource::new(name, body.as_bytes().to_vec()))),
        ))
    }

    fn difference(old: &Arc<Collection>, new: &Arc<Collection>) -> (Vec<String>, Vec<String>) {
        let difference = new.since(old);
        let changed = difference.changed.iter().map(|it| it.name.to_string());
        (changed.collect(), difference.removed.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn of_two_resources_with_one_name_the_last_stays() {
        let all = collection(&[("b", "1"), ("a", "1"), ("b", "2"), ("c", "1"), ("b", "3")]);
        let names: Vec<&str> = all.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(all.get("b").map(|it| &*it.body), Some(&b"3"[..]));
        assert!(all.get("d").is_none());
    }

    /// Every pair of parts of four resources in three versions, by the definition.
    #[test]
    fn a_difference_is_that_of_its_definition() {
        let names = ["a", "b", "c", "d"];
        let states = 4_usize.pow(4);
        let made: Vec<Arc<Collection>> = (0..states)
            .map(|state| {
                let bodies = ["1", "2", "3"];
                let body = |at: usize| (state / 4_usize.pow(at as u32) % 4).checked_sub(1);
                let all: Vec<(&str, &str)> =
                    (0..4).filter_map(|at| Some((names[at], bodies[body(at)?]))).collect();
                collection(&all)
            })
            .collect();
        // Equal resources have other addresses here, and the same ones there.
        let shared = |state: usize| {
            let own = |it: &Arc<Resource>| {
                let same = made[states - 1].get(&it.name).filter(|same| same.version == it.version);
                Arc::clone(same.unwrap_or(it))
            };
            Arc::new(Collection::of(made[state].iter().map(own)))
        };
        for old in 0..states {
            for new in 0..states {
                let version =
                    |state: usize, name: &str| made[state].get(name).map(|it| &it.version);
                let differs = |name: &&str| {
                    version(new, name).is_some() && version(old, name) != version(new, name)
                };
                let is_gone =
                    |name: &&str| version(old, name).is_some() && version(new, name).is_none();
                let text = |it: &str| it.to_owned();
                let expected: (Vec<String>, Vec<String>) = (
                    names.into_iter().filter(differs).map(text).collect(),
                    names.into_iter().filter(is_gone).map(text).collect(),
                );
                assert_eq!(difference(&made[old], &made[new]), expected);
                assert_eq!(difference(&shared(old), &shared(new)), expected);
            }
        }
    }
}
