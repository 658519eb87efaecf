//! The files of a tree that changes file by file.
//!
//! What a file declares depends on its text alone, but what its names mean
//! depends on others. A workspace knows who imports whom, which files one path
//! stands for under several roots, what each file offers and claims; so it
//! knows which files a change concerns, and small trees around these stand for
//! the whole ones.

mod exports;
mod index;
mod option_types;
mod outline;
mod slice;
mod unique_names;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::decl::{FileDecl, SourceFile};
use crate::protobuf::{BUILT_IN, DESCRIPTOR_PROTO, built_in_paths, find_built_in};
use exports::{FileExports, UniqueName};
use index::MultiIndex;

pub use outline::Outline;
pub use slice::{OutlinedFile, TreeNames, TreeSlice};

/// A file of a workspace: its root, and the path that imports use.
pub type FileKey = (u32, Arc<str>);

/// The files of a tree that changes file by file, each with its declarations.
#[derive(Debug)]
pub struct Workspace {
    files: BTreeMap<FileKey, Arc<FileExports>>,
    /// The roots that hold each path.
    roots: MultiIndex<Arc<str>, u32>,
    /// The files that import each path.
    importers: MultiIndex<Box<str>, FileKey>,
    packages: MultiIndex<String, FileKey>,
    /// The files that claim each name, package and number of an extension.
    claims: MultiIndex<UniqueName, FileKey>,
    /// The names and numbers that more than one file claims.
    contested: BTreeSet<UniqueName>,
    /// The files that declare options.
    option_files: BTreeSet<FileKey>,
    built_in: BTreeMap<&'static str, Arc<FileDecl>>,
    /// The changed files since the changes were last taken, as they were before.
    changed: BTreeMap<FileKey, Option<Arc<FileExports>>>,
}

/// The files of a workspace that changed, as they were and as they are.
#[derive(Debug, Default)]
pub struct WorkspaceChanges {
    files: BTreeMap<FileKey, FileChange>,
}

/// A file that changed, with its declarations before and now.
pub type ChangedFile<'a> = (&'a FileKey, Option<&'a Arc<FileDecl>>, Option<&'a Arc<FileDecl>>);

#[derive(Debug)]
struct FileChange {
    before: Option<Arc<FileExports>>,
    after: Option<Arc<FileExports>>,
}

impl FileChange {
    fn both(&self) -> impl Iterator<Item = &Arc<FileExports>> {
        self.before.iter().chain(&self.after)
    }
}

impl WorkspaceChanges {
    /// The files that changed, in their order: each with its declarations
    /// before and now.
    pub fn files<'a>(&'a self) -> impl Iterator<Item = ChangedFile<'a>> {
        self.files.iter().map(|(key, change)| {
            let decl = |entry: &'a Option<Arc<FileExports>>| entry.as_ref().map(|it| &it.decl);
            (key, decl(&change.before), decl(&change.after))
        })
    }

    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// The files of two small trees: what stands for a workspace before a change,
/// and what stands for it now.
#[derive(Debug, Default)]
pub struct TreeSides {
    /// The files before.
    pub before: Vec<Arc<FileDecl>>,
    /// The files now.
    pub after: Vec<Arc<FileDecl>>,
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace::new()
    }
}

impl Workspace {
    /// A workspace without files; the well-known types are known.
    pub fn new() -> Workspace {
        let parsed = built_in_paths().filter_map(|path| {
            let (path, text) = find_built_in(path)?;
            let decl = FileDecl::parse(SourceFile {
                path: path.into(),
                display: path.into(),
                root: BUILT_IN,
                imported: true,
                text: text.as_bytes().into(),
            });
            Some((path, Arc::new(decl)))
        });
        Workspace {
            built_in: parsed.collect(),
            files: BTreeMap::new(),
            roots: MultiIndex::default(),
            importers: MultiIndex::default(),
            packages: MultiIndex::default(),
            claims: MultiIndex::default(),
            contested: BTreeSet::new(),
            option_files: BTreeSet::new(),
            changed: BTreeMap::new(),
        }
    }

    /// Adds a file, or replaces the one with its root and path.
    pub fn set(&mut self, decl: Arc<FileDecl>) {
        self.insert(FileExports::new(decl));
    }

    /// Adds or replaces many files.
    pub fn set_all(&mut self, decls: Vec<Arc<FileDecl>>) {
        let entries: Vec<FileExports> = decls.into_par_iter().map(FileExports::new).collect();
        for entry in entries {
            self.insert(entry);
        }
    }

    fn insert(&mut self, entry: FileExports) {
        let key = (entry.decl.root, Arc::clone(&entry.decl.path));
        let before = self.take(&key);
        self.changed.entry(key.clone()).or_insert(before);
        self.roots.insert(Arc::clone(&key.1), key.0);
        for import in &entry.decl.imports {
            self.importers.insert(import.path.clone(), key.clone());
        }
        let package = entry.decl.package_name().to_owned();
        self.packages.insert(package, key.clone());
        for claim in &entry.claims {
            self.claims.insert(*claim, key.clone());
            self.mark_claimants_changed(*claim);
        }
        if entry.extends_options {
            self.option_files.insert(key.clone());
        }
        self.files.insert(key, Arc::new(entry));
    }

    /// Takes a file out.
    pub fn remove(&mut self, key: &FileKey) -> Option<Arc<FileDecl>> {
        let before = self.take(key)?;
        let decl = Arc::clone(&before.decl);
        self.changed.entry(key.clone()).or_insert(Some(before));
        Some(decl)
    }

    fn take(&mut self, key: &FileKey) -> Option<Arc<FileExports>> {
        let entry = self.files.remove(key)?;
        self.roots.remove(&*key.1, &key.0);
        for import in &entry.decl.imports {
            self.importers.remove(&*import.path, key);
        }
        self.packages.remove(entry.decl.package_name(), key);
        for claim in &entry.claims {
            self.claims.remove(claim, key);
            self.mark_claimants_changed(*claim);
        }
        self.option_files.remove(key);
        Some(entry)
    }

    /// Notes whether more than one file claims a name, after one came or went.
    fn mark_claimants_changed(&mut self, claim: UniqueName) {
        let name = claim.without_package();
        let is_contested = {
            let mut alone = self.claims.get_all(&name);
            let is_package = || self.claims.get_all(&name.as_package()).next().is_some();
            alone.next().is_some() && (alone.next().is_some() || is_package())
        };
        if is_contested {
            self.contested.insert(name);
        } else {
            self.contested.remove(&name);
        }
    }

    /// The files that claim a name, alone or as a package.
    fn find_claimants(&self, claim: UniqueName) -> impl Iterator<Item = &FileKey> + use<'_> {
        self.claims
            .get_all(&claim.without_package())
            .chain(self.claims.get_all(&claim.as_package()))
    }

    /// Takes the changes since the last call. A file that was added and removed in
    /// between is not among it.
    pub fn take_changes(&mut self) -> WorkspaceChanges {
        let changed = std::mem::take(&mut self.changed);
        let changes = changed.into_iter().map(|(key, before)| {
            let after = self.files.get(&key).cloned();
            (key, FileChange { before, after })
        });
        let is_change = |(_, change): &(FileKey, FileChange)| change.both().next().is_some();
        WorkspaceChanges { files: changes.filter(is_change).collect() }
    }

    /// Every file, in the order of root and path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&FileKey, &Arc<FileDecl>)> {
        self.files.iter().map(|(key, entry)| (key, &entry.decl))
    }

    /// The declarations of a file.
    pub fn file(&self, key: &FileKey) -> Option<&Arc<FileDecl>> {
        self.files.get(key).map(|entry| &entry.decl)
    }

    /// The roots that hold a path, in order.
    pub fn roots_of(&self, path: &str) -> impl Iterator<Item = u32> {
        self.roots.get_all(path).copied()
    }

    /// The files that import a path.
    pub fn find_importers(&self, path: &str) -> impl Iterator<Item = &FileKey> {
        self.importers.get_all(path)
    }

    /// The files of a package.
    pub fn files_of_package(&self, package: &str) -> impl Iterator<Item = &FileKey> {
        self.packages.get_all(package)
    }

    /// The files that may be linked otherwise, or have other problems, because
    /// of what changed, with those that changed themselves: for each other file
    /// its links and problems are the same before and now. Not promised are the
    /// words of problems about names and imports that are not found, and
    /// circles of imports.
    pub fn find_dependants(&self, changes: &WorkspaceChanges) -> BTreeSet<FileKey> {
        let mut found: BTreeSet<FileKey> = BTreeSet::new();
        let options = self.collect_option_closure();
        let of_options = changes.files.iter().filter(|(key, change)| {
            change.both().any(|it| it.extends_options) || options.contains(&*key.1)
        });
        found.extend(self.find_option_users(of_options, &options));
        for (key, change) in &changes.files {
            found.insert(key.clone());
            found.extend(self.find_affected(&key.1, change));
            // A package may be in many files, but no type may have its name.
            for claim in change.both().flat_map(|it| &it.claims) {
                match claim.is_package() {
                    true => found.extend(self.claims.get_all(&claim.without_package()).cloned()),
                    false => found.extend(self.find_claimants(*claim).cloned()),
                }
            }
            // Which of two files is refused depends on who imports both.
            let imports = |entry: &Option<Arc<FileExports>>| -> Option<Vec<Box<str>>> {
                let imports = &entry.as_ref()?.decl.imports;
                Some(imports.iter().map(|import| import.path.clone()).collect())
            };
            if imports(&change.before) != imports(&change.after) {
                let contested = self.contested.iter().flat_map(|name| self.find_claimants(*name));
                found.extend(contested.cloned());
            }
        }
        found
    }

    /// Files that import a changed one, also by way of public imports, and may
    /// be understood otherwise because of it.
    fn find_affected(&self, path: &str, change: &FileChange) -> BTreeSet<FileKey> {
        let (everything, words) = match (&change.before, &change.after) {
            (Some(old), Some(new)) => {
                let mut words = BTreeSet::new();
                for (one, other) in [(&old.offers, &new.offers), (&new.offers, &old.offers)] {
                    let differs = one.iter().filter(|offer| other.binary_search(offer).is_err());
                    words.extend(differs.map(|offer| offer.word));
                }
                (old.passes_on != new.passes_on, words)
            }
            _ => (true, BTreeSet::new()),
        };
        let mut found = BTreeSet::new();
        if !everything && words.is_empty() {
            return found;
        }
        let mut open: Vec<&str> = vec![path];
        let mut seen: BTreeSet<&str> = BTreeSet::from([path]);
        while let Some(path) = open.pop() {
            for key in self.find_importers(path) {
                let Some(entry) = self.files.get(key) else { continue };
                if everything || words.iter().any(|word| entry.contains_word(*word)) {
                    found.insert(key.clone());
                }
                if entry.passes_on.contains(path) && seen.insert(&key.1) {
                    open.push(&key.1);
                }
            }
        }
        found
    }

    /// The files that a file imports, under every root that has them.
    fn resolve_imports(&self, key: &FileKey) -> impl Iterator<Item = FileKey> {
        let imports = self.files.get(key).into_iter().flat_map(|it| &it.decl.imports);
        imports.flat_map(|import| {
            let known = self.roots.get_key(&*import.path);
            known
                .into_iter()
                .flat_map(|path| self.roots_of(path).map(|root| (root, Arc::clone(path))))
        })
    }

    /// The files that import a file and that it imports, directly or not; empty
    /// where it is in no circle. (The linker reports a circle once, at the first
    /// of its files in a whole tree.)
    pub fn collect_import_cycle(&self, key: &FileKey) -> BTreeSet<FileKey> {
        let mut ahead = BTreeSet::new();
        let mut open: Vec<FileKey> = self.resolve_imports(key).collect();
        while let Some(key) = open.pop() {
            if ahead.insert(key.clone()) {
                open.extend(self.resolve_imports(&key));
            }
        }
        if !ahead.contains(key) {
            return BTreeSet::new();
        }
        let behind = self.collect_importers(&key.1);
        ahead.retain(|it| behind.contains(it));
        ahead
    }

    /// All files that import a path, directly or not.
    fn collect_importers(&self, path: &str) -> BTreeSet<FileKey> {
        let mut found = BTreeSet::new();
        let mut open: Vec<Arc<str>> = vec![path.into()];
        while let Some(path) = open.pop() {
            for key in self.find_importers(&path) {
                if found.insert(key.clone()) {
                    open.push(Arc::clone(&key.1));
                }
            }
        }
        found
    }

    /// The paths that options are declared in, or by way of.
    fn collect_option_closure(&self) -> BTreeSet<&str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&FileKey> = self.option_files.iter().collect();
        while let Some(key) = open.pop() {
            if !found.insert(&key.1) {
                continue;
            }
            let imports = self.resolve_imports(key);
            open.extend(imports.filter_map(|it| Some(self.files.get_key_value(&it)?.0)));
        }
        found
    }

    /// Some files and all that they import, before some changes and now.
    /// `imported` says which of them are only imported, and not judged. A file
    /// that did not change is on both sides, lest it look added where only one
    /// of them imports it.
    pub fn split_sides(
        &self,
        changes: &WorkspaceChanges,
        files: &BTreeSet<FileKey>,
        imported: impl Fn(&FileKey) -> bool,
    ) -> TreeSides {
        let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
        let mut built_in: BTreeSet<&str> = BTreeSet::from([DESCRIPTOR_PROTO]);
        let mut seen: BTreeSet<FileKey> = BTreeSet::new();
        let mut open: Vec<FileKey> = files.iter().cloned().collect();
        // Where a changed file had this path under another root.
        let mut was: BTreeMap<&str, Vec<&FileKey>> = BTreeMap::new();
        for key in changes.files.keys() {
            was.entry(&key.1).or_default().push(key);
        }
        while let Some(key) = open.pop() {
            if !seen.insert(key.clone()) {
                continue;
            }
            let after = self.files.get(&key);
            let before = changes.files.get(&key).map_or(after, |it| it.before.as_ref());
            for (side, entry) in [(&mut old, before), (&mut new, after)] {
                let Some(entry) = entry else { continue };
                side.insert(key.clone(), entry.parse_decl(imported(&key)));
                for import in &entry.decl.imports {
                    let path = &*import.path;
                    let mut found = false;
                    for root in self.roots_of(path) {
                        open.push((root, path.into()));
                        found = true;
                    }
                    open.extend(was.get(path).into_iter().flatten().map(|it| (*it).clone()));
                    if !found && let Some((path, _)) = self.built_in.get_key_value(path) {
                        built_in.insert(path);
                    }
                }
            }
        }
        let mut built: Vec<Arc<FileDecl>> = Vec::new();
        let mut open: Vec<&str> = built_in.iter().copied().collect();
        while let Some(path) = open.pop() {
            let Some(decl) = self.built_in.get(path) else { continue };
            built.push(Arc::clone(decl));
            for import in &decl.imports {
                if let Some((path, _)) = self.built_in.get_key_value(&*import.path)
                    && built_in.insert(path)
                {
                    open.push(path);
                }
            }
        }
        let side = |files: BTreeMap<FileKey, Arc<FileDecl>>| -> Vec<Arc<FileDecl>> {
            let own: BTreeSet<Arc<str>> = files.keys().map(|key| Arc::clone(&key.1)).collect();
            let built = built.iter().filter(|it| !own.contains(&it.path)).cloned();
            files.values().cloned().chain(built).collect()
        };
        TreeSides { before: side(old), after: side(new) }
    }
}
