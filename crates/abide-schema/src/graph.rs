//! The dependencies between packages, and the evidence for each.
//!
//! Files are the ground truth: what a package reaches is what its files reach,
//! file by file. A package of many unrelated files does therefore not pass on
//! everything it depends on to everyone who uses one of them.

mod evidence;
mod level;
mod reach;
mod steps;

use std::collections::VecDeque;

use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rayon::prelude::*;

use self::evidence::visit_uses;
use crate::ids::{FileId, PackageId};
use crate::tree::{File, Package, Tree};

pub use self::evidence::DependencyEvidence;
pub use self::level::{DependencyLevel, LevelCounts};
pub use self::reach::{BitRow, ReachTable};
pub use self::steps::{DependencyStep, StepFinder};

/// The dependencies between the files and between the packages of a tree.
#[derive(Debug)]
pub struct DependencyGraph<'t> {
    tree: &'t Tree,
    /// Nodes are files, by their ids.
    files: DiGraph<(), LevelCounts>,
    /// The files, each behind those that it depends on; `None` where files
    /// depend on each other in a circle, which the language forbids.
    order: Option<Vec<NodeIndex>>,
    /// Nodes are packages, by their ids.
    packages: DiGraph<PackageId, PackageEdge>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PackageEdge {
    counts: LevelCounts,
    /// The first pair of files that gives evidence, by level. A judged file
    /// goes before one that is not.
    first: [Option<(FileId, FileId)>; 3],
}

impl Tree {
    /// The dependencies between its files and packages, found in parallel file
    /// by file.
    pub fn build_graph(&self) -> DependencyGraph<'_> {
        let by_file: Vec<Vec<(FileId, LevelCounts)>> = (0..self.files.len() as u32)
            .into_par_iter()
            .map(|index| collect_file_edges(self.file(FileId(index))))
            .collect();

        let ((files, order), packages) =
            rayon::join(|| build_file_graph(&by_file), || self.build_package_graph(&by_file));
        DependencyGraph { tree: self, files, order, packages }
    }

    /// Builds the graph of packages from the edges between files.
    fn build_package_graph(
        &self,
        by_file: &[Vec<(FileId, LevelCounts)>],
    ) -> DiGraph<PackageId, PackageEdge> {
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
                for level in DependencyLevel::ALL {
                    if counts.count_at(level) > 0 {
                        edge.first[level as usize].get_or_insert((from, to));
                    }
                }
                edge.counts.add(counts);
            }
            edges.push((group[0].0, group[0].1, edge));
        }
        for (from, to, edge) in edges.into_iter().rev() {
            packages.add_edge(to_node(from.0), to_node(to.0), edge);
        }
        packages
    }
}

/// The files with their edges, and an order in which each stands behind those
/// it depends on; none where there is a cycle.
fn build_file_graph(
    by_file: &[Vec<(FileId, LevelCounts)>],
) -> (DiGraph<(), LevelCounts>, Option<Vec<NodeIndex>>) {
    let edge_count = by_file.iter().map(Vec::len).sum();
    let mut files = DiGraph::with_capacity(by_file.len(), edge_count);
    for _ in by_file {
        files.add_node(());
    }
    for (from, edges) in by_file.iter().enumerate() {
        // A node shows its edges last in, first out.
        for &(to, counts) in edges.iter().rev() {
            files.add_edge(NodeIndex::new(from), to_node(to.0), counts);
        }
    }
    let order = toposort(&files, None).ok().map(|mut order| {
        order.reverse();
        order
    });
    (files, order)
}

fn to_node(index: u32) -> NodeIndex {
    NodeIndex::new(index as usize)
}

fn collect_file_edges(file: File<'_>) -> Vec<(FileId, LevelCounts)> {
    let mut uses = Vec::new();
    visit_uses(file, &mut |used| uses.push((used.target_file().id, used.level())));
    uses.sort_unstable();
    uses.chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let mut counts = LevelCounts::default();
            for &(_, level) in group {
                counts.add_use(level);
            }
            (group[0].0, counts)
        })
        .collect()
}

/// The dependency of a package on another.
#[derive(Clone, Copy, Debug)]
pub struct PackageDependency<'g, 't> {
    graph: &'g DependencyGraph<'t>,
    /// The package that depends.
    pub from: Package<'t>,
    /// The package that it depends on.
    pub to: Package<'t>,
    edge: &'g PackageEdge,
}

impl<'t> PackageDependency<'_, 't> {
    /// Returns the number of uses, by level.
    pub fn counts(&self) -> LevelCounts {
        self.edge.counts
    }

    /// The first evidence at a level, in the order of files and declarations;
    /// that of a judged file goes first.
    pub fn find_evidence(
        &self,
        steps: &mut StepFinder<'t>,
        level: DependencyLevel,
    ) -> Option<DependencyEvidence<'t>> {
        let (from, to) = self.edge.first[level as usize]?;
        steps.find_evidence(from, to)[level as usize]
    }

    /// Every piece of evidence, in the order of files.
    pub fn collect_uses(&self) -> Vec<DependencyEvidence<'t>> {
        let mut uses = Vec::new();
        for file in self.from.files() {
            visit_uses(file, &mut |used| {
                if used.target_file().package() == self.to {
                    uses.push(used);
                }
            });
        }
        uses
    }

    /// The first step from the one package to the other at one of the levels;
    /// a judged file and the most telling level go first.
    pub fn find_step(
        &self,
        steps: &mut StepFinder<'t>,
        levels: &[DependencyLevel],
    ) -> Option<DependencyStep<'t>> {
        let best = [DependencyLevel::Type, DependencyLevel::Option, DependencyLevel::Import]
            .into_iter()
            .filter(|level| levels.contains(level))
            .filter_map(|level| self.edge.first[level as usize])
            .min_by_key(|&(from, _)| !self.graph.tree.file(from).is_judged())?;
        steps.find_step(best.0, best.1, levels)
    }
}

impl<'t> DependencyGraph<'t> {
    /// The tree whose files and packages these are.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// Finds the evidence for dependencies.
    pub fn step_finder(&self) -> StepFinder<'t> {
        StepFinder::new(self.tree)
    }

    /// The direct dependencies of a package, in the order of names.
    pub fn edges_of<'g>(
        &'g self,
        package: Package<'t>,
    ) -> impl Iterator<Item = PackageDependency<'g, 't>> + use<'g, 't> {
        self.packages.edges(to_node(package.id.0)).map(move |edge| PackageDependency {
            graph: self,
            from: package,
            to: self.tree.package(PackageId(edge.target().index() as u32)),
            edge: edge.weight(),
        })
    }

    /// The dependency of one package on another.
    pub fn edge<'g>(
        &'g self,
        from: Package<'t>,
        to: Package<'t>,
    ) -> Option<PackageDependency<'g, 't>> {
        let edge = self.packages.find_edge(to_node(from.id.0), to_node(to.id.0))?;
        Some(PackageDependency { graph: self, from, to, edge: &self.packages[edge] })
    }

    /// The packages that depend on each other in a circle, at the given
    /// levels: each group in the order of names.
    pub fn find_cycles(&self, among: impl Fn(Package<'t>) -> bool) -> Vec<Vec<Package<'t>>> {
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
    pub fn find_shortest_cycle<'g>(
        &'g self,
        package: Package<'t>,
        group: &[Package<'t>],
        limit: usize,
    ) -> Option<Vec<PackageDependency<'g, 't>>> {
        let index = |package: &Package<'t>| group.binary_search(package).ok();
        let start = index(&package)?;
        let mut came: Vec<Option<(usize, PackageDependency<'g, 't>)>> = vec![None; group.len()];
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

    /// Numbers the packages by the circles they depend on each other in: packages with one
    /// number do.
    pub fn number_components(&self) -> Vec<usize> {
        index_components(&kosaraju_scc(&self.packages), self.packages.node_count())
    }

    /// For every package, how many packages the longest chain below it holds.
    /// Packages in a circle count together.
    pub fn compute_depths(&self) -> Vec<ChainDepth<'t>> {
        let members_of = kosaraju_scc(&self.packages);
        let component_of = index_components(&members_of, self.packages.node_count());
        let package = |at: NodeIndex| self.tree.package(PackageId(at.index() as u32));
        let mut depths = vec![ChainDepth { length: 0, next: None }; component_of.len()];
        for (component, members) in members_of.iter().enumerate() {
            let mut deepest = ChainDepth { length: 0, next: None };
            for edge in members.iter().flat_map(|&member| self.packages.edges(member)) {
                let target = edge.target();
                let length = depths[target.index()].length + 1;
                if component_of[target.index()] != component && length > deepest.length {
                    let next = Some((package(edge.source()), package(target)));
                    deepest = ChainDepth { length, next };
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
fn index_components(members_of: &[impl AsRef<[NodeIndex]>], nodes: usize) -> Vec<usize> {
    let mut component_of = vec![0; nodes];
    for (component, members) in members_of.iter().enumerate() {
        for member in members.as_ref() {
            component_of[member.index()] = component;
        }
    }
    component_of
}

/// The distance of a package from the packages that depend on nothing.
#[derive(Clone, Copy, Debug)]
pub struct ChainDepth<'t> {
    /// The number of packages in the longest chain below it.
    pub length: u32,
    /// The first edge of that chain.
    pub next: Option<(Package<'t>, Package<'t>)>,
}
