//! Folders on disk. They are walked as ripgrep does, except that files which git tracks are never
//! ignored.

use std::cell::{LazyCell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_schema::{SourceFile, Text};
use gix::ObjectId;
use ignore::Match;
use rayon::Scope;
use rayon::prelude::*;

use super::alone::read_alone;
use super::contents::Gathered;
use super::disk::read_regular;
use super::failure::{NO_ROOT, NOT_REGULAR, NOT_UNICODE, SourceError, io_reason};
use super::git::index::{Tracked, unchanged_blobs};
use super::ignored::{Found, Ignored};
use super::kind::{Asked, OpenSource, Opening, Reading, SourceKind};
use super::links::Links;
use super::listing::{Listed, Listing};
use super::paths::{canonical, is_proto, is_skipped, join, relative};
use super::roots::{Mount, RootLayout, mount};
use crate::printable::shown;

pub(super) const KIND: SourceKind = SourceKind {
    help: "DIR                  a folder with .proto files; .gitignore is honoured",
    brief: "a folder",
    is_spelled: |_| false,
    is_found: |_, found| found.as_ref().is_ok_and(|it| it.is_dir()),
    open,
};

fn open(asked: &Asked<'_>, mut layout: RootLayout) -> Result<Opening, SourceError> {
    let options = asked.options;
    let mut notes = Vec::new();
    let top = fs::canonicalize(&asked.path)
        .map_err(|error| SourceError::unusable(asked.name, io_reason(&error)))?;
    let inside = |written: &str| {
        let folder = canonical(&options.base.join(written));
        relative(&folder, &top).filter(|_| folder.is_dir()).map(Mount::Inside)
    };
    let mut imports = mount(options, inside, Some(""), &mut layout, &mut notes);
    // Imports are read from disk, whether or not the folder is inside the tree.
    for import in &mut imports {
        import.at = Mount::Disk(options.base.join(&import.written));
    }
    let source = Box::new(Directory { top, links: Arc::clone(asked.links) });
    Ok(Opening { source, layout, imports, notes })
}

/// A folder on disk.
struct Directory {
    /// Where it lies, with links resolved.
    top: PathBuf,
    links: Arc<Links>,
}

/// The proto files in the root of a layout, with the blobs that they were checked out from where
/// git can tell.
pub(super) fn files_on_disk(top: &Path, layout: &RootLayout) -> Vec<(String, Option<ObjectId>)> {
    let links = Links::around(top, &[]);
    let (files, _) = list(top, layout, &links);
    files.into_iter().map(|it| (it.path, it.blob)).collect()
}

/// Finds the files of a tree.
fn list(top: &Path, layout: &RootLayout, links: &Links) -> (Vec<Listed>, Gathered) {
    let found = Mutex::default();
    let gathered = walk(top, layout, links, Some(&found));
    let mut files: Vec<Listed> = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let display = |it: &Listed| layout.display(it.root as usize, &it.path);
    let paths: Vec<String> = files.iter().map(display).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for (file, blob) in files.iter_mut().zip(unchanged_blobs(top, &paths)) {
        file.blob = blob;
    }
    (files, gathered)
}

impl OpenSource for Directory {
    fn read(&self, layout: &RootLayout, _name: &str) -> Result<Reading, SourceError> {
        Ok(Reading::Files(read(&self.top, layout, &self.links)))
    }

    fn list(&self, layout: &RootLayout) -> Result<Option<Listing>, SourceError> {
        let (files, gathered) = list(&self.top, layout, &self.links);
        Ok(Some(Listing::of(files, gathered)))
    }

    fn read_listed(&self, layout: &RootLayout, files: &[&Listed]) -> Gathered {
        let read = |file: &&Listed| {
            let display = layout.display(file.root as usize, &file.path);
            let text = BUFFER.with_borrow_mut(|it| read_regular(&self.top.join(&display), it));
            let file = |text| SourceFile {
                path: file.path.as_str().into(),
                display: display.as_str().into(),
                root: file.root,
                imported: false,
                text,
            };
            text.map(file).map_err(|error| (display.clone(), io_reason(&error)))
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
            true => read_alone(&file, &self.top, layout, name, &self.links).map(Some),
            false => Ok(None),
        }
    }

    fn blobs(&self, _layout: &RootLayout, paths: &[&str]) -> Vec<Option<ObjectId>> {
        unchanged_blobs(&self.top, paths)
    }

    fn text(&self, path: &str) -> Result<Option<Text>, SourceError> {
        self.links.find(&self.top, path)
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

/// Reads the tree at `top`, which is canonical.
///
/// A link to a file is read, if it is in reach. A link to a folder is not entered, as in ripgrep: build systems link
/// whole output trees into the folder they work in.
fn read(top: &Path, layout: &RootLayout, links: &Links) -> Gathered {
    walk(top, layout, links, None)
}

/// Walks the tree. With a list to fill, files are added to it and not read.
fn walk(
    top: &Path,
    layout: &RootLayout,
    links: &Links,
    listed: Option<&Mutex<Vec<Listed>>>,
) -> Gathered {
    let ends: BTreeSet<PathBuf> = layout
        .roots
        .iter()
        .chain(&layout.excluded)
        .map(|folder| top.join(folder))
        .flat_map(|folder| [canonical(&folder), folder])
        .collect();
    let gathered = Mutex::new(Gathered::default());
    // Git's index is read only if ignore rules hide something that git may track.
    let tracked = LazyCell::new(|| Tracked::around(top));
    for (index, root) in layout.roots.iter().enumerate() {
        let folder = canonical(&top.join(root));
        let hidden = Mutex::default();
        let walk = Walk {
            layout,
            links,
            index,
            root,
            folder: &folder,
            ends: &ends,
            gathered: &gathered,
            hidden: &hidden,
            listed,
        };
        if folder.is_dir() {
            let ignored = Ignored::around(&folder);
            rayon::scope(|scope| walk.enter(scope, &folder, &ignored));
            let hidden = std::mem::take(&mut *locked(&hidden));
            if !hidden.is_empty() {
                walk.add_tracked(&hidden, &tracked);
            }
        } else {
            walk.problem(root, NO_ROOT);
        }
    }
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The walk of one root.
struct Walk<'w> {
    layout: &'w RootLayout,
    links: &'w Links,
    /// The index of the root.
    index: usize,
    root: &'w str,
    /// Where the root is on disk.
    folder: &'w Path,
    /// The folders of all roots and import paths, which the walk does not enter.
    ends: &'w BTreeSet<PathBuf>,
    gathered: &'w Mutex<Gathered>,
    /// The folders and proto files that ignore rules kept out of the walk.
    hidden: &'w Mutex<Vec<PathBuf>>,
    /// Where files are listed that are not to be read.
    listed: Option<&'w Mutex<Vec<Listed>>>,
}

impl Walk<'_> {
    /// Reads the files of a folder; each folder in it becomes a task of its own.
    fn enter<'s>(&'s self, scope: &Scope<'s>, folder: &Path, around: &Ignored) {
        let mut entries = Vec::new();
        let mut found = Found::default();
        let listed = fs::read_dir(folder).and_then(|listing| {
            for entry in listing {
                let entry = entry?;
                let name = entry.file_name();
                found.note(&name);
                entries.push((name, entry.file_type()?));
            }
            Ok(())
        });
        if let Err(error) = listed {
            self.problem(self.display(folder), io_reason(&error));
        }
        let ignored = around.below(folder, found);
        for (name, kind) in entries {
            let is_proto = is_proto(name.as_encoded_bytes());
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
            if kind.is_dir() {
                let ignored = ignored.clone();
                scope.spawn(move |scope| self.enter(scope, &path, &ignored));
            } else {
                self.entry(&path, kind, is_proto);
            }
        }
    }

    /// Reads the files that ignore rules hide although git tracks them.
    fn add_tracked(&self, hidden: &[PathBuf], tracked: &Result<Tracked, String>) {
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
                    self.entry(&path, found.file_type(), true);
                }
            }
        }
    }

    /// Whether the walk would reach this file if no ignore rule hid its folder.
    fn enters(&self, hidden: &Path, path: &Path) -> bool {
        let (Ok(names), Some(parent)) = (path.strip_prefix(hidden), path.parent()) else {
            return false;
        };
        let mut folders = parent.ancestors().take_while(|folder| folder.starts_with(hidden));
        names.iter().all(|name| !is_skipped(&name.to_string_lossy()))
            && folders.all(|folder| !self.ends.contains(folder))
            && fs::canonicalize(parent).is_ok_and(|real| real == parent)
    }

    /// Reads a file, or the file that a link points to.
    fn entry(&self, path: &Path, kind: fs::FileType, is_proto: bool) {
        // The listing has the kind of every entry; only links need another call.
        let target = match kind.is_symlink().then(|| fs::metadata(path)) {
            None => Ok(kind),
            // A folder is not entered, wherever it is.
            Some(Ok(target)) if target.is_dir() => Ok(target.file_type()),
            Some(_) if !is_proto => return,
            Some(Ok(target)) if target.is_file() => {
                self.links.follow(path).map(|_| target.file_type())
            }
            Some(Ok(target)) => Ok(target.file_type()),
            Some(Err(error)) => Err(error),
        };
        match target {
            Ok(kind) if kind.is_dir() => self.gathered().notes.push(format!(
                "the linked folder `{}` was not entered: add it to `roots` to check it",
                shown(&self.display(path))
            )),
            _ if !is_proto => {}
            Ok(kind) if kind.is_file() => match relative(path, self.folder) {
                Some(name) => self.read(path, name),
                None => self.problem(self.display(path), NOT_UNICODE),
            },
            Ok(_) => self.problem(self.display(path), NOT_REGULAR),
            Err(error) => self.problem(self.display(path), io_reason(&error)),
        }
    }

    fn read(&self, file: &Path, path: String) {
        if let Some(listed) = self.listed {
            locked(listed).push(Listed { root: self.index as u32, path, blob: None });
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
