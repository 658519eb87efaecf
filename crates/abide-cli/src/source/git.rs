//! Trees at a revision, read from the object store of the enclosing repository.

use std::fmt;
use std::path::{Path, PathBuf};

use abide_schema::{SourceFile, Text};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::error::MetadataValue;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository, ThreadSafeRepository};
use rayon::prelude::*;

use super::contents::Gathered;
use super::disk::MAX_FILE;
use super::failure::{NO_ROOT, NOT_UNICODE, ReadProblem, SourceError, TOO_LARGE};
use super::kind::{Asked, OpenSource, Opening, Reading, SourceKind};
use super::paths::{canonical, is_proto, is_skipped, join, normalize, relative};
use super::roots::{Mount, RootLayout, mount};
use super::spec::{SourceOptions, split_subdir};
use crate::printable::shown;
use revision::{merge_base, resolve_commit, resolve_revision};

mod revision;
pub(crate) mod timeline;

pub(super) const KIND: SourceKind = SourceKind {
    help: "\
  git:REV[:SUBDIR]     the tree at a revision, read without a checkout
  git:REV...[:SUBDIR]  the tree at the merge base of REV and HEAD",
    brief: "`git:REV`",
    is_spelled: |spec| spec.starts_with(PREFIX),
    is_found: |_, _| false,
    open,
};

/// What stands before a revision.
const PREFIX: &str = "git:";

fn open(asked: &Asked<'_>, mut layout: RootLayout) -> Result<Opening, SourceError> {
    let options = asked.options;
    let spec = asked.name.strip_prefix(PREFIX).unwrap_or(asked.name);
    let (revision, note) = Revision::open(spec, options)?;
    let mut notes: Vec<String> = note.into_iter().collect();
    let inside = |written: &str| revision.locate(written, options.base);
    let imports = mount(options, inside, Some(&revision.top), &mut layout, &mut notes);
    Ok(Opening { source: Box::new(revision), layout, imports, notes })
}

impl OpenSource for Revision {
    fn read(&self, layout: &RootLayout, _name: &str) -> Result<Reading, SourceError> {
        self.gather(layout).map(Reading::Files)
    }

    fn find(&self, path: &str) -> Result<Option<Text>, SourceError> {
        let repo = self.repository.to_thread_local();
        match walk_path(&repo, self.tree, path) {
            Ok(Some(Target { id, kind: EntryKind::Blob | EntryKind::BlobExecutable, .. })) => {
                Ok(Some(read_blob(&repo, id).map_err(|reason| self.failed(reason))?))
            }
            Ok(_) | Err(LEAVES | LOOPS) => Ok(None),
            Err(reason) => Err(self.failed(reason)),
        }
    }

    fn text(&self, path: &str) -> Result<Option<Text>, SourceError> {
        self.find(&join(&self.top, path))
    }

    fn folder_in_repository(&self) -> Option<&str> {
        Some(&self.top)
    }

    fn may_be_copy(&self, _has_roots: bool) -> bool {
        true
    }

    fn may_be_empty(&self) -> bool {
        true
    }
}

/// How many links a path may lead through, as in most kernels; more are taken for a loop.
const MAX_LINKS: u32 = 40;

/// How many entries a tree may have. Ten nested folders, each with ten names for the next, would
/// otherwise keep the walk busy forever.
const MAX_ENTRIES: usize = 10_000_000;

/// The tree at a revision.
struct Revision {
    repository: ThreadSafeRepository,
    /// The name for messages.
    name: String,
    /// The tree of the whole revision.
    tree: ObjectId,
    /// The folder of the tree in the repository, as the user names it.
    top: String,
    /// The same folder with links resolved; `None` if the revision does not have it.
    folder: Option<String>,
    work: Option<PathBuf>,
}

/// An object at the end of a path.
struct Target {
    /// The path with links resolved.
    path: String,
    id: ObjectId,
    kind: EntryKind,
}

/// Why a path in a revision leads nowhere, as one phrase.
type DeadEnd = &'static str;

const LEAVES: DeadEnd = "it links to a place outside the repository";
const LOOPS: DeadEnd = "it links to itself";
const MISSING_OBJECT: DeadEnd = "objects are missing or damaged: run `git fsck`, or in a partial \
                                 clone `git fetch --refetch --no-filter`";

impl Revision {
    /// Opens `REV`, `REV:SUBDIR`, `REV...` or `REV...:SUBDIR`; the second result is a note, if any.
    fn open(spec: &str, options: &SourceOptions) -> Result<(Self, Option<String>), SourceError> {
        let name = format!("git:{spec}");
        let failed = |reason: &str| SourceError::unusable(name.as_str(), reason);
        let (revision, subdir) = split_subdir(spec);
        let repository = discover(options.base)?;
        let repo = repository.to_thread_local();
        let work = repo.workdir().map(canonical);
        let mut note = None;
        let object = match revision.strip_suffix("...") {
            None => resolve_revision(&repo, revision)?,
            Some(revision) => {
                let with = options.merge_with.unwrap_or("HEAD");
                let with = with.strip_prefix("git:").map_or(with, |spec| split_subdir(spec).0);
                let with = with.strip_suffix("...").unwrap_or(with);
                let (base, head) = merge_base(&repo, revision, with)?;
                if base == head {
                    let but = if options.merge_with.is_none() {
                        " except what is not committed"
                    } else {
                        ""
                    };
                    note = Some(format!(
                        "the merge base of `{}` and `{}` is `{}` itself: there is nothing to \
                         compare{but}",
                        shown(revision),
                        shown(with),
                        shown(with),
                    ));
                }
                base
            }
        };
        let tree = repo
            .find_object(object)
            .and_then(|object| Ok(object.peel_to_tree()?.id))
            .map_err(|_| failed("it is not a commit, or its objects are missing"))?;
        let top = match (subdir, &work) {
            (Some(subdir), _) => normalize(subdir),
            (None, None) => Some(String::new()),
            (None, Some(work)) => {
                Some(relative(&canonical(options.base), work).ok_or_else(|| {
                    failed("the tree is outside its repository: name a folder as `git:REV:SUBDIR`")
                })?)
            }
        }
        .ok_or_else(|| failed("the folder is outside the repository"))?;
        let folder = walk_path(&repo, tree, &top)
            .map_err(failed)?
            .filter(|target| target.kind == EntryKind::Tree)
            .map(|target| target.path);
        drop(repo);
        let revision = Self { repository, name, tree, top, folder, work };
        // Without SUBDIR the folder may be younger than the revision; reading it will say so.
        if subdir.is_some() && revision.folder.is_none() {
            return Err(revision.no_folder());
        }
        Ok((revision, note))
    }

    fn no_folder(&self) -> SourceError {
        SourceError::NoFolder { name: self.name.clone(), folder: self.top.clone() }
    }

    /// Where an import path is: in the revision if that has such a folder, else on disk.
    fn locate(&self, written: &str, base: &Path) -> Option<Mount> {
        let folder = match &self.work {
            Some(work) => relative(&canonical(&base.join(written)), work)?,
            None if Path::new(written).is_absolute() => return None,
            None => normalize(written)?,
        };
        let repo = self.repository.to_thread_local();
        let target = walk_path(&repo, self.tree, &folder).ok()??;
        (target.kind == EntryKind::Tree).then_some(Mount::Inside(folder))
    }

    fn failed(&self, reason: impl fmt::Display) -> SourceError {
        SourceError::unusable(self.name.as_str(), reason)
    }

    /// Reads the files that a walk of the checked-out folder would judge.
    fn gather(&self, layout: &RootLayout) -> Result<Gathered, SourceError> {
        let repo = self.repository.to_thread_local();
        let mut gathered = Gathered::default();
        let mut found = Vec::new();
        let mut entries = 0;
        let top = self.folder.as_deref().ok_or_else(|| self.no_folder())?;
        for (root, folder) in layout.roots.iter().enumerate() {
            let place = join(top, folder);
            match walk_path(&repo, self.tree, &place) {
                Ok(Some(Target { id, kind: EntryKind::Tree, .. })) => {
                    // An explicit stack: the author of the tree chooses the depth.
                    let mut folders = vec![(id, String::new())];
                    while let Some((id, folder)) = folders.pop() {
                        let tree = repo.find_tree(id).map_err(|_| self.failed(MISSING_OBJECT))?;
                        for entry in tree.iter() {
                            let entry = entry.map_err(|_| self.failed(MISSING_OBJECT))?;
                            entries += 1;
                            if entries > MAX_ENTRIES {
                                return Err(
                                    self.failed("its tree has more than ten million entries")
                                );
                            }
                            let entry = Entry {
                                name: entry.filename(),
                                kind: entry.mode().kind(),
                                id: entry.object_id(),
                            };
                            self.visit(
                                &repo,
                                layout,
                                root,
                                &folder,
                                entry,
                                &mut Visit {
                                    folders: &mut folders,
                                    found: &mut found,
                                    gathered: &mut gathered,
                                },
                            );
                        }
                    }
                }
                Ok(_) => gathered.problem(folder.as_str(), NO_ROOT),
                Err(reason) => gathered.problem(folder.as_str(), reason),
            }
        }
        let read: Vec<Result<SourceFile, ReadProblem>> = found
            .into_par_iter()
            .map_init(
                || self.repository.to_thread_local(),
                |repo, (root, path, id): (usize, String, ObjectId)| {
                    let display = layout.display(root, &path);
                    match read_blob(repo, id) {
                        Ok(text) => Ok(SourceFile {
                            path: path.into(),
                            display: display.into(),
                            root: root as u32,
                            imported: false,
                            text,
                        }),
                        Err(reason) => {
                            Err(ReadProblem { path: display, reason: reason.to_owned() })
                        }
                    }
                },
            )
            .collect();
        for file in read {
            match file {
                Ok(file) => gathered.files.push(file),
                Err(problem) => gathered.problems.push(problem),
            }
        }
        Ok(gathered)
    }

    fn visit(
        &self,
        repo: &Repository,
        layout: &RootLayout,
        root: usize,
        folder: &str,
        entry: Entry,
        to: &mut Visit,
    ) {
        let lossy = entry.name.to_str_lossy();
        if is_skipped(&lossy) && (lossy != "node_modules" || entry.kind == EntryKind::Tree) {
            return;
        }
        let top = self.folder.as_deref().unwrap_or(&self.top);
        let path = join(folder, &lossy);
        let display = layout.display(root, &path);
        let is_proto = is_proto(entry.name);
        match entry.kind {
            EntryKind::Tree if layout.ends_at(&display) => {}
            EntryKind::Tree => to.folders.push((entry.id, path)),
            EntryKind::Commit => to.gathered.notes.push(format!(
                "the submodule `{}` was not entered: its files are not in this repository",
                shown(&display)
            )),
            _ if is_proto && entry.name.to_str().is_err() => {
                to.gathered.problem(display, NOT_UNICODE);
            }
            EntryKind::Blob | EntryKind::BlobExecutable if is_proto => {
                to.found.push((root, path, entry.id));
            }
            EntryKind::Blob | EntryKind::BlobExecutable => {}
            EntryKind::Link => match walk_path(repo, self.tree, &join(top, &display)) {
                Ok(Some(Target { kind: EntryKind::Tree, .. })) => {
                    if !layout.ends_at(&display) {
                        to.gathered.notes.push(format!(
                            "the linked folder `{}` was not entered: add it to `roots` to check it",
                            shown(&display)
                        ));
                    }
                }
                Ok(Some(Target {
                    id, kind: EntryKind::Blob | EntryKind::BlobExecutable, ..
                })) if is_proto => {
                    to.found.push((root, path, id));
                }
                _ if !is_proto => {}
                Ok(_) => to.gathered.problem(display, "its link leads to no file"),
                Err(reason) => to.gathered.problem(display, reason),
            },
        }
    }
}

/// The proto files that git tracks, whether or not they are on disk.
#[derive(Default)]
pub(super) struct Tracked {
    /// The top of the repository.
    work: PathBuf,
    /// Their paths from the top, sorted.
    files: Vec<BString>,
}

impl Tracked {
    /// Reads the index of the repository that encloses a folder. The result is empty if there is no
    /// repository, or only a bare one.
    pub(super) fn around(folder: &Path) -> Result<Self, String> {
        let Ok(repository) = discover(folder) else { return Ok(Self::default()) };
        let repository = repository.to_thread_local();
        let path = repository.index_path();
        let Some(work) = repository.workdir().map(canonical).filter(|_| path.exists()) else {
            return Ok(Self::default());
        };
        // Skip the checksum: it would take half of the time.
        let index = gix::index::File::at(path, repository.object_hash(), true, Default::default())
            .map_err(|error| one_line(&error))?;
        let paths = index.entries().iter().map(|entry| entry.path(&index));
        let mut files: Vec<BString> =
            paths.filter(|path| is_proto(path)).map(ToOwned::to_owned).collect();
        // A file in conflict has an entry for each side.
        files.dedup();
        Ok(Self { work, files })
    }

    /// The tracked file with this path on disk, or the tracked files below this folder.
    pub(super) fn at_or_below(&self, path: &Path) -> Vec<PathBuf> {
        let path = path.strip_prefix(&self.work).ok();
        let Some(path) = path.and_then(|path| gix::path::into_bstr(path).ok()) else {
            return Vec::new();
        };
        let folder = BString::from([path.as_bytes(), b"/"].concat());
        let from = |path: &BStr| &self.files[self.files.partition_point(|it| it < path)..];
        let file = from(&path).iter().take(1).filter(|it| **it == *path);
        let below = from(folder.as_bstr()).iter().take_while(|it| it.starts_with(&folder));
        let places = file.chain(below).filter_map(|it| gix::path::from_bstr(it.as_bstr()).ok());
        places.map(|path| self.work.join(path)).collect()
    }
}

/// The repository that encloses a folder.
fn discover(base: &Path) -> Result<ThreadSafeRepository, SourceError> {
    let discovery = || gix::discover::upwards::Options {
        // Like git, do not fail if a ceiling folder is somewhere else.
        match_ceiling_dir_or_error: false,
        ..Default::default()
    };
    ThreadSafeRepository::discover_with_environment_overrides_opts(
        base,
        discovery(),
        Default::default(),
    )
    .map_err(|error| {
        let base_name = base.display().to_string();
        if gix::discover::upwards_opts(base, discovery().apply_environment()).is_err() {
            return SourceError::NoRepository { base: base_name, reason: one_line(&error) };
        }
        let key = MetadataValue::String("extensions.objectFormat".to_owned());
        let is_format = error.metadata().any(|it| it.get("key") == Some(&key));
        let reason = if is_format && error.is_unsupported() {
            "its git repository uses the object format `sha256`, which is not supported: name a \
             folder, or an archive from `git archive`"
                .to_owned()
        } else {
            format!("its git repository cannot be opened: {}", one_line(error.probable_cause()))
        };
        SourceError::unusable(base_name, reason)
    })
}

/// An entry of a git tree.
struct Entry<'t> {
    name: &'t BStr,
    kind: EntryKind,
    id: ObjectId,
}

/// The folders that the walk has yet to enter, and what it has found.
struct Visit<'v> {
    folders: &'v mut Vec<(ObjectId, String)>,
    found: &'v mut Vec<(usize, String, ObjectId)>,
    gathered: &'v mut Gathered,
}

fn read_blob(repo: &Repository, id: ObjectId) -> Result<Text, DeadEnd> {
    let blob = repo.find_object(id).map_err(|_| MISSING_OBJECT)?;
    if blob.data.len() as u64 > MAX_FILE { Err(TOO_LARGE) } else { Ok(blob.data.as_slice().into()) }
}

/// Follows a path through links, as the kernel does in a checkout.
fn walk_path(repo: &Repository, tree: ObjectId, path: &str) -> Result<Option<Target>, DeadEnd> {
    let push = |todo: &mut Vec<String>, path: &str| {
        todo.extend(path.split('/').rev().map(str::to_owned));
    };
    let mut todo = Vec::new();
    push(&mut todo, path);
    // The folders on the way to the current place, with their names.
    let mut done: Vec<(String, ObjectId)> = Vec::new();
    let mut end = (tree, EntryKind::Tree);
    let mut links = 0;
    while let Some(name) = todo.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                if done.pop().is_none() {
                    return Err(LEAVES);
                }
                end = (done.last().map_or(tree, |(_, id)| *id), EntryKind::Tree);
                continue;
            }
            _ => {}
        }
        if end.1 != EntryKind::Tree {
            return Ok(None);
        }
        let folder = repo.find_tree(end.0).map_err(|_| MISSING_OBJECT)?;
        let mut entries = folder.iter();
        let entry = loop {
            match entries.next() {
                Some(Ok(entry)) if entry.filename() == name.as_str() => break entry,
                Some(Ok(_)) => {}
                Some(Err(_)) => return Err(MISSING_OBJECT),
                None => return Ok(None),
            }
        };
        let kind = entry.mode().kind();
        if kind == EntryKind::Link {
            links += 1;
            if links > MAX_LINKS {
                return Err(LOOPS);
            }
            let target = repo.find_object(entry.object_id()).map_err(|_| MISSING_OBJECT)?;
            let Ok(target) = target.data.to_str() else { return Ok(None) };
            if target.starts_with('/') {
                return Err(LEAVES);
            }
            push(&mut todo, target);
        } else {
            end = (entry.object_id(), kind);
            done.push((name, end.0));
        }
    }
    let path = done.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join("/");
    Ok(Some(Target { path, id: end.0, kind: end.1 }))
}

/// The first line of an error of another library.
fn one_line(error: &dyn fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
