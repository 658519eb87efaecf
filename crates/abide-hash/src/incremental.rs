//! The second stage for a tree that changes file by file, as in a history: only
//! types that depend on a change are hashed again.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use crate::canonical_file::{CanonicalFile, HashedElement};
use crate::closure::{PACKAGE_CLOSURE, PACKAGE_OWN, write_component, write_own, write_unit};
use crate::facts::Facts;
use crate::hash::{Hashes, SemanticHash};

/// A name of a type, or of another element that a file has: an index.
type NameId = u32;

/// A path of a file: an index.
type FileId = u32;

/// Texts with numbers, in the order in which they came. None is forgotten.
#[derive(Debug, Default)]
struct NumberedTexts {
    ids: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl NumberedTexts {
    fn add(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let text: Arc<str> = text.into();
        let id = self.texts.len() as u32;
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    fn text(&self, id: u32) -> &str {
        &self.texts[id as usize]
    }
}

/// A file that is there.
#[derive(Debug)]
struct KnownFile {
    meaning: CanonicalFile,
    /// The number of each of its names.
    names: Box<[NameId]>,
}

impl KnownFile {
    fn name(&self, element: &HashedElement) -> NameId {
        self.names[element.name as usize]
    }

    fn referred(&self, element: &HashedElement) -> impl Iterator<Item = NameId> {
        self.meaning.references(element).iter().map(|index| self.names[*index as usize])
    }
}

/// The hashes of the packages of a tree whose files change. After every
/// [`update`](IncrementalHashes::update) they are those of
/// [`TreeHashes`](crate::TreeHashes) over the same files.
#[derive(Debug, Default)]
pub struct IncrementalHashes {
    names: NumberedTexts,
    paths: NumberedTexts,
    /// By path.
    files: Vec<Option<KnownFile>>,
    /// The declarations of each type: the file and the element in it.
    declared: BTreeSet<(NameId, FileId, u32)>,
    /// The files that have each name.
    users: BTreeSet<(NameId, FileId)>,
    by_package: FxHashMap<Box<str>, BTreeSet<FileId>>,
    /// The closure of each name that is a type.
    types: Vec<Option<SemanticHash>>,
    packages: BTreeMap<Box<str>, Hashes>,
    /// The types that changed since the last settling.
    changed: BTreeSet<NameId>,
    /// The packages whose files changed.
    stale: BTreeSet<Box<str>>,
}

/// The change of a package in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageChange {
    /// Its hashes before; `None` if it did not exist.
    pub before: Option<Hashes>,
    /// Its hashes now; `None` if it was removed.
    pub after: Option<Hashes>,
    /// The nearest type that it depends on and that changed itself.
    pub cause: Option<String>,
}

impl PackageChange {
    /// Returns true if the meaning of its own elements is unchanged, and only that of their
    /// dependencies changed.
    pub fn is_catch_up(&self) -> bool {
        let (Some(before), Some(after)) = (self.before, self.after) else { return false };
        before.own == after.own && before.closure != after.closure
    }
}

/// The types of a file: name, own hash, and what each refers to.
fn collect_types(meaning: &CanonicalFile) -> BTreeSet<(&str, SemanticHash, Vec<&str>)> {
    let refers = |element: &HashedElement| {
        let mut names: Vec<&str> = meaning.referred_names(element).collect();
        names.sort_unstable();
        names
    };
    meaning
        .types()
        .map(|(_, element)| (meaning.name(element), element.own, refers(element)))
        .collect()
}

/// The distance of a type from one that changed itself, and that one.
type Cause = (u32, NameId);

impl IncrementalHashes {
    /// Replaces the meaning of a file; `None` removes the file.
    pub fn set(&mut self, path: &str, meaning: Option<CanonicalFile>) {
        let file = self.paths.add(path);
        self.files.resize_with(self.paths.texts.len(), || None);
        let before = self.files[file as usize].take();
        if before.as_ref().map(|it| &it.meaning) == meaning.as_ref() {
            self.files[file as usize] = before;
            return;
        }
        let types = |meaning: Option<_>| meaning.map(collect_types).unwrap_or_default();
        let old = types(before.as_ref().map(|it| &it.meaning));
        let new = types(meaning.as_ref());
        for (name, ..) in old.symmetric_difference(&new) {
            self.changed.insert(self.names.add(name));
        }
        if let Some(before) = &before {
            for (at, element) in before.meaning.types() {
                self.declared.remove(&(before.name(element), file, at));
            }
            for name in &before.names {
                self.users.remove(&(*name, file));
            }
            let package = &before.meaning.package;
            if let Some(files) = self.by_package.get_mut(package) {
                files.remove(&file);
            }
            self.stale.insert(package.clone());
        }
        let Some(meaning) = meaning else { return };
        let names = meaning.names.iter().map(|name| self.names.add(name)).collect();
        let known = KnownFile { meaning, names };
        self.types.resize(self.names.texts.len(), None);
        let types = known.meaning.types();
        self.declared.extend(types.map(|(at, element)| (known.name(element), file, at)));
        self.users.extend(known.names.iter().map(|name| (*name, file)));
        let package = &known.meaning.package;
        self.by_package.entry(package.clone()).or_default().insert(file);
        self.stale.insert(package.clone());
        self.files[file as usize] = Some(known);
    }

    /// The hashes of a package at the last settling.
    pub fn package(&self, name: &str) -> Option<Hashes> {
        self.packages.get(name).copied()
    }

    /// Updates the hashes to the files, and returns the packages whose hashes
    /// changed.
    pub fn update(&mut self) -> BTreeMap<String, PackageChange> {
        let changed = std::mem::take(&mut self.changed);
        let mut stale = std::mem::take(&mut self.stale);
        let causes = self.find_causes(changed, &mut stale);
        self.hash_types(&causes);
        let mut steps = BTreeMap::new();
        let mut facts = Facts::default();
        for package in stale {
            let reached = self.collect_reached(&package);
            let before = self.packages.get(&package).copied();
            let after = self.hash_package(&package, &reached, &mut facts);
            if before == after {
                continue;
            }
            let cause = reached.iter().filter_map(|name| causes.get(name));
            let cause = cause.map(|(distance, name)| (distance, self.names.text(*name))).min();
            let cause = cause.map(|(_, name)| name.to_owned());
            match after {
                Some(after) => drop(self.packages.insert(package.clone(), after)),
                None => drop(self.packages.remove(&package)),
            }
            steps.insert(package.into(), PackageChange { before, after, cause });
        }
        steps
    }

    /// Every changed type and every type that depends on one. The packages that
    /// refer to these become stale.
    fn find_causes(
        &self,
        changed: BTreeSet<NameId>,
        stale: &mut BTreeSet<Box<str>>,
    ) -> FxHashMap<NameId, Cause> {
        let mut causes: FxHashMap<NameId, Cause> = FxHashMap::default();
        causes.extend(changed.iter().map(|name| (*name, (0, *name))));
        // The order decides between causes that are equally near: that of names and paths.
        let mut open: Vec<NameId> = changed.into_iter().collect();
        open.sort_unstable_by_key(|name| self.names.text(*name));
        let mut open: VecDeque<NameId> = open.into();
        while let Some(name) = open.pop_front() {
            let (distance, cause) = causes[&name];
            for (declaring, _) in self.declarations(name) {
                stale.insert(declaring.meaning.package.clone());
            }
            let mut users: Vec<FileId> =
                self.users.range((name, 0)..=(name, FileId::MAX)).map(|it| it.1).collect();
            users.sort_unstable_by_key(|file| self.paths.text(*file));
            for file in users.into_iter().filter_map(|it| self.files[it as usize].as_ref()) {
                let uses = |user: &&HashedElement| file.referred(user).any(|it| it == name);
                for user in file.meaning.elements.iter().filter(uses) {
                    if !user.kind.is_type() {
                        stale.insert(file.meaning.package.clone());
                    } else if let Entry::Vacant(entry) = causes.entry(file.name(user)) {
                        open.push_back(*entry.key());
                        entry.insert((distance + 1, cause));
                    }
                }
            }
        }
        causes
    }

    /// The types that an element refers to. Protobuf's own types only count in
    /// protobuf's own files.
    fn references<'k>(
        &'k self,
        file: &'k KnownFile,
        element: &'k HashedElement,
    ) -> impl Iterator<Item = NameId> {
        file.referred(element).filter(|name| {
            let mut places = self.declarations(*name).peekable();
            let is_there = places.peek().is_some();
            is_there && (file.meaning.is_well_known || !places.all(|it| it.0.meaning.is_well_known))
        })
    }

    /// The declarations of a type.
    fn declarations(&self, name: NameId) -> impl Iterator<Item = (&KnownFile, &HashedElement)> {
        let places = self.declared.range((name, 0, 0)..=(name, FileId::MAX, u32::MAX));
        places.filter_map(|(_, file, at)| {
            let known = self.files[*file as usize].as_ref()?;
            Some((known, &known.meaning.elements[*at as usize]))
        })
    }

    /// Hashes these types again; all others are unchanged.
    fn hash_types(&mut self, affected: &FxHashMap<NameId, Cause>) {
        let mut names: Vec<NameId> = affected.keys().copied().collect();
        names.sort_unstable();
        names.retain(|name| {
            let is_there = self.declarations(*name).next().is_some();
            if !is_there {
                self.types[*name as usize] = None;
            }
            is_there
        });
        let mut graph: DiGraph<NameId, ()> = DiGraph::new();
        let nodes: FxHashMap<NameId, _> =
            names.iter().map(|name| (*name, graph.add_node(*name))).collect();
        for &name in &names {
            for (file, element) in self.declarations(name) {
                for target in self.references(file, element).filter(|it| *it != name) {
                    if let Some(target) = nodes.get(&target) {
                        graph.add_edge(nodes[&name], *target, ());
                    }
                }
            }
        }
        let mut facts = Facts::default();
        // Each component comes after those it refers to.
        for members in kosaraju_scc(&graph) {
            let members: BTreeSet<NameId> = members.into_iter().map(|node| graph[node]).collect();
            let mut owns = Vec::new();
            let mut others = BTreeSet::new();
            for &name in &members {
                for (file, element) in self.declarations(name) {
                    owns.push(element.own);
                    let targets = self.references(file, element);
                    let outside = targets.filter(|it| !members.contains(it));
                    others.extend(outside.filter_map(|it| self.types[it as usize]));
                }
            }
            write_component(&mut facts, owns, others);
            let closure = facts.hash();
            members.into_iter().for_each(|name| self.types[name as usize] = Some(closure));
        }
    }

    /// The files of a package.
    fn files_of(&self, package: &str) -> impl Iterator<Item = &KnownFile> {
        let files = self.by_package.get(package).into_iter().flatten();
        files.filter_map(|file| self.files[*file as usize].as_ref())
    }

    /// The types that a package's closure includes directly.
    fn collect_reached(&self, package: &str) -> BTreeSet<NameId> {
        let mut reached = BTreeSet::new();
        for file in self.files_of(package) {
            for element in file.meaning.elements.iter().filter(|it| it.is_top) {
                if element.kind.is_type() {
                    reached.insert(file.name(element));
                } else {
                    reached.extend(self.references(file, element));
                }
            }
        }
        reached
    }

    fn hash_package(
        &self,
        package: &str,
        reached: &BTreeSet<NameId>,
        facts: &mut Facts,
    ) -> Option<Hashes> {
        self.files_of(package).next()?;
        write_own(facts, PACKAGE_OWN, self.files_of(package).map(|it| &it.meaning));
        let own = facts.hash();
        let closure = |name: &NameId| Some((self.names.text(*name), self.types[*name as usize]?));
        write_unit(facts, PACKAGE_CLOSURE, own, reached.iter().filter_map(closure));
        Some(Hashes { own, closure: facts.hash() })
    }
}
