//! Computes the files whose names each file may use.

use std::sync::Arc;

use abide_syntax::ImportKind;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use petgraph::visit::{DfsPostOrder, EdgeRef};
use rayon::prelude::*;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::link::symbol::{
    NumberSet, PackageNode, PublicNumbers, ReexportedFiles, Reexports, SymbolTable, VisibleFiles,
};

/// The files that each file sees: its imports, and their public imports.
pub(super) fn compute_visibility(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    nodes: &[PackageNode],
    symbols: &SymbolTable<'_>,
) -> Vec<VisibleFiles> {
    let package_count = symbols.package_count();
    let publicly = PublicImports::collect(files, imports, nodes, symbols);
    (0..files.len())
        .into_par_iter()
        .map_init(
            || VisitMarks::new(package_count),
            |package_marks, index| {
                let import = |wanted_option: bool| -> Vec<FileId> {
                    let kinds = files[index].imports.iter().map(|import| import.kind);
                    let wanted =
                        kinds.map(move |kind| (kind == ImportKind::Option) == wanted_option);
                    let targets = wanted.zip(&imports[index]);
                    targets.filter_map(|(wanted, target)| target.filter(|_| wanted)).collect()
                };
                let (mut seen, option_files) = (import(false), import(true));
                let passed_on =
                    publicly.as_ref().and_then(|it| it.compute_reexports(&seen, &option_files));
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
                VisibleFiles {
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
struct VisitMarks {
    /// The round in which each was last marked.
    rounds: Vec<u32>,
    round: u32,
}

impl VisitMarks {
    fn new(count: usize) -> VisitMarks {
        VisitMarks { rounds: vec![0; count], round: 0 }
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

/// The files that each file passes on by public imports; `None` for files without any.
///
/// Each file of a long chain passes on all that come before. So files are numbered along the
/// chains, and what one of them passes on is a few ranges.
struct PublicImports {
    numbers: Arc<PublicNumbers>,
    /// By file.
    passed: Vec<Option<Arc<ReexportedFiles>>>,
}

impl PublicImports {
    /// `None` if there is no public import.
    fn collect(
        files: &[Arc<FileDecl>],
        imports: &[Vec<Option<FileId>>],
        nodes: &[PackageNode],
        symbols: &SymbolTable<'_>,
    ) -> Option<PublicImports> {
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
        let numbers = Arc::new(number_files(&graph, nodes, symbols));
        let mut publicly = PublicImports { numbers, passed: vec![None; files.len()] };
        // What a file passes on is known before anyone who imports it asks: components come in
        // reverse topological order.
        for members in kosaraju_scc(&graph) {
            let mut union = NumberUnion::default();
            for edge in members.iter().flat_map(|&member| graph.edges(member)) {
                let target = edge.target().index();
                union.files.push(to_range(publicly.numbers.files[target]));
                for node in symbols.with_prefixes(nodes[target]) {
                    union.packages.push(to_range(publicly.numbers.packages[node.0 as usize]));
                }
                union.add(publicly.passed[target].iter());
            }
            if union.files.is_empty() {
                continue;
            }
            let passed = Arc::new(union.join(&publicly.numbers));
            for member in members {
                publicly.passed[member.index()] = Some(Arc::clone(&passed));
            }
        }
        Some(publicly)
    }

    /// Computes the files that the imports of a file pass on to it.
    fn compute_reexports(
        &self,
        imports: &[FileId],
        option_imports: &[FileId],
    ) -> Option<Reexports> {
        let passed = |files: &[FileId]| {
            let mut passed = files.iter().filter_map(|it| self.passed[it.0 as usize].as_ref());
            let first = passed.next()?;
            let Some(second) = passed.next() else { return Some(Arc::clone(first)) };
            let mut union = NumberUnion::default();
            union.add([first, second].into_iter().chain(passed));
            Some(Arc::new(union.join(&self.numbers)))
        };
        let (by_imports, by_option_imports) = (passed(imports), passed(option_imports));
        let is_empty = by_imports.is_none() && by_option_imports.is_none();
        let numbers = Arc::clone(&self.numbers);
        (!is_empty).then_some(Reexports { numbers, by_imports, by_option_imports })
    }
}

/// Numbers files behind what they import publicly, and packages in the order in which these files
/// bring them.
fn number_files(
    graph: &DiGraph<(), ()>,
    nodes: &[PackageNode],
    symbols: &SymbolTable<'_>,
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
struct NumberUnion {
    files: Vec<(u32, u32)>,
    packages: Vec<(u32, u32)>,
}

impl NumberUnion {
    fn add<'p>(&mut self, all: impl Iterator<Item = &'p Arc<ReexportedFiles>>) {
        for passed in all {
            self.files.extend(passed.files.to_ranges());
            self.packages.extend(passed.packages.to_ranges());
        }
    }

    fn join(self, numbers: &PublicNumbers) -> ReexportedFiles {
        ReexportedFiles {
            files: NumberSet::from_ranges(self.files, numbers.files.len()),
            packages: NumberSet::from_ranges(self.packages, numbers.packages.len()),
        }
    }
}

const fn to_range(number: u32) -> (u32, u32) {
    (number, number)
}
