//! The second stage: from the meanings of the files of a tree to the hashes that
//! include all dependencies.

use abide_schema::{FileId, Package, Tree, Type};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rayon::prelude::*;

use crate::buffers::HashBuffers;
use crate::canonical_file::{CanonicalFile, ElementKind, FILE_OWN, HashedElement};
use crate::canonicalize::ResolvedFile;
use crate::facts::{Facts, push_hash};
use crate::hash::{Hashes, SemanticHash};

/// The hashes of every file, package and message of a tree.
#[derive(Clone, Debug)]
pub struct TreeHashes {
    /// Sorted by name.
    types: Vec<TypeHashes>,
    /// Sorted by path.
    files: Vec<UnitHashes>,
    /// Sorted by name.
    packages: Vec<UnitHashes>,
}

#[derive(Clone, Debug)]
struct TypeHashes {
    name: Box<str>,
    is_message: bool,
    hashes: Hashes,
}

/// The hashes of a file or a package.
type UnitHashes = (Box<str>, Hashes);

const TYPE_CLOSURE: &str = "abide1 type closure";
const FILE_CLOSURE: &str = "abide1 file closure";
pub(crate) const PACKAGE_OWN: &str = "abide1 package own";
pub(crate) const PACKAGE_CLOSURE: &str = "abide1 package closure";

impl TreeHashes {
    /// Computes the hashes of a tree. Files are identified by their paths in reports.
    pub fn of(tree: &Tree) -> TreeHashes {
        TreeHashes::of_files(tree, &vec![true; tree.files().len()])
    }

    /// The hashes of these files, of what they import, and of nothing else: the same as in the
    /// whole tree. Of packages only those have hashes whose files are all among them.
    pub fn reaching(tree: &Tree, files: &[FileId]) -> TreeHashes {
        let mut is_reached = vec![false; tree.files().len()];
        let mut open = files.to_vec();
        // Names of which there are several, or that are not found, may be of any file.
        if tree.repeats_names() || !tree.problems().is_empty() {
            is_reached.fill(true);
            open.clear();
        }
        while let Some(file) = open.pop() {
            let file = tree.file(file);
            if file.decl().ast().is_none() {
                is_reached.fill(true);
                break;
            }
            if !std::mem::replace(&mut is_reached[file.id.0 as usize], true) {
                open.extend(file.imports().filter_map(|it| it.file).map(|it| it.id));
            }
        }
        TreeHashes::of_files(tree, &is_reached)
    }

    /// The hashes of the files of a tree that are chosen by index, with all that they import.
    fn of_files(tree: &Tree, is_chosen: &[bool]) -> TreeHashes {
        let named = canonicalize_files(tree, is_chosen);
        let hashes = TypeLinker::new(tree, &named).hash(tree, is_chosen);
        named.into_par_iter().for_each(drop);
        hashes
    }

    /// The hashes of a file, by its path.
    pub fn file(&self, path: &str) -> Option<Hashes> {
        find(&self.files, path)
    }

    /// The hashes of a package, by its name.
    pub fn package(&self, name: &str) -> Option<Hashes> {
        find(&self.packages, name)
    }

    /// The hashes of a message, by its full name.
    pub fn message(&self, full_name: &str) -> Option<Hashes> {
        self.find_type(full_name).filter(|ty| ty.is_message).map(|ty| ty.hashes)
    }

    /// Every file with its hashes, sorted by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, Hashes)> {
        self.files.iter().map(|(path, hashes)| (&**path, *hashes))
    }

    /// Every package with its hashes, sorted by name.
    pub fn packages(&self) -> impl ExactSizeIterator<Item = (&str, Hashes)> {
        self.packages.iter().map(|(name, hashes)| (&**name, *hashes))
    }

    /// Every message with its hashes, nested ones included, sorted by name.
    pub fn messages(&self) -> impl Iterator<Item = (&str, Hashes)> {
        let messages = self.types.iter().filter(|ty| ty.is_message);
        messages.map(|ty| (&*ty.name, ty.hashes))
    }

    /// The hashes of a message or an enum, by its full name.
    pub fn of_type(&self, full_name: &str) -> Option<Hashes> {
        self.find_type(full_name).map(|ty| ty.hashes)
    }

    fn find_type(&self, full_name: &str) -> Option<&TypeHashes> {
        let at = self.types.binary_search_by(|ty| (*ty.name).cmp(full_name)).ok()?;
        Some(&self.types[at])
    }
}

fn find(units: &[UnitHashes], name: &str) -> Option<Hashes> {
    let at = units.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
    Some(units[at].1)
}

/// Canonicalizes the chosen files, in the order of the tree; the others declare nothing then.
fn canonicalize_files(tree: &Tree, is_chosen: &[bool]) -> Vec<ResolvedFile> {
    let files: Vec<_> = tree.files().zip(is_chosen).collect();
    files
        .par_iter()
        .map_init(HashBuffers::default, |scratch, (file, is_chosen)| match is_chosen {
            true => ResolvedFile::of(scratch, *file),
            false => ResolvedFile::empty(),
        })
        .collect()
}

/// Canonicalizes every file.
fn canonicalize_all(tree: &Tree) -> Vec<ResolvedFile> {
    canonicalize_files(tree, &vec![true; tree.files().len()])
}

/// The title and the facts of the own hash of a package or file and, after an
/// empty line, those of its closure.
pub(crate) fn print_unit_facts(tree: &Tree, name: &str) -> Option<String> {
    let ids = |package: Package<'_>| package.files().map(|it| it.id.0).collect();
    let (files, own_title, title) = match tree.packages().find(|it| it.name() == name) {
        Some(package) => (ids(package), PACKAGE_OWN, PACKAGE_CLOSURE),
        None => {
            let file = tree.files().find(|it| *it.decl().display == *name)?;
            (vec![file.id.0], FILE_OWN, FILE_CLOSURE)
        }
    };
    let named = canonicalize_all(tree);
    let linker = TypeLinker::new(tree, &named);
    let mut facts = Facts::default();
    linker.write_own(&mut facts, own_title, &files);
    let own = facts.print();
    let hash = facts.hash();
    linker.write_closure(&mut facts, title, hash, &files, &linker.find_components());
    Some(format!("{own}\n{}", facts.print()))
}

/// The title and the facts of the closure of a message or an enum.
pub(crate) fn print_type_facts(tree: &Tree, full_name: &str) -> Option<String> {
    let named = canonicalize_all(tree);
    let linker = TypeLinker::new(tree, &named);
    let name = |ty: &u32| linker.declarations(*ty)[0].name;
    let ty = (0..linker.count()).find(|ty| name(ty) == full_name)?;
    let components = linker.find_components();
    let mut facts = Facts::default();
    linker.write_component(&mut facts, &components, components.of[ty as usize]);
    Some(facts.print())
}

/// Writes the facts of files together.
pub(crate) fn write_own<'m>(
    facts: &mut Facts,
    title: &str,
    meanings: impl IntoIterator<Item = &'m CanonicalFile>,
) {
    facts.begin_block(title);
    let lines = meanings.into_iter().flat_map(CanonicalFile::facts);
    lines.for_each(|line| facts.push_line(line));
}

/// Writes the facts of a component: the own hashes of its members, and the
/// closures of the other components that they refer to.
pub(crate) fn write_component(
    facts: &mut Facts,
    owns: impl IntoIterator<Item = SemanticHash>,
    others: impl IntoIterator<Item = SemanticHash>,
) {
    facts.begin_block(TYPE_CLOSURE);
    for closure in others {
        facts.push("component ").write(|out| push_hash(out, closure)).end();
    }
    for own in owns {
        facts.push("own ").write(|out| push_hash(out, own)).end();
    }
}

/// Writes the facts of the closure of a file or package: its own hash, and the
/// closures of the types that it refers to.
pub(crate) fn write_unit<'n>(
    facts: &mut Facts,
    title: &str,
    own: SemanticHash,
    reached: impl IntoIterator<Item = (&'n str, SemanticHash)>,
) {
    facts.begin_block(title);
    facts.push("own ").write(|out| push_hash(out, own)).end();
    for (name, closure) in reached {
        facts.push("type ").push(name).push(" ").write(|out| push_hash(out, closure)).end();
    }
}

/// Joins the types of all files. Types with the same name are one type.
struct TypeLinker<'m> {
    /// In the order of the tree.
    files: &'m [ResolvedFile],
    /// The start of the messages and of the enums of each file in `numbers`.
    slots: Vec<[u32; 2]>,
    /// The type of each message and each enum; `None` for a map entry.
    numbers: Vec<Option<u32>>,
    /// The declarations of the types, by name.
    declared: Vec<TypeDeclaration<'m>>,
    /// The start of the declarations of each type, and the end of all.
    starts: Vec<u32>,
    /// True if a type is one of protobuf's own.
    is_well_known: Vec<bool>,
}

struct TypeDeclaration<'m> {
    name: &'m str,
    file: u32,
    element: &'m HashedElement,
}

/// The strongly connected components of the types under "refers to", each after
/// those it refers to.
struct TypeComponents {
    graph: DiGraph<(), ()>,
    members: Vec<Vec<NodeIndex>>,
    /// The component of each type.
    of: Vec<u32>,
    closures: Vec<SemanticHash>,
}

impl<'m> TypeLinker<'m> {
    fn new(tree: &Tree, files: &'m [ResolvedFile]) -> TypeLinker<'m> {
        let mut end = 0;
        let slots = tree.files().map(|file| {
            let messages = end;
            let enums = messages + file.decl().messages.len() as u32;
            end = enums + file.decl().enums.len() as u32;
            [messages, enums]
        });
        let slots: Vec<[u32; 2]> = slots.collect();
        let declared =
            files.par_iter().enumerate().flat_map_iter(|(file, ResolvedFile { meaning, .. })| {
                meaning.types().map(move |(_, element)| TypeDeclaration {
                    name: meaning.name(element),
                    file: file as u32,
                    element,
                })
            });
        let mut declared: Vec<TypeDeclaration<'m>> = declared.collect();
        declared.par_sort_unstable_by(|a, b| {
            a.name.cmp(b.name).then_with(|| a.element.own.cmp(&b.element.own))
        });
        let mut linker = TypeLinker {
            files,
            slots,
            numbers: vec![None; end as usize],
            declared,
            starts: Vec::new(),
            is_well_known: Vec::new(),
        };
        linker.number_types();
        linker
    }

    fn number_types(&mut self) {
        let mut name = None;
        for (at, it) in (0..).zip(&self.declared) {
            if name.replace(it.name) != Some(it.name) {
                self.starts.push(at);
                self.is_well_known.push(true);
            }
            let ty = self.starts.len() - 1;
            let ResolvedFile { meaning, types } = &self.files[it.file as usize];
            self.is_well_known[ty] &= meaning.is_well_known;
            if let Some(slot) = types[it.element.name as usize].and_then(|ty| self.type_slot(ty)) {
                self.numbers[slot] = Some(ty as u32);
            }
        }
        self.starts.push(self.declared.len() as u32);
    }

    /// The number of types.
    fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn type_slot(&self, ty: Type) -> Option<usize> {
        let (file, kind, index) = match ty {
            Type::Message(id) => (id.file, 0, id.index),
            Type::Enum(id) => (id.file, 1, id.index),
            Type::Scalar(_) | Type::Unresolved => return None,
        };
        Some((self.slots[file.0 as usize][kind] + index) as usize)
    }

    /// The type that a name in a file means.
    fn type_of(&self, file: u32, name: u32) -> Option<u32> {
        let ty = self.files[file as usize].types[name as usize]?;
        self.numbers[self.type_slot(ty)?]
    }

    /// The declarations of a type.
    fn declarations(&self, ty: u32) -> &[TypeDeclaration<'m>] {
        let at = ty as usize;
        &self.declared[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The types that an element of a file refers to. Protobuf's own types only
    /// count in protobuf's own files.
    fn references(&self, file: u32, element: &HashedElement) -> impl Iterator<Item = u32> {
        let meaning = &self.files[file as usize].meaning;
        let names = meaning.references(element).iter();
        names
            .filter_map(move |&name| self.type_of(file, name))
            .filter(|&ty| meaning.is_well_known || !self.is_well_known[ty as usize])
    }

    fn hash(&self, tree: &Tree, is_chosen: &[bool]) -> TreeHashes {
        let are_chosen = |it: &Package<'_>| it.files().all(|it| is_chosen[it.id.0 as usize]);
        let packages = tree.packages().filter(are_chosen);
        let packages: Vec<(&str, Vec<u32>)> = packages
            .map(|package| (package.name(), package.files().map(|file| file.id.0).collect()))
            .collect();
        // One thread computes the graph, the others everything that does not need it.
        let (components, owns) = rayon::join(
            || self.find_components(),
            || {
                let packages = packages.par_iter();
                let owns = packages.map_init(Facts::default, |facts, (_, files)| {
                    self.write_own(facts, PACKAGE_OWN, files);
                    facts.hash()
                });
                owns.collect::<Vec<SemanticHash>>()
            },
        );
        let types = (0..self.count()).into_par_iter().map(|ty| {
            let TypeDeclaration { name, element, .. } = self.declarations(ty)[0];
            let closure = components.closure(ty);
            let hashes = Hashes { own: element.own, closure };
            TypeHashes {
                name: name.into(),
                is_message: element.kind == ElementKind::Message,
                hashes,
            }
        });
        let unit =
            |facts: &mut Facts, title: &str, name: &str, own: SemanticHash, files: &[u32]| {
                self.write_closure(facts, title, own, files, &components);
                (name.into(), Hashes { own, closure: facts.hash() })
            };
        let paths: Vec<&str> = tree.files().map(|file| &*file.decl().display).collect();
        let files = paths.par_iter().zip(self.files).enumerate().filter(|(at, _)| is_chosen[*at]);
        let files = files.map_init(Facts::default, |facts, (at, (path, named))| {
            unit(facts, FILE_CLOSURE, path, named.meaning.own, &[at as u32])
        });
        let mut files: Vec<UnitHashes> = files.collect();
        files.par_sort_unstable_by(|a, b| (&a.0, a.1.own).cmp(&(&b.0, b.1.own)));
        let packages = packages.par_iter().zip(owns);
        let packages = packages.map_init(Facts::default, |facts, ((name, files), own)| {
            unit(facts, PACKAGE_CLOSURE, name, own, files)
        });
        TreeHashes { types: types.collect(), files, packages: packages.collect() }
    }

    fn write_own(&self, facts: &mut Facts, title: &str, files: &[u32]) {
        let meanings = files.iter().map(|&file| &self.files[file as usize].meaning);
        write_own(facts, title, meanings);
    }

    /// Writes the facts of the closure of files together.
    fn write_closure(
        &self,
        facts: &mut Facts,
        title: &str,
        own: SemanticHash,
        files: &[u32],
        components: &TypeComponents,
    ) {
        let mut reached = Vec::new();
        for &file in files {
            let meaning = &self.files[file as usize].meaning;
            for element in meaning.elements.iter().filter(|it| it.is_top) {
                if element.kind.is_type() {
                    reached.extend(self.type_of(file, element.name));
                } else {
                    reached.extend(self.references(file, element));
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        let named = |ty: u32| (self.declarations(ty)[0].name, components.closure(ty));
        write_unit(facts, title, own, reached.into_iter().map(named));
    }

    fn write_component(&self, facts: &mut Facts, components: &TypeComponents, component: u32) {
        let TypeComponents { graph, members, of, closures } = components;
        let members = &members[component as usize];
        let others = members.iter().flat_map(|&member| graph.neighbors(member));
        let others = others.map(|other| of[other.index()]).filter(|&other| other != component);
        let declared = members.iter().flat_map(|it| self.declarations(it.index() as u32));
        write_component(
            facts,
            declared.map(|it| it.element.own),
            others.map(|other| closures[other as usize]),
        );
    }

    fn find_components(&self) -> TypeComponents {
        let count = self.count();
        let edges = (0..count).flat_map(|from| {
            let declarations = self.declarations(from).iter();
            let targets = declarations.flat_map(|it| self.references(it.file, it.element));
            targets.filter(move |&to| to != from).map(move |to| (from, to))
        });
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(count as usize, count as usize * 2);
        (0..count).for_each(|_| {
            graph.add_node(());
        });
        graph.extend_with_edges(edges);
        let members = kosaraju_scc(&graph);
        let mut of = vec![0; count as usize];
        for (component, members) in (0..).zip(&members) {
            members.iter().for_each(|member| of[member.index()] = component);
        }
        let closures = vec![SemanticHash::new([0; 32]); members.len()];
        let mut components = TypeComponents { graph, members, of, closures };
        for level in components.sort_by_level() {
            let hashed: Vec<SemanticHash> = level
                .par_iter()
                .with_min_len(64)
                .map_init(Facts::default, |facts, &at| {
                    self.write_component(facts, &components, at);
                    facts.hash()
                })
                .collect();
            for (at, closure) in level.into_iter().zip(hashed) {
                components.closures[at as usize] = closure;
            }
        }
        components
    }
}

impl TypeComponents {
    /// The closure of a type.
    fn closure(&self, ty: u32) -> SemanticHash {
        self.closures[self.of[ty as usize] as usize]
    }

    /// The components in groups, each of which only refers to groups before it.
    fn sort_by_level(&self) -> Vec<Vec<u32>> {
        let mut levels: Vec<Vec<u32>> = Vec::new();
        let mut level_of: Vec<usize> = Vec::with_capacity(self.members.len());
        for (at, members) in (0..).zip(&self.members) {
            let others = members.iter().flat_map(|&member| self.graph.neighbors(member));
            let others = others.map(|other| self.of[other.index()]).filter(|&other| other != at);
            let level = others.map(|other| level_of[other as usize] + 1).max().unwrap_or(0);
            if levels.len() == level {
                levels.push(Vec::new());
            }
            levels[level].push(at);
            level_of.push(level);
        }
        levels
    }
}
