//! The second stage: from what single files mean to the hashes of all that can
//! be reached. It works on names alone.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::Tree;
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::facts::{self, Facts, push_hash};
use super::meaning::{Kind, Meaning, Meant};
use super::{Hashes, SemanticHash};

/// The hashes of every file, package and message of a tree.
#[derive(Clone, Debug)]
pub struct TreeHashes {
    /// By name.
    types: Vec<TypeNode>,
    /// By path.
    files: Vec<Unit>,
    /// By name.
    packages: Vec<Unit>,
    /// What stands in the closure of each component.
    components: Vec<Component>,
}

#[derive(Clone, Debug)]
struct TypeNode {
    name: Box<str>,
    is_message: bool,
    package: u32,
    hashes: Hashes,
    component: u32,
}

#[derive(Clone, Debug)]
struct Component {
    /// With the own hash of each.
    members: Vec<(u32, SemanticHash)>,
    /// The others that they refer to directly.
    references: Vec<u32>,
    closure: SemanticHash,
}

/// A file or a package.
#[derive(Clone, Debug)]
struct Unit {
    name: Box<str>,
    hashes: Hashes,
    /// The types that enter its closure.
    reached: Vec<u32>,
    /// Its elements that refer to types of other packages, with those types; of
    /// a file nothing.
    outward: Vec<(Referrer, u32)>,
}

/// What refers to something.
#[derive(Clone, Debug)]
enum Referrer {
    /// A message.
    Type(u32),
    /// A service or an extension.
    Named(Box<str>),
}

/// A reference from an element of one package to a type of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference<'h> {
    /// The message, service or extension that refers.
    pub from: &'h str,
    /// The message or enum that it refers to.
    pub to: &'h str,
    /// The package of that type.
    pub package: &'h str,
}

const FILE_CLOSURE: &str = "abide1 file closure";
pub(super) const PACKAGE_CLOSURE: &str = "abide1 package closure";

impl TreeHashes {
    /// Of a tree. Files are known by the paths that reports use.
    pub fn of(tree: &Tree) -> TreeHashes {
        let files: Vec<_> = tree.files().collect();
        let meanings: Vec<Meaning> = files
            .par_iter()
            .map_init(Facts::default, |facts, file| Meaning::with(facts, *file))
            .collect();
        let paths = files.iter().map(|file| &*file.decl().display);
        let hashes = TreeHashes::from_meanings(paths.zip(&meanings));
        meanings.into_par_iter().for_each(drop);
        hashes
    }

    /// Of files, each with its path and what it means, in any order.
    pub fn from_meanings<'m>(
        meanings: impl IntoIterator<Item = (&'m str, &'m Meaning)>,
    ) -> TreeHashes {
        let mut files: Vec<(&str, &Meaning)> = meanings.into_iter().collect();
        files.sort_by(|a, b| (a.0, a.1.own).cmp(&(b.0, b.1.own)));
        Linker::new(files).link()
    }

    /// The hashes of a file, by its path.
    pub fn file(&self, path: &str) -> Option<Hashes> {
        unit(&self.files, path).map(|unit| unit.hashes)
    }

    /// The hashes of a package, by its name.
    pub fn package(&self, name: &str) -> Option<Hashes> {
        unit(&self.packages, name).map(|unit| unit.hashes)
    }

    /// The hashes of a message, by its full name.
    pub fn message(&self, full_name: &str) -> Option<Hashes> {
        self.node(full_name).filter(|node| node.is_message).map(|node| node.hashes)
    }

    /// Every file with its hashes, in the order of paths.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, Hashes)> {
        self.files.iter().map(|unit| (&*unit.name, unit.hashes))
    }

    /// Every package with its hashes, in the order of names.
    pub fn packages(&self) -> impl ExactSizeIterator<Item = (&str, Hashes)> {
        self.packages.iter().map(|unit| (&*unit.name, unit.hashes))
    }

    /// Every message with its hashes, nested ones included, in the order of
    /// names.
    pub fn messages(&self) -> impl Iterator<Item = (&str, Hashes)> {
        let messages = self.types.iter().filter(|node| node.is_message);
        messages.map(|node| (&*node.name, node.hashes))
    }

    /// What the elements of a package refer to in other packages, in the order
    /// of names: the ways by which their closures enter its own. Types of
    /// protobuf itself are not among them.
    pub fn references(&self, package: &str) -> impl Iterator<Item = Reference<'_>> {
        let outward = unit(&self.packages, package).into_iter().flat_map(|unit| &unit.outward);
        let references = outward.map(|(from, to)| {
            let from = match from {
                Referrer::Type(ty) => &self.types[*ty as usize].name,
                Referrer::Named(name) => name,
            };
            let to = &self.types[*to as usize];
            let package = &*self.packages[to.package as usize].name;
            Reference { from, to: &to.name, package }
        });
        references.collect::<BTreeSet<_>>().into_iter()
    }

    /// The hashes of a message or an enum, by its full name.
    pub(crate) fn of_type(&self, full_name: &str) -> Option<Hashes> {
        self.node(full_name).map(|node| node.hashes)
    }

    fn node(&self, full_name: &str) -> Option<&TypeNode> {
        let at = self.types.binary_search_by(|node| (*node.name).cmp(full_name)).ok()?;
        Some(&self.types[at])
    }

    /// The title and the facts of the closure of a type, and behind an empty
    /// line those of its component.
    pub(super) fn type_facts(&self, full_name: &str) -> Option<String> {
        let node = self.node(full_name)?;
        let component = &self.components[node.component as usize];
        let mut facts = Facts::default();
        push_type_closure(&mut facts, &node.name, component.closure);
        let of_type = facts.shown(TYPE_CLOSURE);
        facts.clear();
        let members = component.members.iter();
        let members = members.map(|(at, own)| (&*self.types[*at as usize].name, *own));
        let others = component.references.iter();
        let others = others.map(|other| self.components[*other as usize].closure);
        push_component(&mut facts, members, others);
        Some(format!("{of_type}\n{}", facts.shown(COMPONENT_CLOSURE)))
    }

    /// The title and the facts of the closure of a file.
    pub(super) fn file_facts(&self, path: &str) -> Option<String> {
        Some(self.unit_facts(unit(&self.files, path)?, FILE_CLOSURE))
    }

    /// The title and the facts of the closure of a package.
    pub(super) fn package_facts(&self, name: &str) -> Option<String> {
        Some(self.unit_facts(unit(&self.packages, name)?, PACKAGE_CLOSURE))
    }

    fn unit_facts(&self, unit: &Unit, title: &str) -> String {
        let mut facts = Facts::default();
        push_unit(&mut facts, unit.hashes.own, closures(&unit.reached, &self.types));
        facts.shown(title)
    }
}

fn unit<'h>(units: &'h [Unit], name: &str) -> Option<&'h Unit> {
    let at = units.binary_search_by(|unit| (*unit.name).cmp(name)).ok()?;
    Some(&units[at])
}

pub(super) const TYPE_CLOSURE: &str = "abide1 type closure";
pub(super) const COMPONENT_CLOSURE: &str = "abide1 component closure";

/// Members with their own hashes, and the closures of the others that they
/// refer to.
pub(super) fn push_component<'n>(
    facts: &mut Facts,
    members: impl IntoIterator<Item = (&'n str, SemanticHash)>,
    others: impl IntoIterator<Item = SemanticHash>,
) {
    for (name, own) in members {
        facts.push("type ").push(name).push(" ");
        facts.write(|out| push_hash(out, own)).end();
    }
    for closure in others {
        facts.push("component ").write(|out| push_hash(out, closure)).end();
    }
}

pub(super) fn push_type_closure(facts: &mut Facts, name: &str, component: SemanticHash) {
    facts.push("type ").push(name).end();
    facts.push("component ").write(|out| push_hash(out, component)).end();
}

/// The own hash of a file or package, and the closures of the types it reaches.
pub(super) fn push_unit<'n>(
    facts: &mut Facts,
    own: SemanticHash,
    reached: impl IntoIterator<Item = (&'n str, SemanticHash)>,
) {
    facts.push("own ").write(|out| push_hash(out, own)).end();
    for (name, closure) in reached {
        facts.push("type ").push(name).push(" ");
        facts.write(|out| push_hash(out, closure)).end();
    }
}

/// Types by their numbers, with their closures.
fn closures<'n>(
    reached: &'n [u32],
    types: &'n [TypeNode],
) -> impl Iterator<Item = (&'n str, SemanticHash)> {
    let nodes = reached.iter().map(|at| &types[*at as usize]);
    nodes.map(|node| (&*node.name, node.hashes.closure))
}

/// Brings the names of files together.
struct Linker<'m> {
    files: Vec<(&'m str, &'m Meaning)>,
    /// The types by name, each with its file.
    declared: Vec<(&'m str, u32, &'m Meant)>,
    /// Where each name begins in `declared`, and the end of all.
    starts: Vec<u32>,
    by_name: FxHashMap<&'m str, u32>,
    /// Of each file, the type that each of its elements is; a service and an
    /// extension are none.
    types: Vec<Vec<Option<u32>>>,
    /// Of each file, what the names it has stand for.
    targets: Vec<Vec<Option<u32>>>,
}

impl<'m> Linker<'m> {
    fn new(files: Vec<(&'m str, &'m Meaning)>) -> Linker<'m> {
        let mut places: Vec<(&str, SemanticHash, u32, u32)> = (0..)
            .zip(&files)
            .flat_map(|(file, (_, meaning))| {
                let elements = (0..).zip(&meaning.elements);
                let types = elements.filter(|(_, it)| it.kind.is_type());
                types.map(move |(at, it)| (&*it.name, it.own, file, at))
            })
            .collect();
        places.par_sort_unstable();
        let begins = |at: &usize| at.checked_sub(1).is_none_or(|it| places[it].0 != places[*at].0);
        let mut starts: Vec<u32> = (0..places.len()).filter(begins).map(|at| at as u32).collect();
        let named = (0..).zip(&starts).map(|(ty, at)| (places[*at as usize].0, ty));
        let (by_name, (types, declared)) = rayon::join(
            || named.collect(),
            || {
                let of = |(_, meaning): &(&str, &Meaning)| vec![None; meaning.elements.len()];
                let mut types: Vec<Vec<Option<u32>>> = files.iter().map(of).collect();
                let mut declared = Vec::with_capacity(places.len());
                let mut ty = 0;
                for (index, &(name, _, file, at)) in (0..).zip(&places) {
                    ty += u32::from(starts.get(ty as usize + 1) == Some(&index));
                    types[file as usize][at as usize] = Some(ty);
                    declared.push((name, file, &files[file as usize].1.elements[at as usize]));
                }
                (types, declared)
            },
        );
        starts.push(declared.len() as u32);
        let mut linker = Linker { files, declared, starts, by_name, types, targets: Vec::new() };
        linker.targets = linker.files.par_iter().map(|(_, it)| linker.targets_of(it)).collect();
        linker
    }

    /// The declarations of a type.
    fn declarations(&self, ty: u32) -> &[(&'m str, u32, &'m Meant)] {
        let at = ty as usize;
        &self.declared[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn meaning(&self, file: u32) -> &'m Meaning {
        self.files[file as usize].1
    }

    /// What the names of a file stand for; protobuf's own types count in
    /// protobuf's own files only.
    fn targets_of(&self, meaning: &Meaning) -> Vec<Option<u32>> {
        let target = |name: &str| {
            let ty = *self.by_name.get(name)?;
            let own = |(_, file, _): &(&str, u32, &Meant)| self.meaning(*file).is_well_known;
            let leaves = !meaning.is_well_known && self.declarations(ty).iter().all(own);
            (!leaves).then_some(ty)
        };
        meaning.names.iter().map(target).collect()
    }

    /// The types that an element refers to.
    fn references(&self, file: u32, meant: &Meant) -> impl Iterator<Item = u32> {
        let targets = &self.targets[file as usize];
        let found = |&name: &u32| targets.get(name as usize).copied().flatten();
        self.meaning(file).references(meant).iter().filter_map(found)
    }

    fn link(self) -> TreeHashes {
        let mut by_package: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (at, (_, meaning)) in (0..).zip(&self.files) {
            by_package.entry(&*meaning.package).or_default().push(at);
        }
        let mut package_of = vec![0; self.files.len()];
        for (package, files) in (0..).zip(by_package.values()) {
            files.iter().for_each(|&file| package_of[file as usize] = package);
        }
        let packages: Vec<(&str, Vec<u32>)> = by_package.into_iter().collect();
        // One core has the graph, the others what needs none.
        let ((components, component_of), owns) = rayon::join(
            || self.components(),
            || {
                let files = packages.par_iter().map(|(_, files)| files);
                let own = |facts: &mut Facts, files: &Vec<u32>| self.package_own(facts, files);
                files.map_init(Facts::default, own).collect::<Vec<SemanticHash>>()
            },
        );
        let count = self.starts.len() as u32 - 1;
        let types: Vec<TypeNode> = (0..count)
            .into_par_iter()
            .map_init(Facts::default, |facts, at| {
                let declarations = self.declarations(at);
                let (name, file, meant) = declarations[0];
                let component = component_of[at as usize];
                facts.clear();
                push_type_closure(facts, name, components[component as usize].closure);
                TypeNode {
                    name: name.into(),
                    is_message: meant.kind == Kind::Message,
                    package: package_of[file as usize],
                    hashes: Hashes { own: meant.own, closure: facts.hash(TYPE_CLOSURE) },
                    component,
                }
            })
            .collect();
        let files = (0..self.files.len() as u32)
            .into_par_iter()
            .map_init(Facts::default, |facts, at| {
                let (path, meaning) = self.files[at as usize];
                let reached = self.reached(&[at]);
                facts.clear();
                push_unit(facts, meaning.own, closures(&reached, &types));
                let hashes = Hashes { own: meaning.own, closure: facts.hash(FILE_CLOSURE) };
                Unit { name: path.into(), hashes, reached, outward: Vec::new() }
            })
            .collect();
        let packages = packages
            .par_iter()
            .zip(owns)
            .enumerate()
            .map_init(Facts::default, |facts, (package, ((name, files), own))| {
                let reached = self.reached(files);
                facts.clear();
                push_unit(facts, own, closures(&reached, &types));
                let hashes = Hashes { own, closure: facts.hash(PACKAGE_CLOSURE) };
                let outward = self.outward(package as u32, files, &types);
                Unit { name: (*name).into(), hashes, reached, outward }
            })
            .collect();
        TreeHashes { types, files, packages, components }
    }

    fn package_own(&self, facts: &mut Facts, files: &[u32]) -> SemanticHash {
        if let [file] = files {
            return facts::hash_sorted(PACKAGE_OWN, &self.meaning(*file).facts);
        }
        facts.clear();
        let meanings = files.iter().map(|&file| self.meaning(file));
        for line in meanings.flat_map(Meaning::facts) {
            facts.push_line(line);
        }
        facts.hash(PACKAGE_OWN)
    }

    /// The types that enter the closure of files.
    fn reached(&self, files: &[u32]) -> Vec<u32> {
        let mut reached = Vec::new();
        for &file in files {
            let elements = self.meaning(file).elements.iter().zip(&self.types[file as usize]);
            for (meant, ty) in elements.filter(|(it, _)| it.is_top) {
                match ty {
                    Some(ty) => reached.push(*ty),
                    None => reached.extend(self.references(file, meant)),
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    fn outward(&self, package: u32, files: &[u32], types: &[TypeNode]) -> Vec<(Referrer, u32)> {
        let mut outward = Vec::new();
        for &file in files {
            let elements = self.meaning(file).elements.iter().zip(&self.types[file as usize]);
            for (meant, ty) in elements {
                let others = self.references(file, meant);
                let others = others.filter(|&to| types[to as usize].package != package);
                outward.extend(others.map(|to| match ty {
                    Some(ty) => (Referrer::Type(*ty), to),
                    None => (Referrer::Named(meant.name.clone()), to),
                }));
            }
        }
        outward
    }

    /// The strongly connected components, each behind those it refers to, and
    /// the component of each type.
    fn components(&self) -> (Vec<Component>, Vec<u32>) {
        let count = self.starts.len() - 1;
        let edges = (0..count as u32).flat_map(|from| {
            let declarations = self.declarations(from).iter();
            let targets = declarations.flat_map(|(_, file, meant)| self.references(*file, meant));
            targets.filter(move |&to| to != from).map(move |to| (from, to))
        });
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(count, count * 2);
        (0..count).for_each(|_| {
            graph.add_node(());
        });
        graph.extend_with_edges(edges);
        let found = kosaraju_scc(&graph);
        let mut component_of = vec![0; count];
        for (component, members) in (0..).zip(&found) {
            members.iter().for_each(|member| component_of[member.index()] = component);
        }
        let components = (0..found.len() as u32).into_par_iter().zip(found);
        let components = components.map(|(at, members)| {
            let around = |member: NodeIndex| {
                let targets = graph.neighbors_directed(member, Direction::Outgoing);
                targets.map(|to| component_of[to.index()]).filter(|&other| other != at)
            };
            let mut references: Vec<u32> = members.iter().copied().flat_map(around).collect();
            references.sort_unstable();
            references.dedup();
            let members = members.into_iter().map(|member| member.index() as u32);
            let owns = members.flat_map(|member| {
                self.declarations(member).iter().map(move |(.., meant)| (member, meant.own))
            });
            Component { members: owns.collect(), references, closure: SemanticHash([0; 32]) }
        });
        let mut components: Vec<Component> = components.collect();
        for level in levels(&components) {
            let closures: Vec<SemanticHash> = level
                .par_iter()
                .with_min_len(64)
                .map_init(Facts::default, |facts, &at| {
                    let Component { members, references, .. } = &components[at as usize];
                    let members = members.iter();
                    let members = members.map(|(at, own)| (self.declarations(*at)[0].0, *own));
                    let others = references.iter();
                    let others = others.map(|other| components[*other as usize].closure);
                    facts.clear();
                    push_component(facts, members, others);
                    facts.hash(COMPONENT_CLOSURE)
                })
                .collect();
            for (at, closure) in level.into_iter().zip(closures) {
                components[at as usize].closure = closure;
            }
        }
        (components, component_of)
    }
}

/// The components, of which each stands behind those it refers to, in groups:
/// those of one refer to groups before it only.
fn levels(components: &[Component]) -> Vec<Vec<u32>> {
    let mut levels: Vec<Vec<u32>> = Vec::new();
    let mut level_of: Vec<usize> = Vec::with_capacity(components.len());
    for (at, component) in (0..).zip(components) {
        let below = component.references.iter().map(|other| level_of[*other as usize] + 1);
        let level = below.max().unwrap_or(0);
        if levels.len() == level {
            levels.push(Vec::new());
        }
        levels[level].push(at);
        level_of.push(level);
    }
    levels
}

/// The title of the facts of a package.
pub(super) const PACKAGE_OWN: &str = "abide1 package own";
