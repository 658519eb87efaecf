//! Finds what changed between two trees of one repository, and loads only what that concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use abide_schema::{FileDecl, FileText, Outline, OutlinedFile, SourceFile, Tree, TreeSlice};
use gix::ObjectId;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::outlines::OutlineCache;
use super::outside::OutsideEffect;
use super::{KnownFiles, LoadedTree, ParsedFiles, with_imports};
use crate::error::LoadError;
use crate::progress::Progress;
use crate::source::{FileListing, ListedFile, Source};

/// The packages that a change reaches, by name.
pub type Reached = BTreeSet<Box<str>>;

/// The changes between two trees of one repository. Files that did not change were not read.
pub struct ChangedFiles<'s> {
    new: &'s Source,
    old: &'s Source,
    files: Vec<ChangedFile>,
    slice: TreeSlice,
    notes: [Vec<String>; 2],
    note: Option<String>,
    /// An import path that git does not track, if files may come from there.
    untracked: Option<String>,
    parses: bool,
}

/// The changes besides those of files: records about them in `abide.lock`.
#[derive(Default)]
pub struct ChangedRecords<'a> {
    /// The packages about which something else is recorded.
    pub packages: BTreeSet<&'a str>,
    /// The generated files about which something else is recorded, by their paths in the tree.
    pub made: BTreeSet<&'a str>,
}

/// A path of the two trees.
struct ChangedFile {
    old: Option<FileSide>,
    new: Option<FileSide>,
    changed: bool,
}

/// A file of one tree.
struct FileSide {
    listed: ListedFile,
    /// The blob that it is, or would be.
    blob: Option<ObjectId>,
    text: Option<SourceFile>,
    decl: Option<Arc<FileDecl>>,
    outline: Option<Arc<Outline>>,
}

impl FileSide {
    fn of(listed: ListedFile) -> FileSide {
        FileSide { blob: listed.blob, listed, text: None, decl: None, outline: None }
    }

    /// Parses the file, if that was not done, from its text, if there is one.
    fn parse(&mut self) -> Option<&Arc<FileDecl>> {
        if self.decl.is_none() {
            self.decl = self.text.take().map(|it| Arc::new(FileDecl::parse(it)));
        }
        self.decl.as_ref()
    }

    fn outline(&self) -> Option<&Outline> {
        self.outline.as_deref()
    }

    /// Makes the outline, unless it has one. Returns it if it is new, and of a blob.
    fn make_outline(&mut self) -> Option<(ObjectId, Arc<Outline>)> {
        if self.outline.is_some() {
            return None;
        }
        let made = Arc::new(Outline::from_decl(self.parse()?));
        self.outline = Some(Arc::clone(&made));
        // Only what parses is kept.
        Some((self.blob.filter(|_| made.parses)?, made))
    }
}

/// The id that git gives a text.
fn compute_blob(text: &[u8]) -> Option<ObjectId> {
    let (sha1, blob) = (gix::hash::Kind::Sha1, gix::objs::Kind::Blob);
    gix::objs::compute_hash(sha1, blob, text).ok()
}

/// Returns true if git stores this text as a blob: as it is, or with other line ends.
pub(super) fn is_stored_as(text: &[u8], blob: ObjectId) -> bool {
    compute_blob(text) == Some(blob) || compute_blob(&with_unix_ends(text)) == Some(blob)
}

fn with_unix_ends(text: &[u8]) -> Vec<u8> {
    let is_end = |at: usize| text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
    (0..text.len()).filter(|at| !is_end(*at)).map(|at| text[at]).collect()
}

/// Reads those files that were not read yet. One that cannot be read stays without a text.
fn read<'f>(source: &Source, sides: impl Iterator<Item = &'f mut FileSide>) {
    let sides: Vec<&mut FileSide> =
        sides.filter(|it| it.text.is_none() && it.decl.is_none()).collect();
    let listed: Vec<ListedFile> = sides.iter().map(|it| it.listed.clone()).collect();
    let (texts, _) = source.read_listed(&listed.iter().collect::<Vec<_>>());
    let texts = texts.into_iter().map(|it| ((it.root, Arc::clone(&it.path)), it));
    let mut texts: FxHashMap<(u32, Arc<str>), SourceFile> = texts.collect();
    for side in sides {
        side.text = texts.remove(&(side.listed.root, side.listed.path.as_str().into()));
    }
}

fn list_files(source: &Source) -> Result<FileListing, LoadError> {
    source.list()?.ok_or_else(|| LoadError::NotListed { name: source.name().to_owned() })
}

/// Pairs the files of two trees, path by path.
fn pair_files(new: Vec<ListedFile>, old: Vec<ListedFile>) -> Vec<ChangedFile> {
    let known = new.iter().enumerate().map(|(at, it)| ((it.root, it.path.as_str()), at));
    let known: FxHashMap<(u32, &str), usize> = known.collect();
    let twin = |it: &ListedFile| known.get(&(it.root, it.path.as_str())).copied();
    let twins: Vec<Option<usize>> = old.iter().map(twin).collect();
    let mut files: Vec<ChangedFile> =
        new.into_iter().map(|it| ChangedFile::of(None, Some(it))).collect();
    for (listed, twin) in old.into_iter().zip(twins) {
        match twin.and_then(|at| files.get_mut(at)) {
            Some(file) => file.old = Some(FileSide::of(listed)),
            None => files.push(ChangedFile::of(Some(listed), None)),
        }
    }
    files
}

impl<'s> ChangedFiles<'s> {
    /// Compares what two sources list.
    pub fn find(
        new: &'s Source,
        old: &'s Source,
        records: &ChangedRecords<'_>,
        progress: &Progress,
    ) -> Result<ChangedFiles<'s>, LoadError> {
        progress.begin_step("looking for changed files");
        let ((listed, was_listed), mut outlines) = rayon::join(
            || rayon::join(|| list_files(new), || list_files(old)),
            || OutlineCache::read(old.git_folder()),
        );
        let (listed, was_listed) = (listed?, was_listed?);
        let has_problems = !listed.problems.is_empty() || !was_listed.problems.is_empty();
        let notes = [listed.notes, was_listed.notes];
        let mut files = pair_files(listed.files, was_listed.files);
        let unknown = files.iter_mut().filter_map(|it| it.new.as_mut());
        read(new, unknown.filter(|it| it.blob.is_none()));
        files.par_iter_mut().for_each(|it| it.compare(new, records));

        let note = find_rewritten(new, &files);

        progress.begin_step("finding what depends on them");
        files.par_iter_mut().flat_map_iter(ChangedFile::texts).for_each(|it| {
            it.outline = it.blob.and_then(|blob| outlines.get(blob)).cloned();
        });
        let is_unknown = |it: &&mut FileSide| it.outline.is_none();
        read(new, files.iter_mut().filter_map(|it| it.new.as_mut()).filter(is_unknown));
        read(old, files.iter_mut().filter_map(ChangedFile::old_text).filter(is_unknown));
        let made: Vec<(ObjectId, Arc<Outline>)> = files
            .par_iter_mut()
            .flat_map_iter(ChangedFile::texts)
            .filter_map(FileSide::make_outline)
            .collect();
        made.into_iter().for_each(|(blob, outline)| outlines.add(blob, outline));
        outlines.keep(files.iter().flat_map(ChangedFile::sides).filter_map(|it| it.blob));

        let outside = match new.has_import_paths() || old.has_import_paths() {
            true => compare_outside(new, old, &files, &outlines)?,
            false => OutsideEffect::Same,
        };
        let outlined: Vec<OutlinedFile<'_>> =
            files.iter().map(ChangedFile::build_outlined).collect();
        let mut slice = TreeSlice::from_files(&outlined, &records.packages);
        let is_lost = |it: &ChangedFile| it.sides().any(|it| it.outline.is_none());
        slice.whole = if has_problems || files.iter().any(is_lost) {
            Some("some files cannot be read")
        } else if !new.is_laid_out_as(old) {
            Some("only a part of it is compared, or its roots changed")
        } else if matches!(outside, OutsideEffect::Changed) {
            Some("imported files changed outside of it")
        } else if is_most(&slice, &files) {
            Some("the change concerns most of it")
        } else {
            slice.whole
        };
        let untracked = match outside {
            OutsideEffect::Untracked(folder) => Some(folder),
            OutsideEffect::Same | OutsideEffect::Changed => None,
        };
        let parses =
            |it: &ChangedFile| it.sides().filter_map(FileSide::outline).all(|it| it.parses);
        let parses = files.iter().all(parses);
        // The outlines of a large tree take a while to free, and the process ends soon.
        mem::forget(outlines);
        Ok(ChangedFiles { new, old, files, slice, notes, note, untracked, parses })
    }

    /// Returns true if every file of both trees parses. Otherwise nobody knows what the change
    /// reaches.
    pub fn parses(&self) -> bool {
        self.parses
    }

    /// The import path that may have changed without a trace in git, if there is one.
    pub fn untracked(&self) -> Option<&str> {
        self.untracked.as_deref()
    }

    /// The reason to load the whole tree, if there is one.
    pub fn whole(&self) -> Option<&'static str> {
        self.slice.whole
    }

    /// A note for the user about the comparison, if it was not one of whole trees.
    pub fn note(&self) -> Option<&String> {
        self.note.as_ref()
    }

    /// The packages that the change reaches.
    pub fn find_reached(&self) -> Reached {
        self.slice.reached.clone()
    }

    /// The packages that the change reaches, given the whole trees: imported files may have
    /// changed, too.
    pub fn find_reached_in(&self, new: &Tree, old: &Tree, records: &ChangedRecords<'_>) -> Reached {
        let own: BTreeSet<&str> = self.files.iter().map(|it| it.place().1).collect();
        let imported = |tree: &Tree| -> BTreeMap<String, (Outline, Option<FileText>)> {
            let files = tree.files().filter(|it| !it.is_judged() && !own.contains(it.path()));
            let text = |it: &FileDecl| it.source_text().map(|_| it.strings.text().clone());
            let outline = |it: &FileDecl| (Outline::from_decl(it), text(it));
            files.map(|it| (it.path().to_owned(), outline(it.decl()))).collect()
        };
        let (now, before) = (imported(new), imported(old));
        let paths: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
        let outside = paths.into_iter().map(|path| {
            let (old, new) = (before.get(path), now.get(path));
            OutlinedFile {
                root: u32::MAX,
                path,
                old: old.map(|it| &it.0),
                new: new.map(|it| &it.0),
                changed: old.map(|it| &it.1) != new.map(|it| &it.1),
            }
        });
        let all: Vec<OutlinedFile<'_>> =
            self.files.iter().map(ChangedFile::build_outlined).chain(outside).collect();
        TreeSlice::from_files(&all, &records.packages).reached
    }

    /// Loads what the change concerns, on both sides; `None` if that turns out not to be enough.
    pub fn load(
        mut self,
        progress: &Progress,
    ) -> Result<Option<(LoadedTree, LoadedTree)>, LoadError> {
        let loaded = self.load_slice(progress);
        // As the outlines, which they share.
        mem::forget(mem::take(&mut self.files));
        loaded
    }

    fn load_slice(
        &mut self,
        progress: &Progress,
    ) -> Result<Option<(LoadedTree, LoadedTree)>, LoadError> {
        loop {
            let Some((new, old)) = self.link(progress)? else { return Ok(None) };
            let is_enough = [&new, &old].into_iter().all(|it| self.slice.is_enough(&it.tree));
            if is_enough {
                return Ok(Some((new, old)));
            }
            // What is outside of the tree may be meant, too.
            if self.new.has_import_paths() || self.old.has_import_paths() {
                return Ok(None);
            }
            let outlined: Vec<OutlinedFile<'_>> =
                self.files.iter().map(ChangedFile::build_outlined).collect();
            let Some(grown) = self.slice.extend(&outlined, [&new.tree, &old.tree]) else {
                return Ok(None);
            };
            if grown.files == self.slice.files {
                return Ok(Some((new, old)));
            }
            if is_most(&grown, &self.files) {
                return Ok(None);
            }
            self.slice = grown;
        }
    }

    /// Links the files of the slice; `None` if one of them cannot be read.
    fn link(&mut self, progress: &Progress) -> Result<Option<(LoadedTree, LoadedTree)>, LoadError> {
        let ChangedFiles { new, old, files, slice, notes, note, .. } = self;
        progress.begin_step(format!("reading {} files", slice.files.len()));
        let in_slice = |(at, file)| slice.files.binary_search(&at).is_ok().then_some(file);
        let mut files: Vec<&mut ChangedFile> =
            files.iter_mut().enumerate().filter_map(in_slice).collect();
        read(new, files.iter_mut().filter_map(|it| it.new.as_mut()));
        read(old, files.iter_mut().filter_map(|it| it.old_text()));
        files.par_iter_mut().flat_map_iter(|it| it.texts()).for_each(|it| {
            it.parse();
        });
        let decl = |it: &FileSide| it.decl.clone();
        let now = files.iter().filter_map(|it| it.new.as_ref());
        // A file that did not change is the same on both sides.
        let before = files.iter().filter_map(|it| match it.changed {
            true => it.old.as_ref(),
            false => it.new.as_ref(),
        });
        let now: Option<Vec<Arc<FileDecl>>> = now.map(decl).collect();
        let before: Option<Vec<Arc<FileDecl>>> = before.map(decl).collect();
        let (Some(now), Some(before)) = (now, before) else { return Ok(None) };
        let [new_notes, old_notes] = notes;
        let now = ParsedFiles {
            files: with_imports(new, now, &KnownFiles::of(&[]))?,
            name: new.name().to_owned(),
            notes: new_notes.iter().chain(&*note).cloned().collect(),
            ..ParsedFiles::default()
        };
        let before = ParsedFiles {
            files: with_imports(old, before, &KnownFiles::of(&now.files))?,
            name: old.name().to_owned(),
            notes: old_notes.clone(),
            ..ParsedFiles::default()
        };
        progress.begin_step(format!("linking {} files", now.files.len() + before.files.len()));
        let (tree, old_tree) = Tree::link_both(now.files.clone(), before.files.clone());
        Ok(Some((now.link_loaded(|_| tree), before.link_loaded(|_| old_tree))))
    }
}

/// Returns true if a slice has so many of the files that reading all of them is no more work.
fn is_most(slice: &TreeSlice, files: &[ChangedFile]) -> bool {
    slice.files.len() * 2 > files.len()
}

impl ChangedFile {
    fn of(old: Option<ListedFile>, new: Option<ListedFile>) -> ChangedFile {
        ChangedFile { old: old.map(FileSide::of), new: new.map(FileSide::of), changed: false }
    }

    /// Its root, and its path in there.
    fn place(&self) -> (u32, &str) {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or((0, ""), |it| (it.listed.root, &it.listed.path))
    }

    /// The old side, if it is not the same as the new one.
    fn old_text(&mut self) -> Option<&mut FileSide> {
        self.old.as_mut().filter(|_| self.changed)
    }

    /// The sides that differ, or else the one that stands for both.
    fn sides(&self) -> impl Iterator<Item = &FileSide> {
        self.old.iter().filter(|_| self.changed).chain(&self.new)
    }

    /// The same, to read them.
    fn texts(&mut self) -> impl Iterator<Item = &mut FileSide> {
        self.old.iter_mut().filter(|_| self.changed).chain(&mut self.new)
    }

    /// Finds out whether the file changed. A text on disk is compared as git would store it.
    fn compare(&mut self, new: &Source, records: &ChangedRecords<'_>) {
        let was = self.old.as_ref().and_then(|it| it.blob);
        if let Some(side) = self.new.as_mut().filter(|it| it.blob.is_none())
            && let Some(file) = &side.text
        {
            side.blob = match was {
                Some(was) if is_stored_as(&file.text, was) => Some(was),
                _ => compute_blob(&file.text),
            };
        }
        let is = self.new.as_ref().and_then(|it| it.blob);
        let (root, path) = self.place();
        let display = || new.display(root, path);
        let changed = was.is_none()
            || is != was
            || !records.made.is_empty() && records.made.contains(display().as_str());
        self.changed = changed;
    }

    fn build_outlined(&self) -> OutlinedFile<'_> {
        let (root, path) = self.place();
        OutlinedFile {
            root,
            path,
            old: self.old.as_ref().and_then(FileSide::outline),
            new: self.new.as_ref().and_then(FileSide::outline),
            changed: self.changed,
        }
    }
}

/// A note that files may count as changed because git, and nobody else, changed them.
fn find_rewritten(new: &Source, files: &[ChangedFile]) -> Option<String> {
    let read = files.iter().filter(|it| it.changed && it.old.is_some());
    let read = read.filter(|it| it.new.as_ref().is_some_and(|it| it.listed.blob.is_none()));
    let paths: Vec<String> =
        read.map(|it| it.place()).map(|(root, path)| new.display(root, path)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    (!paths.is_empty() && new.may_be_rewritten(&paths)).then(|| {
        "git attributes rewrite files on checkout, so unchanged files may be listed".to_owned()
    })
}

/// Compares the files outside of two trees that they import.
fn compare_outside(
    new: &Source,
    old: &Source,
    files: &[ChangedFile],
    outlines: &OutlineCache,
) -> Result<OutsideEffect, LoadError> {
    let inside: FxHashSet<&str> = files.iter().map(|it| it.place().1).collect();
    let imports = files.iter().flat_map(ChangedFile::sides).filter_map(FileSide::outline);
    let imports = imports.flat_map(|it| &it.imports).filter(|it| !inside.contains(&***it));
    let imports: BTreeSet<Arc<str>> = imports.cloned().collect();
    Ok(OutsideEffect::compare(new, old, &inside, imports, outlines)?)
}
