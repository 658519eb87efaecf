//! The files of a tree at one commit, and what a step to the next commit concerns.
//!
//! Two small trees stand for the whole ones: what changed, whatever may be understood otherwise
//! because of it, and all that these import. Which files those are is known to the workspace; here
//! is where they come from, and what judges look at besides: waivers and whole packages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{
    FileDecl, FileKey as Key, FileText, SourceFile, TreeSides, Workspace, WorkspaceChanges,
};
use abide_source::{Content, Cursor, SourceError, Step, Timeline};
use gix::ObjectId;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Methods name the types of their operations in texts, relative to the package.
const OPERATIONS_PROTO: &str = "google/longrunning/operations.proto";

/// The files of a tree at one commit.
#[derive(Default)]
pub(super) struct TreeState {
    files: Workspace,
    /// The objects that the files were read from; those on the disk have none.
    blobs: FxHashMap<Key, ObjectId>,
    /// The files in which a waiver may stand, which covers its whole package.
    waiving: BTreeSet<Key>,
    /// The files that import themselves, by way of others.
    cyclic: BTreeSet<Key>,
    /// The number of roots that hold files of the tree; others are imported.
    roots: u32,
}

/// The two sides of a step, as small as they may be.
pub(super) struct StepTrees {
    /// The files before.
    pub(super) old: Vec<Arc<FileDecl>>,
    /// The files now.
    pub(super) new: Vec<Arc<FileDecl>>,
    /// Files of the new side whose meaning may have changed, imported ones among them.
    pub(super) fresh: BTreeSet<Key>,
}

/// The changes of a step.
pub(super) struct StepChanges {
    /// The files that changed, and their packages before and now.
    pub(super) touched: BTreeMap<Key, (Option<String>, Option<String>)>,
    /// The trees to compare; none where nothing is to be judged.
    pub(super) pair: Option<StepTrees>,
    /// The files of the tree that import themselves now, by way of others.
    pub(super) cyclic: BTreeSet<Key>,
}

fn can_waive(decl: &FileDecl) -> bool {
    let text = decl.source_text().unwrap_or_default();
    let marks: [&[u8]; 3] = [b"abide:allow", b"buf:lint:ignore", b"buf:breaking:ignore"];
    marks.iter().any(|mark| memchr::memmem::find(text, mark).is_some())
}

impl TreeState {
    pub(super) fn new(timeline: &Timeline) -> TreeState {
        TreeState { roots: timeline.roots(), ..TreeState::default() }
    }

    /// Every file, for a tree of its own.
    pub(super) fn collect_all(&self) -> Vec<Arc<FileDecl>> {
        self.files.files().map(|(_, decl)| Arc::clone(decl)).collect()
    }

    /// Returns true if there is such a file.
    pub(super) fn has_file(&self, key: &Key) -> bool {
        self.files.file(key).is_some()
    }

    /// Returns true if the file belongs to the tree, and is not only imported.
    pub(super) fn is_own(&self, key: &Key) -> bool {
        key.0 < self.roots
    }

    /// Takes a step, and gives what is to be judged because of it.
    pub(super) fn apply_step(
        &mut self,
        step: Step,
        timeline: &Timeline,
        cursor: &mut Cursor<'_>,
    ) -> Result<StepChanges, SourceError> {
        let mut wanted: BTreeSet<Box<str>> = step.imported.into_iter().collect();
        let mut gone: FxHashMap<ObjectId, Arc<FileDecl>> = FxHashMap::default();
        let mut changes: Vec<(Key, Option<ObjectId>)> = Vec::new();
        for change in step.files {
            let key = (change.root, change.path);
            if let (Some(blob), Some(decl)) = (self.blobs.get(&key), self.files.file(&key)) {
                // It is again what it was before it did not parse.
                if change.blob == Some(*blob) {
                    continue;
                }
                gone.insert(*blob, Arc::clone(decl));
            }
            changes.push((key, change.blob));
        }
        let unread = changes.iter().filter_map(|(key, blob)| {
            let blob = blob.filter(|it| !gone.contains_key(it))?;
            Some((blob, timeline.display(key.0, &key.1)))
        });
        let mut read = cursor.texts(&unread.collect::<Vec<_>>()).into_iter();
        let mut texts: Vec<(Key, ObjectId, Result<Arc<FileDecl>, FileText>)> = Vec::new();
        for (key, blob) in changes {
            let content = match blob {
                None => None,
                Some(blob) => Some((
                    blob,
                    match gone.get(&blob) {
                        Some(decl) => Ok(Arc::clone(decl)),
                        None => match read.next().flatten() {
                            Some(text) => Err(text),
                            // The file stays as it was.
                            None => continue,
                        },
                    },
                )),
            };
            match content {
                Some((blob, known)) => texts.push((key, blob, known)),
                None => self.replace(&key, &mut wanted),
            }
        }
        let decls: Vec<(ObjectId, Arc<FileDecl>)> = texts
            .into_par_iter()
            .map(|(key, blob, known)| {
                let display = timeline.display(key.0, &key.1);
                let decl = match known {
                    // The same text elsewhere.
                    Ok(known) => {
                        let mut decl = FileDecl::clone(&known);
                        decl.path = Arc::clone(&key.1);
                        decl.display = display.into();
                        decl.root = key.0;
                        decl
                    }
                    Err(text) => FileDecl::parse(SourceFile {
                        path: Arc::clone(&key.1),
                        display: display.into(),
                        root: key.0,
                        imported: false,
                        text,
                    }),
                };
                (blob, Arc::new(decl))
            })
            .collect();
        // A file that does not parse stays as it was.
        let (decls, unread): (Vec<_>, Vec<_>) = decls.into_iter().partition(|it| it.1.parses);
        for (_, decl) in unread {
            cursor.lose(&decl.display, &decl.describe_parse_failure());
        }
        for (_, decl) in &decls {
            self.replace(&(decl.root, Arc::clone(&decl.path)), &mut wanted);
        }
        for (blob, decl) in &decls {
            self.record_file(decl, Some(*blob), &mut wanted);
        }
        self.files.set_all(decls.into_iter().map(|(_, decl)| decl).collect());
        self.update_imports(wanted, timeline, cursor)?;
        let changes = self.files.take_changes();
        let suspects: BTreeSet<&Key> =
            changes.files().map(|(key, ..)| key).chain(&self.cyclic).collect();
        let mut cyclic = BTreeSet::new();
        for key in suspects {
            if !cyclic.contains(key) {
                cyclic.append(&mut self.files.collect_import_cycle(key));
            }
        }
        cyclic.retain(|key| self.is_own(key));
        self.cyclic = cyclic;
        Ok(self.select_changes(&changes))
    }

    /// Brings in what is imported from outside of the tree, and takes out what no longer is.
    fn update_imports(
        &mut self,
        mut wanted: BTreeSet<Box<str>>,
        timeline: &Timeline,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), SourceError> {
        while let Some(path) = wanted.pop_first() {
            let roots: Vec<u32> = self.files.roots_of(&path).collect();
            let has_own = roots.iter().any(|root| *root < self.roots);
            let here: Option<Key> =
                roots.iter().find(|root| **root >= self.roots).map(|root| (*root, (&*path).into()));
            let is_needed = !has_own && self.files.find_importers(&path).next().is_some();
            let found = if is_needed { cursor.import(&path)? } else { None };
            let (found, text) = match found {
                None => (None, None),
                Some(found) => {
                    let key: Key = (found.root, (&*path).into());
                    let (blob, text) = match found.content {
                        Content::Blob(blob)
                            if here.as_ref() == Some(&key)
                                && self.blobs.get(&key) == Some(&blob) =>
                        {
                            continue;
                        }
                        Content::Blob(blob) => {
                            match cursor.text(blob, &timeline.display(key.0, &key.1)) {
                                Some(text) => (Some(blob), text),
                                None => continue,
                            }
                        }
                        // The disk has no history: what was read stays.
                        Content::Disk(_) if here.as_ref() == Some(&key) => continue,
                        Content::Disk(text) => (None, text),
                    };
                    (Some((key, blob)), Some(text))
                }
            };
            let found = found.zip(text).map(|((key, blob), text)| {
                let decl = FileDecl::parse(SourceFile {
                    display: timeline.display(key.0, &key.1).into(),
                    path: key.1,
                    root: key.0,
                    imported: true,
                    text,
                });
                (blob, decl)
            });
            if let Some((_, decl)) = found.as_ref().filter(|(_, decl)| !decl.parses) {
                cursor.lose(&decl.display, &decl.describe_parse_failure());
                continue;
            }
            if let Some(key) = here {
                self.remove(&key, &mut wanted);
            }
            if let Some((blob, decl)) = found {
                let decl = Arc::new(decl);
                self.record_file(&decl, blob, &mut wanted);
                self.files.set(decl);
            }
        }
        Ok(())
    }

    /// Notes what is known of a file besides its declarations, and what it imports.
    fn record_file(
        &mut self,
        decl: &FileDecl,
        blob: Option<ObjectId>,
        wanted: &mut BTreeSet<Box<str>>,
    ) {
        let key: Key = (decl.root, Arc::clone(&decl.path));
        wanted.extend(decl.imports.iter().map(|import| import.path.clone()));
        if can_waive(decl) {
            self.waiving.insert(key.clone());
        }
        if let Some(blob) = blob {
            self.blobs.insert(key, blob);
        }
    }

    /// Takes out a file that another one replaces, or none.
    fn replace(&mut self, key: &Key, wanted: &mut BTreeSet<Box<str>>) {
        self.remove(key, wanted);
        wanted.insert((&*key.1).into());
    }

    fn remove(&mut self, key: &Key, wanted: &mut BTreeSet<Box<str>>) -> Option<Arc<FileDecl>> {
        self.blobs.remove(key);
        self.waiving.remove(key);
        let before = self.files.remove(key)?;
        wanted.extend(before.imports.iter().map(|import| import.path.clone()));
        Some(before)
    }

    /// Selects the files to judge because of those that changed.
    fn select_changes(&self, changes: &WorkspaceChanges) -> StepChanges {
        let mut touched = BTreeMap::new();
        let mut fresh = self.files.find_dependants(changes);
        let mut context: BTreeSet<Key> = BTreeSet::new();
        for (key, old, new) in changes.files() {
            let [before, now] = [old, new].map(|it| it.map(|it| it.package_name().to_owned()));
            touched.insert(key.clone(), (before, now));
            let both: Vec<&Arc<FileDecl>> = old.into_iter().chain(new).collect();
            let whole = match (old, new) {
                (Some(old), Some(new)) => {
                    old.package_name() != new.package_name()
                        || both.iter().any(|it| {
                            it.imports.iter().any(|import| *import.path == *OPERATIONS_PROTO)
                        })
                }
                _ => true,
            };
            for decl in both {
                let package = decl.package_name();
                if whole {
                    context.extend(self.files.files_of_package(package).cloned());
                }
                // Waivers cover the package that they stand in.
                let files = self.files.files_of_package(package);
                fresh.extend(files.filter(|it| self.waiving.contains(*it)).cloned());
            }
        }
        if touched.is_empty() {
            return StepChanges { touched, pair: None, cyclic: self.cyclic.clone() };
        }
        context.extend(fresh.iter().cloned());
        let TreeSides { before, after } = self
            .files
            .split_sides(changes, &context, |key: &Key| !self.is_own(key) || !fresh.contains(key));
        fresh.retain(|key| self.has_file(key));
        let pair = Some(StepTrees { old: before, new: after, fresh });
        StepChanges { touched, pair, cyclic: self.cyclic.clone() }
    }
}
