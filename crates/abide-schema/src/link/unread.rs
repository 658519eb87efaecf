//! What follows from files that do not parse: whose packages are not known, and whose importers
//! may use names that nobody could read.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_syntax::ImportKind;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::tree::Tree;

/// Collects the packages that have, or may have, a file that does not parse in one of two trees
/// that are compared.
///
/// The package of such a file is the one that it says, if its statement can be read, and the one
/// of the file with the same path on the other side. If neither is there, it is one of those in
/// the same folder. A file that lost its statement may also be one without a package.
pub(super) fn unknown_packages(sides: [&[Arc<FileDecl>]; 2]) -> BTreeSet<Box<str>> {
    let mut unknown = BTreeSet::new();
    for broken in sides.into_iter().flatten().filter(|it| !it.parses) {
        unknown.insert(broken.package_name().into());
        let others = || sides.into_iter().flatten().filter(|it| it.package.is_some());
        let mut found = false;
        for twin in others().filter(|it| it.path == broken.path) {
            unknown.insert(twin.package_name().into());
            found = true;
        }
        if !found {
            let folder = folder(&broken.path);
            let near = others().filter(|it| self::folder(&it.path) == folder);
            unknown.extend(near.map(|it| it.package_name().into()));
        }
    }
    unknown
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Finds the files of which an importer may use names that nobody could read: those that do not
/// parse, and those that import such a file publicly, in however many steps. Empty if there are
/// none.
pub(super) fn unreadable(files: &[Arc<FileDecl>], imports: &[Vec<Option<FileId>>]) -> Vec<bool> {
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
    let mut open: Vec<usize> = (0..files.len()).filter(|at| !files[*at].parses).collect();
    let mut unreadable = vec![false; files.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut unreadable[at], true) {
            open.extend(&republishers[at]);
        }
    }
    unreadable
}

impl Tree {
    /// Finds, by their numbers, the files that do not parse and those that import such a file, in
    /// however many steps: what they mean as a whole is not known.
    pub fn files_not_known(&self) -> Vec<bool> {
        let mut is_unknown: Vec<bool> = self.files().map(|it| !it.parses()).collect();
        if !is_unknown.contains(&true) {
            return is_unknown;
        }
        let mut importers: Vec<Vec<usize>> = vec![Vec::new(); is_unknown.len()];
        for file in self.files() {
            for target in file.imports().filter_map(|it| it.file) {
                importers[target.id.0 as usize].push(file.id.0 as usize);
            }
        }
        let mut open: Vec<usize> = (0..is_unknown.len()).filter(|at| is_unknown[*at]).collect();
        while let Some(at) = open.pop() {
            let more = importers[at].iter().copied();
            let more: Vec<usize> =
                more.filter(|it| !std::mem::replace(&mut is_unknown[*it], true)).collect();
            open.extend(more);
        }
        is_unknown
    }
}
