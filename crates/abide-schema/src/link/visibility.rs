//! Which files each file may use names of.

use std::sync::Arc;

use abide_syntax::ImportKind;
use rayon::prelude::*;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::symbol::{NumberSet, PackageNode, Symbols, Visible};

/// The files that each file sees: its imports, and their public imports.
pub(super) fn visibility(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    nodes: &[PackageNode],
    symbols: &Symbols<'_>,
) -> Vec<Visible> {
    let package_count = symbols.package_count();
    (0..files.len())
        .into_par_iter()
        .map_init(
            || {
                let marks = Marks::new(files.len());
                (Publicly { files, imports, marks }, Marks::new(package_count))
            },
            |(publicly, package_marks), index| {
                let import = |wanted_option: bool| {
                    let kinds = files[index].imports.iter().map(|import| import.kind);
                    let wanted =
                        kinds.map(move |kind| (kind == ImportKind::Option) == wanted_option);
                    let targets = wanted.zip(&imports[index]);
                    targets.filter_map(|(wanted, target)| target.filter(|_| wanted)).collect()
                };
                let mut seen = publicly.closure(import(false));
                if publicly.marks.mark(index) {
                    seen.push(FileId(index as u32));
                }
                let option_files = publicly.closure(import(true));
                package_marks.clear();
                let mut packages = Vec::new();
                for file in seen.iter().chain(&option_files) {
                    let mut node = Some(nodes[file.0 as usize]);
                    while let Some(at) = node {
                        if !package_marks.mark(at.0 as usize) {
                            break;
                        }
                        packages.push(at.0);
                        node = symbols.package_parent(at);
                    }
                }
                let set = |seen: Vec<FileId>| {
                    NumberSet::new(seen.into_iter().map(|file| file.0).collect(), files.len())
                };
                Visible {
                    files: set(seen),
                    option_files: set(option_files),
                    packages: NumberSet::new(packages, package_count),
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

/// Collects files and their public imports, in any number of steps. It marks
/// each file it has seen, since chains of public imports may be long.
struct Publicly<'a> {
    files: &'a [Arc<FileDecl>],
    imports: &'a [Vec<Option<FileId>>],
    marks: Marks,
}

impl Publicly<'_> {
    fn closure(&mut self, mut pending: Vec<FileId>) -> Vec<FileId> {
        self.marks.clear();
        let mut seen = Vec::with_capacity(pending.len() + 1);
        while let Some(file) = pending.pop() {
            if !self.marks.mark(file.0 as usize) {
                continue;
            }
            seen.push(file);
            let at = file.0 as usize;
            let public = self.files[at]
                .imports
                .iter()
                .zip(&self.imports[at])
                .filter(|(import, _)| import.kind == ImportKind::Public);
            pending.extend(public.filter_map(|(_, target)| *target));
        }
        seen
    }
}
