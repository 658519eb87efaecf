//! Folders on disk. They are walked as ripgrep does, except that files which git tracks are never
//! ignored.

use std::cell::{LazyCell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_schema::{FileText, SourceFile};
use gix::ObjectId;
use gix::index::entry::Stat;
use ignore::Match;
use rayon::Scope;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::contents::{CONFIG, Gathered};
use super::disk::read_regular;
use super::failure::{NO_ROOT, NOT_REGULAR, NOT_UNICODE, SourceError, io_reason};
use super::git::index::{OnRecord, TrackedPaths, may_be_rewritten, read_stat};
use super::git::sparse::{LeftOut, not_fetched};
use super::ignored::{IgnoreNames, IgnoreRules, Unread};
use super::imports::{ImportPlace, place_imports};
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::links::{LinkLimits, LinkedFolder, MAX_SEARCHED, SampleFile};
use super::listing::{FileListing, ListedFile};
use super::paths::{canonicalize, is_proto, is_skipped, join, make_relative, relate_to};
use super::roots::RootLayout;
use super::single_file::read_single_file;
use super::{is_config, list_config_paths};
use crate::printable::escape_unprintable;

pub(super) const KIND: SourceKind = SourceKind {
    help: "DIR                  a folder with .proto files; .gitignore is honoured",
    brief: "a folder",
    is_spelled: |_| false,
    is_found: |_, found| found.as_ref().is_ok_and(|it| it.is_dir()),
    is_packed: false,
    open,
};

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let options = asked.options;
    let mut notes = Vec::new();
    let top = fs::canonicalize(&asked.path)
        .map_err(|error| SourceError::unusable(asked.name, io_reason(&error)))?;
    let left_out = LeftOut::around(&top);
    let inside = |written: &str| {
        let is_folder = |it: &Path| it.is_dir() || is_left_out(left_out.as_ref(), it);
        let folder = canonicalize(&options.base.join(written));
        make_relative(&folder, &top).filter(|_| is_folder(&folder)).map(ImportPlace::Inside)
    };
    let mut imports = place_imports(options, inside, Some(""), &mut layout, &mut notes);
    // Imports are read from disk, whether or not the folder is inside the tree.
    for import in &mut imports {
        if let ImportPlace::Inside(folder) = &import.at {
            let mounted = options.mounts.iter().any(|it| it.name == import.written);
            let folder =
                if mounted { top.join(folder) } else { options.base.join(&import.written) };
            import.at = ImportPlace::Disk(folder);
        }
    }
    let folders = imports.iter().filter_map(|import| match &import.at {
        ImportPlace::Disk(folder) => Some(from_top(&canonicalize(folder), &top)),
        _ => None,
    });
    let imported = folders.collect();
    let source = Box::new(Directory { top, links: Arc::clone(asked.links), left_out, imported });
    Ok(OpenedSource { source, layout, imports, notes })
}

/// A folder on disk.
struct Directory {
    /// The path on disk, with links resolved.
    top: PathBuf,
    links: Arc<LinkLimits>,
    /// The files that are not on disk because the checkout is sparse.
    left_out: Option<LeftOut>,
    /// The import paths, from the top.
    imported: Vec<String>,
}

/// Computes the path of a folder from the top of a tree. Both are without links.
fn from_top(folder: &Path, top: &Path) -> String {
    let text = |path: &Path| path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    relate_to(&text(folder), &text(top))
}

/// Returns true if a sparse checkout leaves out files below a folder.
fn is_left_out(left_out: Option<&LeftOut>, folder: &Path) -> bool {
    left_out.is_some_and(|it| it.below(folder).next().is_some())
}

impl Directory {
    /// The judged files that a sparse checkout leaves out, besides those that were found.
    fn list_left_out<'p>(
        &self,
        layout: &RootLayout,
        found: impl Iterator<Item = (u32, &'p str)>,
    ) -> Vec<ListedFile> {
        let Some(left_out) = &self.left_out else { return Vec::new() };
        let found: FxHashSet<(u32, &str)> = found.collect();
        let listed = |(path, blob): (&str, ObjectId)| {
            let (root, path) = layout.place(path).filter(|_| is_proto(path.as_bytes()))?;
            let listed = ListedFile { root, path: path.to_owned(), blob: Some(blob), size: None };
            (!found.contains(&(root, path))).then_some(listed)
        };
        left_out.below(&self.top).filter_map(listed).collect()
    }

    fn read_left_out(&self, layout: &RootLayout, gathered: &mut Gathered) {
        let found = gathered.files.iter().map(|it| (it.root, &*it.path));
        let listed = self.list_left_out(layout, found);
        let Some(left_out) = self.left_out.as_ref().filter(|_| !listed.is_empty()) else { return };
        let blobs: Vec<ObjectId> = listed.iter().filter_map(|it| it.blob).collect();
        let texts = left_out.read(&blobs);
        gathered.notes.extend(not_fetched(texts.iter().filter(|it| it.is_none()).count()));
        gathered.notes.push(READ_FROM_GIT.to_owned());
        let files = listed.iter().zip(texts).filter_map(|(it, text)| Some(it.file(layout, text?)));
        gathered.files.extend(files);
    }
}

const READ_FROM_GIT: &str =
    "the checkout is sparse: files that it leaves out are read from git, as they are in its index";

impl OpenSource for Directory {
    fn read(&self, layout: &RootLayout, _name: &str) -> Result<SourceData, SourceError> {
        let mut gathered = walk(self, layout, None);
        self.read_left_out(layout, &mut gathered);
        Ok(SourceData::Files(gathered))
    }

    fn list(&self, layout: &RootLayout) -> Result<Option<FileListing>, SourceError> {
        let found = FoundOnDisk::default();
        let (mut gathered, on_record) =
            rayon::join(|| walk(self, layout, Some(&found)), || OnRecord::below(&self.top));
        let found: Vec<(ListedFile, Option<Stat>)> =
            found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let file = |(file, stat): (ListedFile, Option<Stat>)| {
            let place = layout.display(file.root as usize, &file.path);
            let recorded = on_record.as_ref().and_then(|it| it.find_unchanged(&place, stat));
            ListedFile {
                blob: recorded.map(|it| it.blob),
                size: recorded.map(|it| it.size),
                ..file
            }
        };
        let mut files: Vec<ListedFile> = found.into_par_iter().map(file).collect();
        let left_out =
            self.list_left_out(layout, files.iter().map(|it| (it.root, it.path.as_str())));
        gathered.notes.extend((!left_out.is_empty()).then(|| READ_FROM_GIT.to_owned()));
        files.extend(left_out);
        Ok(Some(FileListing::of(files, gathered)))
    }

    fn read_listed(&self, layout: &RootLayout, files: &[&ListedFile]) -> Gathered {
        let read = |file: &&ListedFile| {
            let display = layout.display(file.root as usize, &file.path);
            let path = self.top.join(&display);
            let text = BUFFER.with_borrow_mut(|it| read_regular(&path, it));
            match text.or_else(|error| self.find_left_out(&path).ok_or(error)) {
                Ok(text) => Ok(file.file(layout, text)),
                Err(error) => Err((display, io_reason(&error))),
            }
        };
        let read: Vec<Result<SourceFile, (String, String)>> = files.par_iter().map(read).collect();
        let mut gathered = Gathered::default();
        for file in read {
            match file {
                Ok(file) => gathered.files.push(file),
                Err((display, reason)) => gathered.problem(display, reason),
            }
        }
        gathered
    }

    fn read_named(
        &self,
        path: &str,
        layout: &RootLayout,
        name: &str,
    ) -> Result<Option<SourceFile>, SourceError> {
        let file = self.top.join(path);
        match file.is_file() {
            true => read_single_file(&file, &self.top, layout, name, &self.links).map(Some),
            false => Ok(None),
        }
    }

    fn blobs(&self, _layout: &RootLayout, paths: &[&str]) -> Vec<Option<ObjectId>> {
        let on_record = OnRecord::below(&self.top);
        let blob = |path: &&str| Some(on_record.as_ref()?.find_unchanged(path, None)?.blob);
        paths.par_iter().map(blob).collect()
    }

    fn read_index(&self) -> Option<OnRecord> {
        OnRecord::below(&self.top)
    }

    fn may_be_rewritten(&self, paths: &[&str]) -> bool {
        may_be_rewritten(&self.top, paths)
    }

    fn find_left_out(&self, path: &Path) -> Option<FileText> {
        let left_out = self.left_out.as_ref().filter(|_| fs::symlink_metadata(path).is_err())?;
        left_out.read(&[left_out.at(path)?]).pop()?
    }

    fn read_text(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        let file = self.top.join(path);
        if fs::symlink_metadata(&file).is_err() {
            return Ok(self.find_left_out(&file));
        }
        match self.links.read(&file) {
            Ok(text) => Ok(Some(text.as_slice().into())),
            // A link to nowhere, or a file in the place of a folder.
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
            Err(error) => Err(SourceError::unusable(path, io_reason(&error))),
        }
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.top)
    }

    fn may_be_copy(&self, has_roots: bool) -> bool {
        has_roots
    }
}

/// The size of the read buffer: nearly all files are smaller.
const USUAL_FILE: usize = 1 << 16;

thread_local! {
    /// The buffer that a thread reads files into.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; USUAL_FILE]);
}

/// Walks the tree. With a list to fill, files are added to it and not read.
///
/// A link to a file is read, if it is in reach. A link to a folder is not entered, as in ripgrep:
/// build systems link whole output trees into the folder they work in.
fn walk(tree: &Directory, layout: &RootLayout, listed: Option<&FoundOnDisk>) -> Gathered {
    let Directory { top, links, left_out, imported } = tree;
    let ends: BTreeSet<PathBuf> = layout
        .roots
        .iter()
        .chain(&layout.excluded)
        .map(|folder| top.join(folder))
        .flat_map(|folder| [canonicalize(&folder), folder])
        .collect();
    let gathered = Mutex::new(Gathered::default());
    let configurations = Mutex::default();
    // Git's index is read only if ignore rules hide something that git may track.
    let tracked = LazyCell::new(|| TrackedPaths::around(top));
    for (index, root) in layout.roots.iter().enumerate() {
        let folder = canonicalize(&top.join(root));
        let hidden = Mutex::default();
        let walk = DirectoryWalk {
            layout,
            links,
            top,
            imported,
            index,
            root,
            folder: &folder,
            ends: &ends,
            gathered: &gathered,
            configurations: &configurations,
            hidden: &hidden,
            listed,
        };
        if let Some(reason) = links.describe_refusal(top, root) {
            walk.problem(root, reason);
        } else if folder.is_dir() {
            let (ignored, unread) = IgnoreRules::around(&folder, links);
            walk.unread_rules(unread);
            rayon::scope(|scope| walk.enter(scope, &folder, Some(""), &ignored));
            let hidden = std::mem::take(&mut *locked(&hidden));
            if !hidden.is_empty() {
                walk.add_tracked(&hidden, &tracked);
            }
        } else if !is_left_out(left_out.as_ref(), &folder) {
            walk.problem(root, NO_ROOT);
        }
    }
    let mut gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    gathered.notes.extend(warn_of_unread_configurations(top, &mut locked(&configurations)));
    gathered
}

/// Warns of configurations below a tree that has none: whoever keeps them expects them to be
/// read.
fn warn_of_unread_configurations(top: &Path, folders: &mut [String]) -> Option<String> {
    folders.sort_unstable();
    let first = folders.first()?;
    if list_config_paths(top).iter().any(|it| is_config(it)) {
        return None;
    }
    let (more, verb) = match folders.len() {
        1 => (String::new(), "is"),
        count => (format!(" and {} more", count - 1), "are"),
    };
    let first = escape_unprintable(first);
    Some(format!(
        "`{first}/{CONFIG}`{more} {verb} not read here: `abide check {first}` judges by it"
    ))
}

/// The files that a walk lists, with what git's index would record of each.
type FoundOnDisk = Mutex<Vec<(ListedFile, Option<Stat>)>>;

/// The walk of one root.
struct DirectoryWalk<'w> {
    layout: &'w RootLayout,
    links: &'w LinkLimits,
    top: &'w Path,
    /// The import paths, from the top.
    imported: &'w [String],
    /// The index of the root.
    index: usize,
    root: &'w str,
    /// The path of the root on disk.
    folder: &'w Path,
    /// The folders of all roots and import paths, which the walk does not enter.
    ends: &'w BTreeSet<PathBuf>,
    gathered: &'w Mutex<Gathered>,
    /// The folders below a root that have a configuration.
    configurations: &'w Mutex<Vec<String>>,
    /// The folders and proto files that ignore rules kept out of the walk.
    hidden: &'w Mutex<Vec<PathBuf>>,
    /// The list for files that are not to be read.
    listed: Option<&'w FoundOnDisk>,
}

impl DirectoryWalk<'_> {
    /// Reads the files of a folder; each folder in it becomes a task of its own. `within` is where
    /// it lies in the root, if that is Unicode.
    fn enter<'s>(
        &'s self,
        scope: &Scope<'s>,
        folder: &Path,
        within: Option<&str>,
        around: &IgnoreRules,
    ) {
        let mut entries = Vec::new();
        let mut found = IgnoreNames::default();
        let listed = fs::read_dir(folder).and_then(|listing| {
            for entry in listing {
                let entry = entry?;
                found.note(&entry.file_name());
                entries.push((entry.file_type()?, entry));
            }
            Ok(())
        });
        if let Err(error) = listed {
            self.problem(self.display(folder), io_reason(&error));
        }
        let (ignored, unread) = around.below(folder, found, self.links);
        self.unread_rules(unread);
        for (kind, entry) in entries {
            let name = entry.file_name();
            let is_proto = is_proto(name.as_encoded_bytes());
            if name == CONFIG {
                locked(self.configurations).push(self.display(folder));
            }
            if !(is_proto || kind.is_dir() || kind.is_symlink()) {
                continue;
            }
            let path = folder.join(&name);
            let enters = !kind.is_file();
            if enters && (name == "node_modules" || self.ends.contains(&path)) {
                continue;
            }
            let is_dotted = name.as_encoded_bytes().starts_with(b".");
            match ignored.says(&path, kind.is_dir()) {
                Match::None if is_dotted => continue,
                Match::Ignore(()) => {
                    if !is_dotted && (is_proto || kind.is_dir()) {
                        locked(self.hidden).push(path);
                    }
                    continue;
                }
                Match::None | Match::Whitelist(()) => {}
            }
            let place = within.zip(name.to_str()).map(|(within, name)| join(within, name));
            if kind.is_dir() {
                let ignored = ignored.clone();
                scope.spawn(move |scope| self.enter(scope, &path, place.as_deref(), &ignored));
            } else {
                self.entry(&path, place, kind, is_proto, || entry.metadata().ok());
            }
        }
    }

    /// Reads the files that ignore rules hide although git tracks them.
    fn add_tracked(&self, hidden: &[PathBuf], tracked: &Result<TrackedPaths, String>) {
        let tracked = match tracked {
            Ok(tracked) => tracked,
            Err(reason) => {
                self.gathered().notes.push(format!(
                    "cannot read git's index, so tracked files that match ignore rules are left \
                     out: {reason}"
                ));
                return;
            }
        };
        for hidden in hidden {
            for path in tracked.at_or_below(hidden) {
                // The file may be deleted, or behind a link that replaced a folder.
                if let Ok(found) = fs::symlink_metadata(&path)
                    && self.enters(hidden, &path)
                {
                    let place = make_relative(&path, self.folder);
                    self.entry(&path, place, found.file_type(), true, || Some(found));
                }
            }
        }
    }

    /// Returns true if the walk would reach this file if no ignore rule hid its folder.
    fn enters(&self, hidden: &Path, path: &Path) -> bool {
        let (Ok(names), Some(parent)) = (path.strip_prefix(hidden), path.parent()) else {
            return false;
        };
        let mut folders = parent.ancestors().take_while(|folder| folder.starts_with(hidden));
        names.iter().all(|name| !is_skipped(&name.to_string_lossy()))
            && folders.all(|folder| !self.ends.contains(folder))
            && fs::canonicalize(parent).is_ok_and(|real| real == parent)
    }

    /// Reads a file, or the file that a link points to. `place` is its path in the root, if that is
    /// Unicode, and `found` is asked about the entry itself.
    fn entry(
        &self,
        path: &Path,
        place: Option<String>,
        kind: fs::FileType,
        is_proto: bool,
        found: impl FnOnce() -> Option<fs::Metadata>,
    ) {
        // The listing has the kind of every entry; only links need another call.
        let target = match kind.is_symlink().then(|| fs::metadata(path)) {
            None => Ok(kind),
            // A folder is not entered, wherever it is.
            Some(Ok(target)) if target.is_dir() => Ok(target.file_type()),
            Some(_) if !is_proto => return,
            Some(Ok(target)) if target.is_file() => {
                self.links.resolve_links(path).map(|_| target.file_type())
            }
            Some(Ok(target)) => Ok(target.file_type()),
            Some(Err(error)) => Err(error),
        };
        match target {
            Ok(kind) if kind.is_dir() => {
                let note = self.linked_folder(path, place.as_deref().unwrap_or_default());
                self.gathered().notes.extend(note);
            }
            _ if !is_proto => {}
            Ok(kind) if kind.is_file() => match place {
                Some(place) => self.read(path, place, found),
                None => self.problem(self.display(path), NOT_UNICODE),
            },
            Ok(_) => self.problem(self.display(path), NOT_REGULAR),
            Err(error) => self.problem(self.display(path), io_reason(&error)),
        }
    }

    /// Warns of a link to a folder that has proto files.
    fn linked_folder(&self, path: &Path, place: &str) -> Option<String> {
        let real = fs::canonicalize(path).ok()?;
        let sample = find_sample(&real)?;
        let folder = from_top(&real, self.top);
        let root = &self.layout.roots[self.index];
        let link = self.display(path);
        let linked = LinkedFolder { link: &link, root, place, folder: &folder };
        linked.note(self.layout, self.imported, sample)
    }

    fn read(&self, file: &Path, path: String, found: impl FnOnce() -> Option<fs::Metadata>) {
        if let Some(listed) = self.listed {
            let stat = found().and_then(|it| read_stat(&it));
            let file = ListedFile { root: self.index as u32, path, blob: None, size: None };
            locked(listed).push((file, stat));
            return;
        }
        let display = self.layout.display(self.index, &path);
        match BUFFER.with_borrow_mut(|buffer| read_regular(file, buffer)) {
            Ok(text) => self.gathered().files.push(SourceFile {
                path: path.into(),
                display: display.into(),
                root: self.index as u32,
                imported: false,
                text,
            }),
            Err(error) => self.problem(display, io_reason(&error)),
        }
    }

    fn unread_rules(&self, unread: Vec<Unread>) {
        for (path, reason) in unread {
            self.problem(from_top(&path, self.top), reason);
        }
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        locked(self.gathered)
    }

    fn problem(&self, path: impl Into<String>, reason: impl Into<String>) {
        self.gathered().problem(path, reason);
    }

    fn display(&self, path: &Path) -> String {
        let path = path.strip_prefix(self.folder).unwrap_or(path).to_string_lossy();
        join(self.root, &path.replace(std::path::MAIN_SEPARATOR, "/"))
    }
}

/// The first proto file in a folder, among its first entries.
fn find_sample(top: &Path) -> Option<SampleFile> {
    let mut folders = vec![top.to_owned()];
    let mut left = MAX_SEARCHED;
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        let mut entries: Vec<fs::DirEntry> = entries.take(left).collect();
        left -= entries.len();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.file_name()));
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if is_skipped(&name) {
                continue;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && is_proto(name.as_bytes()) {
                let text = read_regular(&entry.path(), &mut Vec::new()).ok()?;
                return Some(SampleFile { path: make_relative(&entry.path(), top)?, text });
            }
        }
    }
    None
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
