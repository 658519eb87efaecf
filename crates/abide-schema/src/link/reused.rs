//! The files that one tree takes over from another linked tree: those that mean the same in both.

use std::sync::Arc;

use crate::decl::FileDecl;
use crate::ids::{FileId, PackageId};
use crate::link::unread::mark_importers;
use crate::protobuf::DESCRIPTOR_PROTO;
use crate::tree::{LinkedFile, PackageData, Tree};

/// The linked files of another tree that linking these files would make again, by index.
#[derive(Default)]
pub(crate) struct ReusedFiles(Vec<Option<Arc<LinkedFile>>>);

impl ReusedFiles {
    /// Finds the files that `other` has, once imports and packages are resolved.
    ///
    /// What a file means depends on its declarations and on those that it imports, directly or not.
    /// So a file is kept if none of these changed. It must have no problem, either: problems may
    /// name what the file does not import. Everything is numbered by the order of the files, so
    /// nothing is kept if a file or a package came or went.
    pub(super) fn find(
        files: &[Arc<FileDecl>],
        imports: &[Vec<Option<FileId>>],
        (packages, package_of): (&[PackageData], &[PackageId]),
        other: &Tree,
    ) -> ReusedFiles {
        let names = |packages: &[PackageData]| -> Vec<String> {
            packages.iter().map(|it| it.name.clone()).collect()
        };
        let homes = other.files.iter().map(|it| it.package);
        if !has_files(other, files)
            || !homes.eq(package_of.iter().copied())
            || names(packages) != names(&other.packages)
        {
            return ReusedFiles::default();
        }
        let is_changed = |at: usize| !Arc::ptr_eq(&files[at], &other.files[at].decl);
        let open: Vec<usize> = (0..files.len()).filter(|at| is_changed(*at)).collect();
        // Every file has options, whether or not it imports what declares them.
        if open.iter().any(|at| &*files[*at].path == DESCRIPTOR_PROTO) {
            return ReusedFiles::default();
        }
        let mut importers: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
        for (at, imports) in imports.iter().enumerate() {
            for target in imports.iter().flatten() {
                importers[target.0 as usize].push(at);
            }
        }
        let mut is_stale = mark_importers(open, &importers);
        for problem in &other.problems {
            is_stale[problem.place.file.0 as usize] = true;
        }
        let kept = other.files.iter().zip(is_stale).map(|(file, is_stale)| {
            // Serialised options may be of any extension of the tree.
            let is_kept = !is_stale && file.decl.ast().is_some();
            is_kept.then(|| Arc::clone(file))
        });
        ReusedFiles(kept.collect())
    }

    /// The file with this index, if it is kept.
    pub(crate) fn get(&self, index: usize) -> Option<&Arc<LinkedFile>> {
        self.0.get(index)?.as_ref()
    }
}

/// Returns true if a tree consists of files with these roots and paths, in this order.
pub(super) fn has_files(tree: &Tree, files: &[Arc<FileDecl>]) -> bool {
    let key = |file: &FileDecl| (file.root, Arc::clone(&file.path));
    let theirs = tree.files.iter().map(|it| key(&it.decl));
    theirs.eq(files.iter().map(|it| key(it)))
}
