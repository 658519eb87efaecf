//! The consequences of files that do not parse: packages that are not known, and importers that
//! may use names that nobody could read.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_syntax::ImportKind;
use rustc_hash::FxHashMap;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::tree::Tree;

/// Collects the packages that have, or may have, a file that does not parse in one of two trees
/// that are compared.
///
/// The package of such a file is the one that it says, if its statement can be read, and the one
/// of the file with the same path on the other side. If neither is there, it is one of those in
/// the same folder. A file that lost its statement may also be one without a package.
pub(super) fn find_unknown_packages<'f>(
    files: impl Iterator<Item = &'f Arc<FileDecl>> + Clone,
) -> BTreeSet<Box<str>> {
    let broken: Vec<&FileDecl> = files.clone().filter(|it| !it.parses).map(|it| &**it).collect();
    if broken.is_empty() {
        return BTreeSet::new();
    }
    let mut at_path: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
    let mut in_folder: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
    for file in files.filter(|it| it.package.is_some()) {
        let package = file.package_name();
        at_path.entry(&file.path).or_default().insert(package);
        in_folder.entry(parent_folder(&file.path)).or_default().insert(package);
    }
    let mut unknown = BTreeSet::new();
    for file in broken {
        unknown.insert(file.package_name());
        let near = at_path.get(&*file.path).or_else(|| in_folder.get(parent_folder(&file.path)));
        unknown.extend(near.into_iter().flatten());
    }
    unknown.into_iter().map(Box::from).collect()
}

fn parent_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Finds the files of which an importer may use names that nobody could read: those that do not
/// parse, and those that import such a file publicly, in however many steps. Empty if there are
/// none.
pub(super) fn find_unreadable(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
) -> Vec<bool> {
    if files.iter().all(|it| it.parses) {
        return Vec::new();
    }
    let mut republishers: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
    for (at, targets) in imports.iter().enumerate() {
        for (import, target) in files[at].imports.iter().zip(targets) {
            if let (ImportKind::Public, Some(target)) = (import.kind, target) {
                republishers[target.0 as usize].push(at);
            }
        }
    }
    let broken = (0..files.len()).filter(|at| !files[*at].parses);
    mark_importers(broken, &republishers)
}

/// Marks these files and all that import them, in however many steps; `importers` has the direct
/// ones of each file.
pub(super) fn mark_importers(
    files: impl IntoIterator<Item = usize>,
    importers: &[Vec<usize>],
) -> Vec<bool> {
    let mut open: Vec<usize> = files.into_iter().collect();
    let mut is_marked = vec![false; importers.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut is_marked[at], true) {
            open.extend(&importers[at]);
        }
    }
    is_marked
}

impl Tree {
    /// Finds, by their numbers, the files that do not parse and those that import such a file, in
    /// however many steps: what they mean as a whole is not known.
    pub fn find_unknown_files(&self) -> Vec<bool> {
        let broken: Vec<usize> =
            self.files().filter(|it| !it.parses()).map(|it| it.id.0 as usize).collect();
        if broken.is_empty() {
            return vec![false; self.files.len()];
        }
        let mut importers: Vec<Vec<usize>> = vec![Vec::new(); self.files.len()];
        for file in self.files() {
            for target in file.imports().filter_map(|it| it.file) {
                importers[target.id.0 as usize].push(file.id.0 as usize);
            }
        }
        mark_importers(broken, &importers)
    }
}
