//! Imports that were not found or could not be read, and the names that they may declare.

use crate::decl::FileDecl;
use crate::ids::FileId;
use crate::link::symbol::{NotFound, Symbol};

/// The imports of one file that were not found, or that lead to a file that does not parse. A name
/// that no other file declares may be in one of them, so it is counted here and not reported on its
/// own.
#[derive(Clone, Debug)]
pub(crate) struct MissingImports<'a> {
    package: &'a str,
    /// By the index of the import.
    paths: Vec<(usize, &'a str)>,
    /// For each import of the file, how often it may declare a name.
    uses: Vec<u32>,
    /// True if one of them is there and does not parse.
    is_unreadable: bool,
}

impl<'a> MissingImports<'a> {
    pub(crate) fn of(
        decl: &'a FileDecl,
        targets: impl Iterator<Item = Option<FileId>>,
        unreadable: &[bool],
    ) -> MissingImports<'a> {
        let is_unreadable = |id: FileId| unreadable.get(id.0 as usize) == Some(&true);
        let imports = decl.imports.iter().zip(targets).enumerate();
        let absent: Vec<_> =
            imports.filter(|(_, (_, target))| target.is_none_or(is_unreadable)).collect();
        let paths = absent.iter().map(|(index, (import, _))| (*index, &*import.path)).collect();
        let uses = if absent.is_empty() { Vec::new() } else { vec![0; decl.imports.len()] };
        let is_unreadable = absent.iter().any(|(_, (_, target))| target.is_some());
        MissingImports { package: decl.package_name(), paths, uses, is_unreadable }
    }

    /// Returns true if one of the imports may declare a name that was not found. Counts the use at
    /// those whose paths are most like the name.
    pub(crate) fn may_declare(&mut self, name: &str, reason: &NotFound) -> bool {
        // Other files add to a package, but not to a message.
        let is_open = match reason {
            NotFound::Nowhere => true,
            NotFound::InnerScope { found } => matches!(found, Symbol::Package(_)),
        };
        // Whatever was found may be hidden by what a file that does not parse declares.
        if self.paths.is_empty() || !is_open && !self.is_unreadable {
            return false;
        }
        let package = self.package;
        let likeness =
            |path: &str| (count_shared_run(name, path), count_shared_start(package, path));
        let best = self.paths.iter().map(|(_, path)| likeness(path)).max();
        for (index, path) in &self.paths {
            if Some(likeness(path)) == best {
                self.uses[*index] += 1;
            }
        }
        true
    }

    /// Returns the number of unknown names that the import with this index may declare.
    pub(crate) fn use_count(&self, index: usize) -> u32 {
        self.uses.get(index).copied().unwrap_or(0)
    }
}

fn iter_folders(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/')
}

/// Counts the first components of a name that follow each other in the folders of a path.
fn count_shared_run(name: &str, path: &str) -> usize {
    let name = name.trim_start_matches('.').split('.');
    let mut rest = iter_folders(path);
    let mut longest = 0;
    loop {
        longest = name.clone().zip(rest.clone()).take_while(|(a, b)| a == b).count().max(longest);
        if rest.next().is_none() {
            return longest;
        }
    }
}

/// Counts the components of a package that begin the folders of a path.
fn count_shared_start(package: &str, path: &str) -> usize {
    package.split('.').zip(iter_folders(path)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_like_the_path_of_its_package() {
        for (name, path, expected) in [
            ("validate.rules", "validate/validate.proto", 1),
            (".udpa.annotations.file_status", "udpa/annotations/status.proto", 2),
            ("core.v3.Node", "envoy/config/core/v3/base.proto", 2),
            ("core.v3.Node", "envoy/type/v3/base.proto", 0),
            ("Node", "base.proto", 0),
            ("", "", 1),
        ] {
            assert_eq!(count_shared_run(name, path), expected, "{name} {path}");
        }
        assert_eq!(count_shared_start("acme.user.v1", "acme/user/v1/user.proto"), 3);
        assert_eq!(count_shared_start("acme.user.v1", "acme/group/v1/user.proto"), 1);
    }
}
