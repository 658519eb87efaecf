//! Which files each file may use names of.

use std::sync::Arc;

use abide_syntax::ImportKind;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use petgraph::visit::{DfsPostOrder, EdgeRef};
use rayon::prelude::*;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::link::symbol::{
    NumberSet, PackageNode, Passed, PassedOn, PublicNumbers, Symbols, Visible,
};

/// The files that each file sees: its imports, and their public imports.
pub(super) fn visibility(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    nodes: &[PackageNode],
    symbols: &Symbols<'_>,
) -> Vec<Visible> {
    let package_count = symbols.package_count();
    let publicly = Publicly::of(files, imports, nodes, symbols);
    (0..files.len())
        .into_par_iter()
        .map_init(
            || Marks::new(package_count),
            |package_marks, index| {
                let import = |wanted_option: bool| -> Vec<FileId> {
                    let kinds = files[index].imports.iter().map(|import| import.kind);
                    let wanted =
                        kinds.map(move |kind| (kind == ImportKind::Option) == wanted_option);
                    let targets = wanted.zip(&imports[index]);
                    targets.filter_map(|(wanted, target)| target.filter(|_| wanted)).collect()
                };
                let (mut seen, option_files) = (import(false), import(true));
                let passed_on = publicly.as_ref().and_then(|it| it.by(&seen, &option_files));
                seen.push(FileId(index as u32));
                package_marks.clear();
                let mut packages = Vec::new();
                for file in seen.iter().chain(&option_files) {
                    let new = |node: &PackageNode| package_marks.mark(node.0 as usize);
                    let chain = symbols.with_prefixes(nodes[file.0 as usize]);
                    packages.extend(chain.take_while(new).map(|node| node.0));
                }
                let set = |seen: Vec<FileId>| {
                    NumberSet::new(seen.into_iter().map(|file| file.0).collect(), files.len())
                };
                Visible {
                    files: set(seen),
                    option_files: set(option_files),
                    packages: NumberSet::new(packages, package_count),
                    passed_on,
                }
            },
        )
        .collect()
}

/// A set that is emptied in one step.
struct Marks {
    /// The round in which each was last marked.
    rounds: Vec<u32>,
    round: u32,
}

impl Marks {
    fn new(count: usize) -> Marks {
        Marks { rounds: vec![0; count], round: 0 }
    }

    /// Forgets all marks.
    fn clear(&mut self) {
        self.round += 1;
    }

    /// Marks one; returns whether it was not marked.
    fn mark(&mut self, index: usize) -> bool {
        std::mem::replace(&mut self.rounds[index], self.round) != self.round
    }
}

/// What files pass on by public imports: nothing is known of those that have none.
///
/// Each file of a long chain passes on all that come before. So files are numbered along the
/// chains, and what one of them passes on is a few ranges.
struct Publicly {
    numbers: Arc<PublicNumbers>,
    /// By file.
    passed: Vec<Option<Arc<Passed>>>,
}

impl Publicly {
    /// `None` if there is no public import.
    fn of(
        files: &[Arc<FileDecl>],
        imports: &[Vec<Option<FileId>>],
        nodes: &[PackageNode],
        symbols: &Symbols<'_>,
    ) -> Option<Publicly> {
        let targets = |index: usize| {
            let all = files[index].imports.iter().zip(&imports[index]);
            let public = all.filter(|(import, _)| import.kind == ImportKind::Public);
            public.filter_map(|(_, target)| *target)
        };
        let edges = (0..files.len() as u32)
            .flat_map(|file| targets(file as usize).map(move |target| (file, target.0)));
        let mut graph = DiGraph::<(), ()>::from_edges(edges);
        if graph.edge_count() == 0 {
            return None;
        }
        while graph.node_count() < files.len() {
            graph.add_node(());
        }
        let numbers = Arc::new(numbered(&graph, nodes, symbols));
        let mut publicly = Publicly { numbers, passed: vec![None; files.len()] };
        // What a file passes on is known before anyone who imports it asks: components come in
        // reverse topological order.
        for members in kosaraju_scc(&graph) {
            let mut union = Union::default();
            for edge in members.iter().flat_map(|&member| graph.edges(member)) {
                let target = edge.target().index();
                union.files.push(point(publicly.numbers.files[target]));
                for node in symbols.with_prefixes(nodes[target]) {
                    union.packages.push(point(publicly.numbers.packages[node.0 as usize]));
                }
                union.add(publicly.passed[target].iter());
            }
            if union.files.is_empty() {
                continue;
            }
            let passed = Arc::new(union.joined(&publicly.numbers));
            for member in members {
                publicly.passed[member.index()] = Some(Arc::clone(&passed));
            }
        }
        Some(publicly)
    }

    /// What the imports of a file pass on to it.
    fn by(&self, imports: &[FileId], option_imports: &[FileId]) -> Option<PassedOn> {
        let passed = |files: &[FileId]| {
            let mut passed = files.iter().filter_map(|it| self.passed[it.0 as usize].as_ref());
            let first = passed.next()?;
            let Some(second) = passed.next() else { return Some(Arc::clone(first)) };
            let mut union = Union::default();
            union.add([first, second].into_iter().chain(passed));
            Some(Arc::new(union.joined(&self.numbers)))
        };
        let (by_imports, by_option_imports) = (passed(imports), passed(option_imports));
        let is_empty = by_imports.is_none() && by_option_imports.is_none();
        let numbers = Arc::clone(&self.numbers);
        (!is_empty).then_some(PassedOn { numbers, by_imports, by_option_imports })
    }
}

/// Numbers files behind what they import publicly, and packages in the order in which these files
/// bring them.
fn numbered(
    graph: &DiGraph<(), ()>,
    nodes: &[PackageNode],
    symbols: &Symbols<'_>,
) -> PublicNumbers {
    let mut files = vec![0; nodes.len()];
    let mut packages = vec![None; symbols.package_count()];
    let (mut file_numbers, mut package_numbers) = (0.., 0..);
    let mut order = DfsPostOrder::empty(graph);
    for start in graph.node_indices() {
        order.move_to(start);
        while let Some(file) = order.next(graph) {
            files[file.index()] = file_numbers.next().unwrap_or_default();
            for node in symbols.with_prefixes(nodes[file.index()]) {
                let number = &mut packages[node.0 as usize];
                if number.is_some() {
                    break;
                }
                *number = package_numbers.next();
            }
        }
    }
    PublicNumbers { files, packages: packages.into_iter().map(Option::unwrap_or_default).collect() }
}

/// Ranges of numbers of files and packages, before they are joined.
#[derive(Default)]
struct Union {
    files: Vec<(u32, u32)>,
    packages: Vec<(u32, u32)>,
}

impl Union {
    fn add<'p>(&mut self, all: impl Iterator<Item = &'p Arc<Passed>>) {
        for passed in all {
            self.files.extend(passed.files.ranges());
            self.packages.extend(passed.packages.ranges());
        }
    }

    fn joined(self, numbers: &PublicNumbers) -> Passed {
        Passed {
            files: NumberSet::of_ranges(self.files, numbers.files.len()),
            packages: NumberSet::of_ranges(self.packages, numbers.packages.len()),
        }
    }
}

const fn point(number: u32) -> (u32, u32) {
    (number, number)
}
