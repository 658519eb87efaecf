//! Finds the files and packages that files reach, and the shortest paths there.
//!
//! Rules ask about few packages of a tree: those that are outdated, or unstable, or have other
//! versions. Their columns are computed a strip at a time, so that memory grows with the files
//! alone and not with the square of the packages.

use std::collections::VecDeque;
use std::ops::Range;

use fixedbitset::{Block, FixedBitSet};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rustc_hash::FxHashMap;

use super::steps::{DependencyStep, StepFinder};
use super::{DependencyGraph, DependencyLevel, index_components, to_node};
use crate::ids::{FileId, PackageId};
use crate::tree::{File, Package};

/// The number of packages in a row, unless they must not be parted.
const COLUMNS: usize = 512;

/// The number of bits in a block of a set.
const BITS: usize = Block::BITS as usize;

/// The files that each file reaches: see [`DependencyGraph::compute_reach`].
#[derive(Debug)]
pub struct ReachTable<'g, 't> {
    graph: &'g DependencyGraph<'t>,
    levels: &'g [DependencyLevel],
    through: Vec<bool>,
    component_of: Vec<usize>,
    /// By component: its part of `edges`.
    edges_of: Vec<Range<usize>>,
    edges: Vec<ComponentEdge>,
    /// The packages that files of other packages depend on.
    entered: FixedBitSet,
    steps: StepFinder<'t>,
}

/// The direct dependencies of the files of a component.
#[derive(Clone, Copy, Debug)]
struct ComponentEdge {
    package: PackageId,
    /// The component, if what it reaches is reached too.
    next: Option<u32>,
}

impl<'t> DependencyGraph<'t> {
    /// Computes what files reach at the given levels, passing only through packages
    /// that `through` lets pass.
    pub fn compute_reach<'g>(
        &'g self,
        levels: &'g [DependencyLevel],
        through: impl Fn(Package<'t>) -> bool,
    ) -> ReachTable<'g, 't> {
        let through: Vec<bool> = self.tree.packages().map(through).collect();
        let package = |file: NodeIndex| self.tree.linked(FileId(file.index() as u32)).package;
        let passes = |file: NodeIndex| through[package(file).0 as usize];
        // What a component reaches is known before anyone who reaches it asks:
        // components come in reverse topological order.
        let circles: Vec<Vec<NodeIndex>>;
        let members_of: Vec<&[NodeIndex]> = match &self.order {
            Some(order) => order.chunks(1).collect(),
            None => {
                circles = kosaraju_scc(&EdgeFiltered::from_fn(&self.files, |edge| {
                    edge.weight().has_any(levels) && passes(edge.target())
                }));
                circles.iter().map(Vec::as_slice).collect()
            }
        };
        let component_of = index_components(&members_of, self.files.node_count());
        let mut entered = FixedBitSet::with_capacity(self.packages.node_count());
        let mut edges = Vec::new();
        let mut edges_of = Vec::with_capacity(members_of.len());
        for (component, members) in members_of.iter().enumerate() {
            let start = edges.len();
            for edge in members.iter().flat_map(|&member| self.files.edges(member)) {
                if !edge.weight().has_any(levels) {
                    continue;
                }
                let (to, next) = (package(edge.target()), component_of[edge.target().index()]);
                if package(edge.source()) != to {
                    entered.insert(to.0 as usize);
                }
                let next = (next < component && passes(edge.target())).then_some(next as u32);
                edges.push(ComponentEdge { package: to, next });
            }
            edges_of.push(start..edges.len());
        }
        let steps = StepFinder::new(self.tree);
        ReachTable { graph: self, levels, through, component_of, edges_of, edges, entered, steps }
    }
}

impl<'g, 't> ReachTable<'g, 't> {
    /// Finds the packages that the files reach, a row of packages at a time. The packages of a
    /// group are in one strip; groups of which nothing is reached are left out.
    pub fn split_targets<'r>(
        &'r self,
        groups: impl IntoIterator<Item = &'r [Package<'t>]>,
    ) -> impl Iterator<Item = BitRow<'r, 'g, 't>> {
        let is_entered = |it: &Package<'t>| self.entered.contains(it.id.0 as usize);
        let mut groups = groups.into_iter().filter(move |it| it.iter().any(is_entered)).peekable();
        std::iter::from_fn(move || {
            let mut targets = groups.next()?.to_vec();
            while let Some(more) = groups.next_if(|it| targets.len() + it.len() <= COLUMNS) {
                targets.extend_from_slice(more);
            }
            Some(self.strip(targets))
        })
    }

    /// Finds the packages, of these, that the files reach.
    pub fn strip<'r>(&'r self, targets: Vec<Package<'t>>) -> BitRow<'r, 'g, 't> {
        let mut columns = vec![None; self.graph.packages.node_count()];
        for (column, target) in (0..).zip(&targets) {
            columns[target.id.0 as usize] = Some(column);
        }
        let width = targets.len().div_ceil(BITS).max(1);
        let mut rows: Vec<Block> = vec![0; self.edges_of.len() * width];
        for (component, edges) in self.edges_of.iter().enumerate() {
            let (before, rest) = rows.split_at_mut(component * width);
            for edge in self.edges.get(edges.clone()).unwrap_or_default() {
                if let Some(column) = columns[edge.package.0 as usize] {
                    rest[column as usize / BITS] |= 1 << (column as usize % BITS);
                }
                if let Some(next) = edge.next {
                    let reached = before.iter().skip(next as usize * width);
                    rest.iter_mut().zip(reached.take(width)).for_each(|(row, it)| *row |= it);
                }
            }
        }
        BitRow { reach: self, targets, columns, width, rows }
    }

    /// The files that the files depend on directly, at the levels that count.
    pub fn iter_direct(
        &self,
        files: impl Iterator<Item = File<'t>>,
    ) -> impl Iterator<Item = File<'t>> {
        files.flat_map(|file| {
            self.graph
                .files
                .edges(to_node(file.id.0))
                .filter(|edge| edge.weight().has_any(self.levels))
                .map(|edge| self.graph.tree.file(FileId(edge.target().index() as u32)))
        })
    }

    /// For each target a shortest path to it from one of the files, file by
    /// file, in the order of packages. Of several shortest paths it is the one
    /// that stands first in the order of files.
    pub fn find_paths(
        &mut self,
        files: impl Iterator<Item = File<'t>>,
        targets: &[Package<'t>],
    ) -> Vec<(Package<'t>, Vec<DependencyStep<'t>>)> {
        let tree = self.graph.tree;
        let mut queue: VecDeque<FileId> = files.map(|file| file.id).collect();
        let mut came: FxHashMap<FileId, FileId> = queue.iter().map(|&file| (file, file)).collect();
        let mut missing: Vec<PackageId> = targets.iter().map(|it| it.id).collect();
        missing.sort_unstable();
        missing.dedup();
        // Which of them are found, as a map is dear for one.
        let mut found: Vec<Option<FileId>> = vec![None; missing.len()];
        let mut open = missing.len();
        while open > 0
            && let Some(at) = queue.pop_front()
        {
            for edge in self.graph.files.edges(to_node(at.0)) {
                let target = FileId(edge.target().index() as u32);
                if !edge.weight().has_any(self.levels) || came.contains_key(&target) {
                    continue;
                }
                came.insert(target, at);
                let package = tree.linked(target).package;
                if let Ok(index) = missing.binary_search(&package)
                    && found[index].is_none()
                {
                    found[index] = Some(target);
                    open -= 1;
                }
                if self.through[package.0 as usize] {
                    queue.push_back(target);
                }
            }
        }
        let mut steps = |end: FileId| {
            let mut path = Vec::new();
            let mut at = end;
            while let Some(from) = came.get(&at).copied().filter(|&from| from != at) {
                path.extend(self.steps.find_step(from, at, self.levels));
                at = from;
            }
            path.reverse();
            path
        };
        let found = missing.into_iter().zip(found);
        found.filter_map(|(package, end)| Some((tree.package(package), steps(end?)))).collect()
    }
}

/// The packages, of some, that the files reach: a row of bits for each component.
#[derive(Debug)]
pub struct BitRow<'r, 'g, 't> {
    reach: &'r ReachTable<'g, 't>,
    targets: Vec<Package<'t>>,
    /// By package: where it stands among the targets.
    columns: Vec<Option<u32>>,
    /// The number of blocks in the row of a component.
    width: usize,
    rows: Vec<Block>,
}

impl<'t> BitRow<'_, '_, 't> {
    /// The packages that are asked for.
    pub fn targets(&self) -> &[Package<'t>] {
        &self.targets
    }

    /// Returns the index of a package among the targets.
    pub fn column(&self, package: Package<'t>) -> Option<usize> {
        self.columns[package.id.0 as usize].map(|it| it as usize)
    }

    /// Collects the targets that the files reach, by their columns; the package of the files
    /// themselves is among them where they reach another file of it.
    pub fn collect_reached(&self, files: impl Iterator<Item = File<'t>>) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(self.targets.len());
        for file in files {
            let start = self.reach.component_of[file.id.0 as usize] * self.width;
            let row = self.rows.iter().skip(start);
            set.as_mut_slice().iter_mut().zip(row).for_each(|(set, row)| *set |= row);
        }
        set
    }
}
