//! Which files each file may use names of.

use std::sync::Arc;

use abide_syntax::ImportKind;
use rayon::prelude::*;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::symbol::{FileSet, PackageNode, Symbols, Visible};

/// The files that each file sees: its imports, and their public imports.
pub(super) fn visibility(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    nodes: &[PackageNode],
    symbols: &Symbols<'_>,
) -> Vec<Visible> {
    let words = symbols.package_count().div_ceil(64);
    (0..files.len())
        .into_par_iter()
        .map_init(
            || Publicly { files, imports, marks: vec![0; files.len()], round: 0 },
            |publicly, index| {
                let import = |wanted_option: bool| {
                    let kinds = files[index].imports.iter().map(|import| import.kind);
                    let wanted =
                        kinds.map(move |kind| (kind == ImportKind::Option) == wanted_option);
                    let targets = wanted.zip(&imports[index]);
                    targets.filter_map(|(wanted, target)| target.filter(|_| wanted)).collect()
                };
                let mut seen = publicly.closure(import(false));
                if publicly.mark(FileId(index as u32)) {
                    seen.push(FileId(index as u32));
                }
                let option_files = publicly.closure(import(true));
                let mut packages = vec![0_u64; words];
                for file in seen.iter().chain(&option_files) {
                    let mut node = Some(nodes[file.0 as usize]);
                    while let Some(at) = node {
                        let (word, bit) = (at.0 as usize / 64, 1 << (at.0 % 64));
                        if packages[word] & bit != 0 {
                            break;
                        }
                        packages[word] |= bit;
                        node = symbols.package_parent(at);
                    }
                }
                Visible {
                    files: FileSet::new(seen, files.len()),
                    option_files: FileSet::new(option_files, files.len()),
                    packages,
                }
            },
        )
        .collect()
}

/// Collects files and their public imports, in any number of steps. It marks
/// each file it has seen, since chains of public imports may be long.
struct Publicly<'a> {
    files: &'a [Arc<FileDecl>],
    imports: &'a [Vec<Option<FileId>>],
    /// The round in which each file was last seen.
    marks: Vec<u32>,
    round: u32,
}

impl Publicly<'_> {
    /// Marks a file; returns whether this is the first time in this round.
    fn mark(&mut self, file: FileId) -> bool {
        std::mem::replace(&mut self.marks[file.0 as usize], self.round) != self.round
    }

    fn closure(&mut self, mut pending: Vec<FileId>) -> Vec<FileId> {
        self.round += 1;
        let mut seen = Vec::with_capacity(pending.len() + 1);
        while let Some(file) = pending.pop() {
            if !self.mark(file) {
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
