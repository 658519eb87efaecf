//! Imports that were not found or could not be read, and the names that they may declare.

use rustc_hash::FxHashMap;

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::link::symbol::{NotFound, Symbol};

/// The imports of one file that were not found, or that lead to a file that does not parse. A name
/// that no other file declares may be in one of them, so it is counted here and not reported on its
/// own.
#[derive(Clone, Debug)]
pub(crate) struct MissingImports<'a> {
    folders: Vec<MissingFolder<'a>>,
    /// For each import of the file, the folder that it was not found in.
    folder_of: Vec<Option<usize>>,
    /// True if one of them is there and does not parse.
    is_unreadable: bool,
    /// By name, the folders that may declare it. A file writes few names, most of them many times.
    likeliest: FxHashMap<Box<str>, Box<[usize]>>,
}

/// A folder of imports that were not found. A name may be in all of them or in none: nothing but the
/// folder says what a file declares.
#[derive(Clone, Debug)]
struct MissingFolder<'a> {
    folder: &'a str,
    /// How much it is like the package of the file.
    shared_with_package: usize,
    /// How often its files may declare a name.
    uses: u32,
}

impl<'a> MissingImports<'a> {
    pub(crate) fn of(
        decl: &'a FileDecl,
        targets: impl Iterator<Item = Option<FileId>>,
        unreadable: &[bool],
    ) -> MissingImports<'a> {
        let is_unreadable = |id: FileId| unreadable.get(id.0 as usize) == Some(&true);
        let mut missing = MissingImports {
            folders: Vec::new(),
            folder_of: Vec::new(),
            is_unreadable: false,
            likeliest: FxHashMap::default(),
        };
        let mut known: FxHashMap<&str, usize> = FxHashMap::default();
        for (index, (import, target)) in decl.imports.iter().zip(targets).enumerate() {
            if !target.is_none_or(is_unreadable) {
                continue;
            }
            missing.is_unreadable |= target.is_some();
            let folder = find_folder(&import.path);
            let at = *known.entry(folder).or_insert_with(|| {
                let shared_with_package = count_shared_start(decl.package_name(), folder);
                missing.folders.push(MissingFolder { folder, shared_with_package, uses: 0 });
                missing.folders.len() - 1
            });
            missing.folder_of.resize(decl.imports.len(), None);
            missing.folder_of[index] = Some(at);
        }
        missing
    }

    /// Returns true if one of the imports may declare a name that was not found. Counts the use at
    /// those whose folders are most like the name.
    pub(crate) fn may_declare(&mut self, name: &str, reason: &NotFound) -> bool {
        // Other files add to a package, but not to a message.
        let is_open = match reason {
            NotFound::Nowhere => true,
            NotFound::InnerScope { found } => matches!(found, Symbol::Package(_)),
        };
        // Whatever was found may be hidden by what a file that does not parse declares.
        if self.folders.is_empty() || !is_open && !self.is_unreadable {
            return false;
        }
        if !self.likeliest.contains_key(name) {
            self.likeliest.insert(name.into(), find_likeliest(&self.folders, name));
        }
        for at in self.likeliest.get(name).into_iter().flatten() {
            self.folders[*at].uses += 1;
        }
        true
    }

    /// Returns the number of unknown names that the import with this index may declare.
    pub(crate) fn use_count(&self, index: usize) -> u32 {
        let folder = self.folder_of.get(index).copied().flatten();
        folder.map_or(0, |at| self.folders[at].uses)
    }
}

/// The folders that are most like a name, as indices.
fn find_likeliest(folders: &[MissingFolder<'_>], name: &str) -> Box<[usize]> {
    if folders.len() == 1 {
        return [0].into();
    }
    let likeness =
        |it: &MissingFolder<'_>| (count_shared_run(name, it.folder), it.shared_with_package);
    let all: Vec<(usize, usize)> = folders.iter().map(likeness).collect();
    let best = all.iter().max();
    let likeliest = all.iter().enumerate().filter(|(_, it)| Some(*it) == best);
    likeliest.map(|(at, _)| at).collect()
}

/// The folder of a path; empty at the root.
fn find_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Counts the first components of a name that follow each other in a folder.
fn count_shared_run(name: &str, folder: &str) -> usize {
    let name = name.trim_start_matches('.').split('.');
    let mut rest = folder.split('/');
    let mut longest = 0;
    loop {
        longest = name.clone().zip(rest.clone()).take_while(|(a, b)| a == b).count().max(longest);
        if rest.next().is_none() {
            return longest;
        }
    }
}

/// Counts the components of a package that begin a folder.
fn count_shared_start(package: &str, folder: &str) -> usize {
    package.split('.').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_like_the_folder_of_its_package() {
        for (name, path, expected) in [
            ("validate.rules", "validate/validate.proto", 1),
            (".udpa.annotations.file_status", "udpa/annotations/status.proto", 2),
            ("core.v3.Node", "envoy/config/core/v3/base.proto", 2),
            ("core.v3.Node", "envoy/type/v3/base.proto", 0),
            ("Node", "base.proto", 0),
            ("", "", 1),
        ] {
            assert_eq!(count_shared_run(name, find_folder(path)), expected, "{name} {path}");
        }
        let shared = |path| count_shared_start("acme.user.v1", find_folder(path));
        assert_eq!(shared("acme/user/v1/user.proto"), 3);
        assert_eq!(shared("acme/group/v1/user.proto"), 1);
    }
}
