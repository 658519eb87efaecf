//! The owners of packages, and the packages that a change touches.

use std::collections::{BTreeMap, BTreeSet};

use abide_change::Sides;
use abide_hash::TreeHashes;
use abide_schema::{File, Tree};

use super::{CodeOwners, Ownership};

/// The files of each package that somebody looks at, by their paths in the tree.
#[derive(Clone, Debug, Default)]
pub struct PackageFiles {
    by_package: BTreeMap<String, BTreeSet<String>>,
    /// Those that a change removed.
    removed: BTreeSet<String>,
}

impl PackageFiles {
    fn add(&mut self, file: File<'_>) {
        let of_package = self.by_package.entry(file.package().full_name()).or_default();
        of_package.insert(file.decl().display.to_string());
    }
}

/// The checked files of a tree.
pub fn all_files(tree: &Tree) -> PackageFiles {
    let mut files = PackageFiles::default();
    judged(tree).for_each(|file| files.add(file));
    files
}

/// The files that a change touches: those that were added, removed or edited. A
/// changed comment counts, because somebody reviews it, too. A file without a
/// text, from a descriptor set, counts if its meaning changed.
pub fn touched_files(old: &Tree, new: &Tree) -> PackageFiles {
    let mut hashes: Option<(TreeHashes, TreeHashes)> = None;
    let before: BTreeMap<&str, File<'_>> = judged(old).map(|it| (it.path(), it)).collect();
    let after: BTreeSet<&str> = judged(new).map(File::path).collect();
    let mut files = PackageFiles::default();
    for file in judged(new) {
        let before = before.get(file.path()).copied();
        let is_same = before.is_some_and(|old_file| {
            let texts = (old_file.decl().source_text(), file.decl().source_text());
            match texts {
                (Some(before), Some(after)) => before == after,
                _ => {
                    let of_both = || {
                        let sides = Sides::of(old, new);
                        (TreeHashes::of(sides.old_tree()), TreeHashes::of(sides.new_tree()))
                    };
                    let (before, after) = hashes.get_or_insert_with(of_both);
                    let own = |hashes: &TreeHashes| hashes.file(file.path()).map(|it| it.own);
                    own(before) == own(after)
                }
            }
        });
        if !is_same {
            files.add(file);
            // A file that moved to another package touches both.
            before.into_iter().for_each(|file| files.add(file));
        }
    }
    for file in judged(old).filter(|file| !after.contains(file.path())) {
        files.add(file);
        files.removed.insert(file.decl().display.to_string());
    }
    files
}

fn judged(tree: &Tree) -> impl Iterator<Item = File<'_>> {
    tree.files().filter(|file| !file.is_imported())
}

/// The owners of a package.
#[derive(Clone, Debug)]
pub struct PackageOwners {
    /// The name of the package.
    pub package: String,
    /// Its files, by path from the top of the repository.
    pub files: BTreeMap<String, Ownership>,
    /// The paths of those that the change removed: nobody has to own them any more.
    pub removed: BTreeSet<String>,
}

impl PackageOwners {
    /// Asks who owns the files. `full_path` makes a path of the tree one from the
    /// top of the repository. Without a `CODEOWNERS`, nobody owns anything.
    pub fn of(
        files: &PackageFiles,
        owners: Option<&CodeOwners>,
        full_path: impl Fn(&str) -> String,
    ) -> Vec<PackageOwners> {
        let package = |(package, paths): (&String, &BTreeSet<String>)| {
            let asked = |path: &String| {
                let path = full_path(path);
                let ownership = owners.map(|owners| owners.ownership(&path));
                (path, ownership.unwrap_or_default())
            };
            PackageOwners {
                package: package.clone(),
                files: paths.iter().map(asked).collect(),
                removed: paths.intersection(&files.removed).map(|path| full_path(path)).collect(),
            }
        };
        files.by_package.iter().map(package).collect()
    }

    /// All of its owners, sorted.
    pub fn owners(&self) -> BTreeSet<&str> {
        let owners = self.files.values().flat_map(|it| &it.owners);
        owners.map(String::as_str).collect()
    }

    /// The lines of `CODEOWNERS` that decide.
    pub fn lines(&self) -> BTreeSet<u32> {
        self.files.values().flat_map(|it| it.lines.iter().copied()).collect()
    }

    /// Its files without an owner.
    pub fn unowned(&self) -> Vec<&str> {
        let files = self.files.iter().filter(|(_, it)| it.owners.is_empty());
        files.map(|(path, _)| path.as_str()).filter(|path| !self.removed.contains(*path)).collect()
    }

    /// The patterns that cover its files without an owner: their folder if nobody
    /// owns anything in it, else the files.
    pub fn missing_patterns(&self) -> BTreeSet<String> {
        let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let owned = self.files.iter().filter(|(_, it)| !it.owners.is_empty());
        let owned: BTreeSet<String> = owned.map(|(path, _)| folder(path)).collect();
        let pattern = |path: &str| {
            let (at, slash) = match folder(path) {
                folder if owned.contains(&folder) || folder.is_empty() => (path.to_owned(), ""),
                folder => (folder, "/"),
            };
            format!("/{}{slash}", at.replace(' ', "\\ "))
        };
        self.unowned().into_iter().map(pattern).collect()
    }
}
