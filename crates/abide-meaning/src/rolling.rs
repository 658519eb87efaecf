//! The second stage for a tree that changes file by file, as in a history: only
//! types that depend on a change are hashed again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use crate::closure::{PACKAGE_CLOSURE, PACKAGE_OWN, write_component, write_own, write_unit};
use crate::facts::Facts;
use crate::hash::{Hashes, SemanticHash};
use crate::meaning::{HashedElement, Meaning};

/// The hashes of the packages of a tree whose files change. After every
/// [`settle`](RollingHashes::settle) they are those of
/// [`TreeHashes`](crate::TreeHashes) over the same files.
#[derive(Debug, Default)]
pub struct RollingHashes {
    files: FxHashMap<Arc<str>, Meaning>,
    /// Where each type is declared: the file and the element in it.
    declared: FxHashMap<Box<str>, BTreeSet<(Arc<str>, u32)>>,
    /// The files that refer to each type.
    users: FxHashMap<Box<str>, BTreeSet<Arc<str>>>,
    by_package: FxHashMap<Box<str>, BTreeSet<Arc<str>>>,
    /// The closure of each type.
    types: FxHashMap<Box<str>, SemanticHash>,
    packages: BTreeMap<Box<str>, Hashes>,
    /// The types that changed since the last settling.
    changed: BTreeSet<Box<str>>,
    /// The packages whose files changed.
    stale: BTreeSet<Box<str>>,
}

/// How a package changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageStep {
    /// Its hashes before; `None` if it did not exist.
    pub before: Option<Hashes>,
    /// Its hashes now; `None` if it was removed.
    pub after: Option<Hashes>,
    /// The nearest type that it depends on and that changed itself.
    pub cause: Option<String>,
}

impl PackageStep {
    /// Whether the meaning of its own elements is unchanged, and only that of their
    /// dependencies changed.
    pub fn is_catch_up(&self) -> bool {
        let (Some(before), Some(after)) = (self.before, self.after) else { return false };
        before.own == after.own && before.closure != after.closure
    }
}

/// The types of a file: name, own hash, and what each refers to.
fn types_of(meaning: &Meaning) -> BTreeSet<(&str, SemanticHash, Vec<&str>)> {
    let refers = |element: &HashedElement| {
        let mut names: Vec<&str> = meaning.referred(element).collect();
        names.sort_unstable();
        names
    };
    meaning
        .types()
        .map(|(_, element)| (meaning.name(element), element.own, refers(element)))
        .collect()
}

/// The distance of a type from one that changed itself, and the name of that one.
type Cause<'n> = (u32, &'n str);

impl RollingHashes {
    /// Replaces the meaning of a file; `None` removes the file.
    pub fn set(&mut self, path: &str, meaning: Option<Meaning>) {
        let before = self.files.get(path);
        if before == meaning.as_ref() {
            return;
        }
        let types = |meaning: Option<_>| meaning.map(types_of).unwrap_or_default();
        let (old, new) = (types(before), types(meaning.as_ref()));
        self.changed.extend(old.symmetric_difference(&new).map(|it| Box::from(it.0)));
        let path: Arc<str> = path.into();
        if let Some(before) = self.files.remove(&path) {
            for (at, element) in before.types() {
                if let Some(places) = self.declared.get_mut(before.name(element)) {
                    places.remove(&(Arc::clone(&path), at));
                }
            }
            for name in before.names.iter() {
                if let Some(users) = self.users.get_mut(name) {
                    users.remove(&path);
                }
            }
            if let Some(files) = self.by_package.get_mut(&before.package) {
                files.remove(&path);
            }
            self.stale.insert(before.package);
        }
        let Some(meaning) = meaning else { return };
        for (at, element) in meaning.types() {
            let places = self.declared.entry(meaning.name(element).into()).or_default();
            places.insert((Arc::clone(&path), at));
        }
        for name in meaning.names.iter() {
            self.users.entry(name.into()).or_default().insert(Arc::clone(&path));
        }
        let package = meaning.package.clone();
        self.by_package.entry(package.clone()).or_default().insert(Arc::clone(&path));
        self.stale.insert(package);
        self.files.insert(path, meaning);
    }

    /// The hashes of a package at the last settling.
    pub fn package(&self, name: &str) -> Option<Hashes> {
        self.packages.get(name).copied()
    }

    /// Updates the hashes to the files, and returns the packages whose hashes
    /// changed.
    pub fn settle(&mut self) -> BTreeMap<String, PackageStep> {
        let changed = std::mem::take(&mut self.changed);
        let mut stale = std::mem::take(&mut self.stale);
        let causes = self.causes(&changed, &mut stale);
        self.hash_types(&causes);
        let mut steps = BTreeMap::new();
        let mut facts = Facts::default();
        for package in stale {
            let reached = self.reached(&package);
            let before = self.packages.get(&package).copied();
            let after = self.hash_package(&package, &reached, &mut facts);
            if before == after {
                continue;
            }
            let cause = reached.iter().filter_map(|name| causes.get(*name)).min();
            let cause = cause.map(|(_, name)| (*name).to_owned());
            match after {
                Some(after) => drop(self.packages.insert(package.clone(), after)),
                None => drop(self.packages.remove(&package)),
            }
            steps.insert(package.into(), PackageStep { before, after, cause });
        }
        steps
    }

    /// Every changed type and every type that depends on one. The packages that
    /// refer to these become stale.
    fn causes<'n>(
        &self,
        changed: &'n BTreeSet<Box<str>>,
        stale: &mut BTreeSet<Box<str>>,
    ) -> FxHashMap<Box<str>, Cause<'n>> {
        let mut causes: FxHashMap<Box<str>, Cause<'n>> = FxHashMap::default();
        let mut open: VecDeque<Box<str>> = changed.iter().cloned().collect();
        causes.extend(changed.iter().map(|name| (name.clone(), (0, &**name))));
        while let Some(name) = open.pop_front() {
            let (distance, cause) = causes[&name];
            for (path, _) in self.declared.get(&name).into_iter().flatten() {
                stale.insert(self.files[path].package.clone());
            }
            for path in self.users.get(&name).into_iter().flatten() {
                let meaning = &self.files[path];
                let uses = |user: &&HashedElement| meaning.referred(user).any(|it| *it == *name);
                for user in meaning.elements.iter().filter(uses) {
                    if !user.kind.is_type() {
                        stale.insert(meaning.package.clone());
                    } else if !causes.contains_key(meaning.name(user)) {
                        let user: Box<str> = meaning.name(user).into();
                        causes.insert(user.clone(), (distance + 1, cause));
                        open.push_back(user);
                    }
                }
            }
        }
        causes
    }

    /// The types that an element refers to. Protobuf's own types only count in
    /// protobuf's own files.
    fn references<'m>(
        &'m self,
        meaning: &'m Meaning,
        element: &'m HashedElement,
    ) -> impl Iterator<Item = &'m str> {
        meaning.referred(element).filter(|name| {
            let places = self.declared.get(*name);
            let own = |(path, _): &(Arc<str>, u32)| self.files[path].is_well_known;
            let is_there = places.is_some_and(|it| !it.is_empty());
            is_there && (meaning.is_well_known || !places.into_iter().flatten().all(own))
        })
    }

    /// The declarations of a type.
    fn declarations(&self, name: &str) -> impl Iterator<Item = (&Meaning, &HashedElement)> {
        self.declared.get(name).into_iter().flatten().map(|(path, at)| {
            let meaning = &self.files[path];
            (meaning, &meaning.elements[*at as usize])
        })
    }

    /// Hashes these types again; all others are unchanged.
    fn hash_types(&mut self, affected: &FxHashMap<Box<str>, Cause<'_>>) {
        let mut names: Vec<&str> = affected.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names.retain(|name| {
            let is_there = self.declared.get(*name).is_some_and(|it| !it.is_empty());
            if !is_there {
                self.declared.remove(*name);
                self.types.remove(*name);
            }
            is_there
        });
        let mut graph: DiGraph<&str, ()> = DiGraph::new();
        let nodes: FxHashMap<&str, _> =
            names.iter().map(|name| (*name, graph.add_node(*name))).collect();
        for name in &names {
            for (meaning, element) in self.declarations(name) {
                for target in self.references(meaning, element).filter(|it| it != name) {
                    if let Some(target) = nodes.get(target) {
                        graph.add_edge(nodes[name], *target, ());
                    }
                }
            }
        }
        let mut facts = Facts::default();
        // Each component comes after those it refers to.
        for members in kosaraju_scc(&graph) {
            let members: BTreeSet<&str> = members.into_iter().map(|node| graph[node]).collect();
            let mut owns = Vec::new();
            let mut others = BTreeSet::new();
            for name in &members {
                for (meaning, element) in self.declarations(name) {
                    owns.push(element.own);
                    let targets = self.references(meaning, element);
                    let outside = targets.filter(|it| !members.contains(it));
                    others.extend(outside.filter_map(|it| self.types.get(it)));
                }
            }
            write_component(&mut facts, owns, others);
            let closure = facts.hash();
            self.types.extend(members.into_iter().map(|name| (name.into(), closure)));
        }
    }

    /// The types that a package's closure includes directly.
    fn reached(&self, package: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        for path in self.by_package.get(package).into_iter().flatten() {
            let meaning = &self.files[path];
            for element in meaning.elements.iter().filter(|it| it.is_top) {
                if element.kind.is_type() {
                    reached.insert(meaning.name(element));
                } else {
                    reached.extend(self.references(meaning, element));
                }
            }
        }
        reached
    }

    fn hash_package(
        &self,
        package: &str,
        reached: &BTreeSet<&str>,
        facts: &mut Facts,
    ) -> Option<Hashes> {
        let files = self.by_package.get(package).filter(|files| !files.is_empty())?;
        write_own(facts, PACKAGE_OWN, files.iter().map(|path| &self.files[path]));
        let own = facts.hash();
        let closures = reached.iter().filter_map(|name| Some((*name, *self.types.get(*name)?)));
        write_unit(facts, PACKAGE_CLOSURE, own, closures);
        Some(Hashes { own, closure: facts.hash() })
    }
}
