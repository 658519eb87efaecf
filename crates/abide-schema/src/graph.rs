//! Which package depends on which, and the evidence for it.
//!
//! Files are the ground truth: what a package reaches is what its files reach,
//! file by file. A package of many unrelated files does therefore not pass on
//! everything it depends on to everyone who uses one of them.

use std::collections::VecDeque;

use abide_syntax::{ImportKind, Span};
use fixedbitset::FixedBitSet;
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rayon::prelude::*;

use crate::decl::{MessageKind, Parent, Part};
use crate::dynamic::{self as value, Value};
use crate::element::Element;
use crate::ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
use crate::problem::Place;
use crate::tree::{Tree, Type};
use crate::view::{Enum, EnumValue, Field, File, Import, Message, Method, Oneof, Package, Service};

/// How one file depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It imports the file.
    Import,
    /// A field, an extension or a method of it uses a type of the file.
    Type,
    /// It sets a custom option that the file declares.
    Option,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 3] = [Level::Import, Level::Type, Level::Option];

    /// The levels that carry meaning: an import that nothing needs is none.
    pub const USED: [Level; 2] = [Level::Type, Level::Option];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Level::Import => "import",
            Level::Type => "type",
            Level::Option => "option",
        }
    }
}

/// How often something is used, by level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u32; 3]);

impl Counts {
    /// How many uses there are at a level.
    pub fn at(&self, level: Level) -> u32 {
        self.0[level as usize]
    }

    /// Whether there is a use at one of the levels.
    pub fn any(&self, levels: &[Level]) -> bool {
        levels.iter().any(|&level| self.at(level) > 0)
    }

    fn add(&mut self, other: Counts) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }
}

/// One piece of evidence that a file depends on another.
#[derive(Clone, Copy, Debug)]
pub enum Use<'t> {
    /// An `import` statement.
    Import {
        /// The file that imports.
        file: File<'t>,
        /// The statement.
        import: Import<'t>,
        /// The file that is imported.
        target: File<'t>,
    },
    /// The name of a type.
    Type {
        /// The field, extension or method that uses it.
        user: Element<'t>,
        /// Where in the user the name stands.
        part: Part,
        /// The message or enum.
        target: Element<'t>,
    },
    /// A custom option that is set.
    Option {
        /// The file that sets it.
        file: File<'t>,
        /// The element it is set on; `None` for the file itself.
        owner: Option<Element<'t>>,
        /// Where its key stands.
        key: Span,
        /// The extension that declares it.
        target: Field<'t>,
    },
}

impl<'t> Use<'t> {
    /// Its level.
    pub fn level(&self) -> Level {
        match self {
            Use::Import { .. } => Level::Import,
            Use::Type { .. } => Level::Type,
            Use::Option { .. } => Level::Option,
        }
    }

    /// The file that depends.
    pub fn file(&self) -> File<'t> {
        match self {
            Use::Import { file, .. } | Use::Option { file, .. } => *file,
            Use::Type { user, .. } => user.file(),
        }
    }

    /// The file that it depends on.
    pub fn target_file(&self) -> File<'t> {
        match self {
            Use::Import { target, .. } => *target,
            Use::Type { target, .. } => target.file(),
            Use::Option { target, .. } => target.file(),
        }
    }

    /// Where it stands: the path of the import, the name of the type, the key
    /// of the option.
    pub fn place(&self) -> Place {
        match self {
            Use::Import { file, import, .. } => file.place_of(import.decl.node, Part::Name),
            Use::Type { user, part, .. } => user.place(*part),
            Use::Option { file, owner, key, .. } if key.is_empty() => match owner {
                Some(element) => element.place(Part::Name),
                None => file.package_place(),
            },
            Use::Option { file, key, .. } => Place { file: file.id, span: *key },
        }
    }

    /// The full name of the element that depends, or the path of the file.
    pub fn user(&self) -> String {
        match self {
            Use::Type { user, .. } => user.full_name(),
            Use::Option { owner: Some(owner), .. } => owner.full_name(),
            Use::Import { file, .. } | Use::Option { file, .. } => file.full_name(),
        }
    }

    /// The full name of what it depends on, or the path of the imported file.
    pub fn target(&self) -> String {
        match self {
            Use::Import { target, .. } => target.full_name(),
            Use::Type { target, .. } => target.full_name(),
            Use::Option { target, .. } => target.full_name(),
        }
    }
}

/// Shows every dependency of a file on another, in the order of declaration
/// within each level.
fn for_each_use<'t>(file: File<'t>, visit: &mut impl FnMut(Use<'t>)) {
    let mut visit = |used: Use<'t>| {
        if used.target_file().id != file.id {
            visit(used);
        }
    };
    for import in file.imports() {
        if let Some(target) = import.file {
            visit(Use::Import { file, import, target });
        }
    }
    for_each_type(file, &mut visit);
    for_each_option(file, &mut visit);
}

fn for_each_type<'t>(file: File<'t>, visit: &mut impl FnMut(Use<'t>)) {
    let (tree, id) = (file.tree, file.id);
    let linked = tree.linked(id);
    for ((decl, link), index) in linked.decl.fields.iter().zip(&linked.fields).zip(0..) {
        let user = Element::Field(tree.field(FieldId { file: id, index }));
        if let Some(extendee) = link.extendee {
            let target = Element::Message(tree.message(extendee));
            visit(Use::Type { user, part: Part::Extendee, target });
        }
        let is_entry =
            |message: u32| linked.decl.messages[message as usize].kind == MessageKind::MapEntry;
        let ty = match link.ty {
            Type::Scalar(_) | Type::Unresolved => continue,
            // A map stands for its entry: its type is that of the values.
            Type::Message(entry) if entry.file == id && is_entry(entry.index) => {
                tree.message(entry).field_numbered(2).map_or(Type::Unresolved, Field::ty)
            }
            _ if matches!(decl.parent, Parent::Message(message) if is_entry(message)) => continue,
            ty => ty,
        };
        let target = match ty {
            Type::Message(id) => Element::Message(tree.message(id)),
            Type::Enum(id) => Element::Enum(tree.enumeration(id)),
            Type::Scalar(_) | Type::Unresolved => continue,
        };
        visit(Use::Type { user, part: Part::Type, target });
    }
    for method in file.services().flat_map(Service::methods) {
        let user = Element::Method(method);
        for (message, part) in [(method.input(), Part::Input), (method.output(), Part::Output)] {
            if let Some(message) = message {
                visit(Use::Type { user, part, target: Element::Message(message) });
            }
        }
    }
}

fn for_each_option<'t>(file: File<'t>, visit: &mut impl FnMut(Use<'t>)) {
    let (tree, id) = (file.tree, file.id);
    let linked = tree.linked(id);
    let mut look = |owner: Option<Element<'t>>, options: &'t Option<Box<value::Message>>| {
        if let Some(options) = options {
            for_each_extension(tree, options, &mut |entry, target| {
                visit(Use::Option { file, owner, key: entry.key, target });
            });
        }
    };
    look(None, &linked.options);
    for (link, index) in linked.messages.iter().zip(0..) {
        let message = Message { tree, id: MessageId { file: id, index } };
        look(Some(Element::Message(message)), &link.options);
        for range in linked.ranges.get(message.decl().extension_ranges.range()).unwrap_or_default()
        {
            look(Some(Element::Message(message)), range);
        }
    }
    for (field, link) in file.all_fields().zip(&linked.fields) {
        look(Some(Element::Field(field)), &link.options);
    }
    for (options, index) in linked.oneofs.iter().zip(0..) {
        look(Some(Element::Oneof(Oneof { tree, id: OneofId { file: id, index } })), options);
    }
    for (link, index) in linked.enums.iter().zip(0..) {
        let owner = Element::Enum(Enum { tree, id: EnumId { file: id, index } });
        look(Some(owner), &link.options);
    }
    for (options, index) in linked.values.iter().zip(0..) {
        let owner = Element::EnumValue(EnumValue { tree, id: EnumValueId { file: id, index } });
        look(Some(owner), options);
    }
    for (options, index) in linked.services.iter().zip(0..) {
        let owner = Element::Service(Service { tree, id: ServiceId { file: id, index } });
        look(Some(owner), options);
    }
    for (link, index) in linked.methods.iter().zip(0..) {
        let owner = Element::Method(Method { tree, id: MethodId { file: id, index } });
        look(Some(owner), &link.options);
    }
}

/// The entries of a value that set an extension, those inside others included.
/// The depth of a value is bounded by the nesting that its reader allows.
fn for_each_extension<'t>(
    tree: &'t Tree,
    message: &value::Message,
    visit: &mut impl FnMut(&value::Entry, Field<'t>),
) {
    for entry in &message.entries {
        let field = tree.field(entry.field);
        if field.is_extension() {
            visit(entry, field);
        }
        if let Value::Message(inner) = &entry.value {
            for_each_extension(tree, inner, visit);
        }
    }
}

/// The dependencies between the files and between the packages of a tree.
#[derive(Debug)]
pub struct Graph<'t> {
    tree: &'t Tree,
    /// Nodes are files, by their ids.
    files: DiGraph<(), Counts>,
    /// The files, each behind those that it depends on; `None` where files
    /// depend on each other in a circle, which the language forbids.
    order: Option<Vec<NodeIndex>>,
    /// Nodes are packages, by their ids.
    packages: DiGraph<PackageId, PackageEdge>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PackageEdge {
    counts: Counts,
    /// The first pair of files that gives evidence, by level. A judged file
    /// goes before one that is not.
    first: [Option<(FileId, FileId)>; 3],
}

impl Tree {
    /// The dependencies between its files and packages, found in parallel file
    /// by file.
    pub fn graph(&self) -> Graph<'_> {
        let by_file: Vec<Vec<(FileId, Counts)>> = (0..self.files.len() as u32)
            .into_par_iter()
            .map(|index| file_edges(self.file(FileId(index))))
            .collect();

        let ((files, order), packages) =
            rayon::join(|| file_graph(&by_file), || self.package_graph(&by_file));
        Graph { tree: self, files, order, packages }
    }

    /// What the edges between files say about packages.
    fn package_graph(&self, by_file: &[Vec<(FileId, Counts)>]) -> DiGraph<PackageId, PackageEdge> {
        let mut crossing = Vec::new();
        for (from, edges) in by_file.iter().enumerate() {
            let from = FileId(from as u32);
            let package = self.linked(from).package;
            for &(to, counts) in edges {
                let target = self.linked(to).package;
                if target != package {
                    let imported = !self.file(from).is_judged();
                    crossing.push((package, target, imported, from, to, counts));
                }
            }
        }
        crossing.sort_unstable_by_key(|&(package, target, imported, from, to, _)| {
            (package, target, imported, from, to)
        });

        let mut packages = DiGraph::new();
        for index in 0..self.packages.len() as u32 {
            packages.add_node(PackageId(index));
        }
        let same = |a: &(PackageId, PackageId, _, _, _, _), b: &(_, _, _, _, _, _)| {
            (a.0, a.1) == (b.0, b.1)
        };
        let mut edges: Vec<_> = Vec::new();
        for group in crossing.chunk_by(same) {
            let mut edge = PackageEdge::default();
            for &(_, _, _, from, to, counts) in group {
                for level in Level::ALL {
                    if counts.at(level) > 0 {
                        edge.first[level as usize].get_or_insert((from, to));
                    }
                }
                edge.counts.add(counts);
            }
            edges.push((group[0].0, group[0].1, edge));
        }
        for (from, to, edge) in edges.into_iter().rev() {
            packages.add_edge(node(from.0), node(to.0), edge);
        }
        packages
    }
}

/// The files with their edges, and an order in which each stands behind those
/// it depends on; none where there is a cycle.
fn file_graph(by_file: &[Vec<(FileId, Counts)>]) -> (DiGraph<(), Counts>, Option<Vec<NodeIndex>>) {
    let edge_count = by_file.iter().map(Vec::len).sum();
    let mut files = DiGraph::with_capacity(by_file.len(), edge_count);
    for _ in by_file {
        files.add_node(());
    }
    for (from, edges) in by_file.iter().enumerate() {
        // A node shows its edges last in, first out.
        for &(to, counts) in edges.iter().rev() {
            files.add_edge(NodeIndex::new(from), node(to.0), counts);
        }
    }
    let order = toposort(&files, None).ok().map(|mut order| {
        order.reverse();
        order
    });
    (files, order)
}

fn node(index: u32) -> NodeIndex {
    NodeIndex::new(index as usize)
}

fn file_edges(file: File<'_>) -> Vec<(FileId, Counts)> {
    let mut uses = Vec::new();
    for_each_use(file, &mut |used| uses.push((used.target_file().id, used.level())));
    uses.sort_unstable();
    uses.chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let mut counts = Counts::default();
            for &(_, level) in group {
                counts.0[level as usize] += 1;
            }
            (group[0].0, counts)
        })
        .collect()
}

/// The dependency of a package on another.
#[derive(Clone, Copy, Debug)]
pub struct Dependency<'g, 't> {
    graph: &'g Graph<'t>,
    /// The package that depends.
    pub from: Package<'t>,
    /// The package that it depends on.
    pub to: Package<'t>,
    edge: &'g PackageEdge,
}

impl<'t> Dependency<'_, 't> {
    /// How often, by level.
    pub fn counts(&self) -> Counts {
        self.edge.counts
    }

    /// The first evidence at a level, in the order of files and declarations;
    /// that of a judged file goes first.
    pub fn evidence(&self, level: Level) -> Option<Use<'t>> {
        let (from, to) = self.edge.first[level as usize]?;
        self.graph.evidence(from, to, level)
    }

    /// Every piece of evidence, in the order of files.
    pub fn uses(&self) -> Vec<Use<'t>> {
        let mut uses = Vec::new();
        for file in self.from.files() {
            for_each_use(file, &mut |used| {
                if used.target_file().package() == self.to {
                    uses.push(used);
                }
            });
        }
        uses
    }

    /// The first step from the one package to the other at one of the levels;
    /// a judged file and the most telling level go first.
    pub fn step(&self, levels: &[Level]) -> Option<Step<'t>> {
        let best = [Level::Type, Level::Option, Level::Import]
            .into_iter()
            .filter(|level| levels.contains(level))
            .filter_map(|level| self.edge.first[level as usize])
            .min_by_key(|&(from, _)| !self.graph.tree.file(from).is_judged())?;
        self.graph.step(best.0, best.1, levels)
    }
}

/// A step of a path: one file depends on another.
#[derive(Clone, Debug)]
pub struct Step<'t> {
    /// The evidence: a type goes before an option, an option before an import.
    pub used: Use<'t>,
    /// The imports through which the file sees what it uses, where it does not
    /// import the file itself: its own import first, then public imports.
    pub imports: Vec<Use<'t>>,
}

impl<'t> Graph<'t> {
    /// The tree whose files and packages these are.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// The direct dependencies of a package, in the order of names.
    pub fn edges_of<'g>(
        &'g self,
        package: Package<'t>,
    ) -> impl Iterator<Item = Dependency<'g, 't>> + use<'g, 't> {
        self.packages.edges(node(package.id.0)).map(move |edge| Dependency {
            graph: self,
            from: package,
            to: self.tree.package(PackageId(edge.target().index() as u32)),
            edge: edge.weight(),
        })
    }

    /// The dependency of one package on another.
    pub fn edge<'g>(&'g self, from: Package<'t>, to: Package<'t>) -> Option<Dependency<'g, 't>> {
        let edge = self.packages.find_edge(node(from.id.0), node(to.id.0))?;
        Some(Dependency { graph: self, from, to, edge: &self.packages[edge] })
    }

    /// The first evidence, in the order of declaration, that a file depends on
    /// another at a level.
    pub fn evidence(&self, from: FileId, to: FileId, level: Level) -> Option<Use<'t>> {
        let mut first = None;
        for_each_use(self.tree.file(from), &mut |used| {
            if first.is_none() && used.level() == level && used.target_file().id == to {
                first = Some(used);
            }
        });
        first
    }

    fn step(&self, from: FileId, to: FileId, levels: &[Level]) -> Option<Step<'t>> {
        let mut best: [Option<Use<'t>>; 3] = [None; 3];
        for_each_use(self.tree.file(from), &mut |used| {
            if used.target_file().id == to {
                best[used.level() as usize].get_or_insert(used);
            }
        });
        let used = [Level::Type, Level::Option, Level::Import]
            .into_iter()
            .filter(|level| levels.contains(level))
            .find_map(|level| best[level as usize])?;
        let imports = match best[Level::Import as usize] {
            Some(_) => Vec::new(),
            None => self.import_chain(from, to),
        };
        Some(Step { used, imports })
    }

    /// The imports through which one file sees another: an import, then public
    /// imports. Empty where it does not.
    pub fn import_chain(&self, from: FileId, to: FileId) -> Vec<Use<'t>> {
        let mut came: Vec<Option<Use<'t>>> = vec![None; self.tree.files.len()];
        let mut queue = VecDeque::from([from]);
        'search: while let Some(at) = queue.pop_front() {
            let file = self.tree.file(at);
            for import in file.imports() {
                let Some(target) = import.file else { continue };
                if at != from && import.decl.kind != ImportKind::Public
                    || target.id == from
                    || came[target.id.0 as usize].is_some()
                {
                    continue;
                }
                came[target.id.0 as usize] = Some(Use::Import { file, import, target });
                if target.id == to {
                    break 'search;
                }
                queue.push_back(target.id);
            }
        }
        let mut chain = Vec::new();
        let mut at = to;
        while let Some(used) = came[at.0 as usize] {
            chain.push(used);
            at = used.file().id;
        }
        chain.reverse();
        chain
    }

    /// What files reach at the given levels, passing only through packages
    /// that `through` lets pass.
    pub fn reach<'g>(
        &'g self,
        levels: &'g [Level],
        through: impl Fn(Package<'t>) -> bool,
    ) -> Reach<'g, 't> {
        let through: Vec<bool> = self.tree.packages().map(through).collect();
        let passes = |file: NodeIndex| {
            through[self.tree.linked(FileId(file.index() as u32)).package.0 as usize]
        };
        // What a component reaches is known before anyone who reaches it asks:
        // components come in reverse topological order.
        let circles: Vec<Vec<NodeIndex>>;
        let members_of: Vec<&[NodeIndex]> = match &self.order {
            Some(order) => order.chunks(1).collect(),
            None => {
                circles = kosaraju_scc(&EdgeFiltered::from_fn(&self.files, |edge| {
                    edge.weight().any(levels) && passes(edge.target())
                }));
                circles.iter().map(Vec::as_slice).collect()
            }
        };
        let component_of = components(&members_of, self.files.node_count());
        let mut sets: Vec<FixedBitSet> = Vec::with_capacity(members_of.len());
        for (component, members) in members_of.iter().enumerate() {
            let mut set = FixedBitSet::with_capacity(self.packages.node_count());
            for edge in members.iter().flat_map(|&member| self.files.edges(member)) {
                if !edge.weight().any(levels) {
                    continue;
                }
                let target = edge.target();
                set.insert(self.tree.linked(FileId(target.index() as u32)).package.0 as usize);
                let next = component_of[target.index()];
                if next < component && passes(target) {
                    set.union_with(&sets[next]);
                }
            }
            sets.push(set);
        }
        Reach { graph: self, levels, through, component_of, sets }
    }

    /// The packages that depend on each other in a circle, at the given
    /// levels: each group in the order of names.
    pub fn cycles(&self, among: impl Fn(Package<'t>) -> bool) -> Vec<Vec<Package<'t>>> {
        let package = |at: NodeIndex| self.tree.package(PackageId(at.index() as u32));
        let edges = EdgeFiltered::from_fn(&self.packages, |edge| {
            among(package(edge.source())) && among(package(edge.target()))
        });
        let mut cycles: Vec<Vec<Package<'t>>> = kosaraju_scc(&edges)
            .into_iter()
            .filter(|members| members.len() > 1)
            .map(|members| {
                let mut members: Vec<_> = members.into_iter().map(package).collect();
                members.sort_unstable();
                members
            })
            .collect();
        cycles.sort_unstable();
        cycles
    }

    /// A shortest circle from a package back to itself through members of
    /// `group`, which is in the order of names; `None` where there is none of
    /// fewer than `limit` steps.
    pub fn circle<'g>(
        &'g self,
        package: Package<'t>,
        group: &[Package<'t>],
        limit: usize,
    ) -> Option<Vec<Dependency<'g, 't>>> {
        let index = |package: &Package<'t>| group.binary_search(package).ok();
        let start = index(&package)?;
        let mut came: Vec<Option<(usize, Dependency<'g, 't>)>> = vec![None; group.len()];
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((at, depth)) = queue.pop_front() {
            if depth + 1 >= limit {
                break;
            }
            for edge in self.edges_of(group[at]) {
                let Some(next) = index(&edge.to) else { continue };
                if came[next].is_none() {
                    came[next] = Some((at, edge));
                    queue.push_back((next, depth + 1));
                }
            }
            if came[start].is_some() {
                break;
            }
        }
        let mut circle = Vec::new();
        let mut at = start;
        while let Some((previous, edge)) = came[at] {
            circle.push(edge);
            at = previous;
            if at == start {
                break;
            }
        }
        circle.reverse();
        (!circle.is_empty()).then_some(circle)
    }

    /// Which packages depend on each other in a circle: packages with one
    /// number do.
    pub fn circles(&self) -> Vec<usize> {
        components(&kosaraju_scc(&self.packages), self.packages.node_count())
    }

    /// For every package, how many packages the longest chain below it holds.
    /// Packages in a circle count together.
    pub fn depths(&self) -> Vec<Depth<'t>> {
        let members_of = kosaraju_scc(&self.packages);
        let component_of = components(&members_of, self.packages.node_count());
        let package = |at: NodeIndex| self.tree.package(PackageId(at.index() as u32));
        let mut depths = vec![Depth { length: 0, next: None }; component_of.len()];
        for (component, members) in members_of.iter().enumerate() {
            let mut deepest = Depth { length: 0, next: None };
            for edge in members.iter().flat_map(|&member| self.packages.edges(member)) {
                let target = edge.target();
                let length = depths[target.index()].length + 1;
                if component_of[target.index()] != component && length > deepest.length {
                    let next = Some((package(edge.source()), package(target)));
                    deepest = Depth { length, next };
                }
            }
            for member in members {
                depths[member.index()] = deepest;
            }
        }
        depths
    }
}

/// The component of each node.
fn components(members_of: &[impl AsRef<[NodeIndex]>], nodes: usize) -> Vec<usize> {
    let mut component_of = vec![0; nodes];
    for (component, members) in members_of.iter().enumerate() {
        for member in members.as_ref() {
            component_of[member.index()] = component;
        }
    }
    component_of
}

/// How far a package stands above the packages that depend on nothing.
#[derive(Clone, Copy, Debug)]
pub struct Depth<'t> {
    /// How many packages the longest chain below it holds.
    pub length: u32,
    /// The first edge of that chain.
    pub next: Option<(Package<'t>, Package<'t>)>,
}

/// What files reach: see [`Graph::reach`].
#[derive(Debug)]
pub struct Reach<'g, 't> {
    graph: &'g Graph<'t>,
    levels: &'g [Level],
    through: Vec<bool>,
    component_of: Vec<usize>,
    sets: Vec<FixedBitSet>,
}

impl<'t> Reach<'_, 't> {
    /// The packages that the files reach, by their ids; the package of the
    /// files themselves is among them where they reach another file of it.
    pub fn packages(&self, files: impl Iterator<Item = File<'t>>) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(self.graph.packages.node_count());
        for file in files {
            set.union_with(&self.sets[self.component_of[file.id.0 as usize]]);
        }
        set
    }

    /// The files that the files depend on directly, at the levels that count.
    pub fn direct(&self, files: impl Iterator<Item = File<'t>>) -> impl Iterator<Item = File<'t>> {
        files.flat_map(|file| {
            self.graph
                .files
                .edges(node(file.id.0))
                .filter(|edge| edge.weight().any(self.levels))
                .map(|edge| self.graph.tree.file(FileId(edge.target().index() as u32)))
        })
    }

    /// For each target a shortest path to it from one of the files, file by
    /// file, in the order of packages. Of several shortest paths it is the one
    /// that stands first in the order of files.
    pub fn paths(
        &self,
        files: impl Iterator<Item = File<'t>>,
        targets: &FixedBitSet,
    ) -> Vec<(Package<'t>, Vec<Step<'t>>)> {
        let tree = self.graph.tree;
        if targets.is_clear() {
            return Vec::new();
        }
        let mut came: Vec<Option<FileId>> = vec![None; tree.files.len()];
        let mut queue: VecDeque<FileId> = files.map(|file| file.id).collect();
        for &file in &queue {
            came[file.0 as usize] = Some(file);
        }
        let mut missing = targets.clone();
        let mut found = Vec::new();
        while !missing.is_clear()
            && let Some(at) = queue.pop_front()
        {
            for edge in self.graph.files.edges(node(at.0)) {
                let target = FileId(edge.target().index() as u32);
                if came[target.0 as usize].is_some() || !edge.weight().any(self.levels) {
                    continue;
                }
                came[target.0 as usize] = Some(at);
                let package = tree.file(target).package().id;
                if missing.contains(package.0 as usize) {
                    missing.remove(package.0 as usize);
                    found.push((package, target));
                }
                if self.through[package.0 as usize] {
                    queue.push_back(target);
                }
            }
        }
        found.sort_unstable();
        let steps = |(package, end): (PackageId, FileId)| {
            let mut path = Vec::new();
            let mut at = end;
            while let Some(from) = came[at.0 as usize].filter(|&from| from != at) {
                path.extend(self.graph.step(from, at, self.levels));
                at = from;
            }
            path.reverse();
            (tree.package(package), path)
        };
        found.into_iter().map(steps).collect()
    }
}
