//! Reads git's index about the files on disk: which of them are tracked, and which are still what
//! git has on record.

use std::fs;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage, Stat, stat};
use gix::index::fs::Metadata;
use gix::{ObjectId, Repository};

use super::repository::discover;
use crate::source::failure::quote_error;
use crate::source::paths::{canonicalize, is_proto, join, make_relative};

/// A repository with files on disk, and an index of them.
pub(super) struct Checkout {
    pub(super) repository: Repository,
    /// The top of the repository.
    pub(super) work: PathBuf,
}

impl Checkout {
    /// The checkout that encloses a folder; `None` if there is no repository, or only a bare one.
    pub(super) fn around(folder: &Path) -> Option<Checkout> {
        let repository = discover(folder).ok()?.to_thread_local();
        let work = repository.workdir().map(canonicalize)?;
        repository.index_path().exists().then_some(Checkout { repository, work })
    }

    /// Returns true if the last commit has a folder with this path, which is absolute.
    fn commits(&self, folder: &Path) -> bool {
        let path = make_relative(folder, &self.work).filter(|it| !it.is_empty());
        let head = self.repository.head_tree().ok();
        let found = head.zip(path).and_then(|(tree, path)| tree.lookup_entry_by_path(path).ok()?);
        found.is_some_and(|entry| entry.mode().is_tree())
    }

    pub(super) fn index(&self) -> Result<gix::index::File, String> {
        let (path, hash) = (self.repository.index_path(), self.repository.object_hash());
        // Skip the checksum: it would take half of the time.
        gix::index::File::at(path, hash, true, Default::default())
            .map_err(|error| quote_error(&error))
    }

    /// Returns true if a program may turn texts into others of the same size between git and the
    /// disk. Everything else that git may do (line ends, `$Id$`, encodings) changes the size of a
    /// text that it changes, and so does the program of Git LFS.
    fn has_filters(&self) -> bool {
        let config = self.repository.config_snapshot();
        let mut filters = config.plumbing().sections_by_name("filter").into_iter().flatten();
        filters.any(|it| it.header().subsection_name().is_none_or(|name| name != "lfs"))
    }
}

/// The records of git's index about the files below a folder.
///
/// As in git, a file is unchanged if its size, times and inode are those in the index, unless it
/// changed so shortly before the index was written that its times say nothing.
pub(crate) struct OnRecord {
    index: gix::index::File,
    /// The top of the checkout.
    work: PathBuf,
    /// The folder, from the top.
    folder: String,
    /// The folder of git that all worktrees share.
    shared: PathBuf,
}

impl OnRecord {
    /// `None` where the index says nothing about texts: there is none, or a program may turn texts
    /// into others on their way to the disk.
    pub(crate) fn below(folder: &Path) -> Option<OnRecord> {
        let checkout = Checkout::around(folder).filter(|it| !it.has_filters())?;
        let folder = make_relative(folder, &checkout.work)?;
        let shared = checkout.repository.common_dir().to_owned();
        Some(OnRecord { index: checkout.index().ok()?, work: checkout.work, folder, shared })
    }

    /// The folder of git that all worktrees share.
    pub(crate) fn shared_folder(&self) -> &Path {
        &self.shared
    }

    /// What a file on disk was checked out from, as far as can be told without a look into it:
    /// `None` for every file that may have changed since. The path is relative to the folder.
    pub(crate) fn find_unchanged(&self, path: &str, found: Option<Stat>) -> Option<RecordedText> {
        let options = stat::Options { use_nsec: true, ..stat::Options::default() };
        let path = join(&self.folder, path);
        let entry =
            self.index.entry_by_path_and_stage(path.as_bytes().as_bstr(), Stage::Unconflicted)?;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.stat.is_racy(self.index.timestamp(), options) {
            return None;
        }
        let look = || {
            let found = Metadata::from_path_no_follow(&self.work.join(&path)).ok()?;
            Stat::from_fs(&found).ok().filter(|_| found.is_file())
        };
        let is_same = entry.stat.matches(&found.or_else(look)?, options);
        is_same.then_some(RecordedText { blob: entry.id, size: entry.stat.size })
    }
}

/// What git's index has on record of a text on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedText {
    /// The blob that it was checked out from.
    pub(crate) blob: ObjectId,
    /// Its size on disk.
    pub(crate) size: u32,
}

/// The facts that git's index would record of a regular file; `None` where the standard library
/// does not say all of it.
#[cfg(unix)]
pub(crate) fn read_stat(found: &fs::Metadata) -> Option<Stat> {
    use std::os::unix::fs::MetadataExt;
    // Git keeps the low bits of each, too.
    let time = |seconds: i64, nanoseconds: i64| stat::Time {
        secs: seconds as u32,
        nsecs: nanoseconds as u32,
    };
    found.is_file().then(|| Stat {
        mtime: time(found.mtime(), found.mtime_nsec()),
        ctime: time(found.ctime(), found.ctime_nsec()),
        dev: found.dev() as u32,
        ino: found.ino() as u32,
        uid: found.uid(),
        gid: found.gid(),
        size: found.size() as u32,
    })
}

#[cfg(not(unix))]
pub(crate) fn read_stat(_found: &fs::Metadata) -> Option<Stat> {
    None
}

/// The words of `.gitattributes` by which git gives a file other bytes on disk than it stores. Line
/// ends are not among them: texts are compared without.
const REWRITES: [&str; 3] = ["filter=", "ident", "working-tree-encoding="];

/// Returns true if git may give some of these files other bytes on disk than it stores, as far as
/// the attributes beside and above them say. The paths are relative to a folder.
pub(crate) fn may_be_rewritten(folder: &Path, paths: &[&str]) -> bool {
    let Some(checkout) = Checkout::around(folder) else { return false };
    let above = |path: &&str| {
        let path = folder.join(path);
        let folders = path.ancestors().skip(1).take_while(|it| it.starts_with(&checkout.work));
        folders.map(|it| it.join(".gitattributes")).collect::<Vec<_>>()
    };
    let mut files: Vec<PathBuf> = paths.iter().flat_map(above).collect();
    files.push(checkout.repository.common_dir().join("info/attributes"));
    files.sort_unstable();
    files.dedup();
    let rewrites = |line: &str| {
        let words = line.split_whitespace().skip(1);
        !line.starts_with('#') && words.into_iter().any(is_rewriting)
    };
    let is_regular = |it: &&PathBuf| it.is_file();
    files
        .iter()
        .filter(is_regular)
        .filter_map(|it| fs::read_to_string(it).ok())
        .any(|text| text.lines().any(rewrites))
}

fn is_rewriting(word: &str) -> bool {
    REWRITES.iter().any(|it| if it.ends_with('=') { word.starts_with(it) } else { word == *it })
}

/// The proto files that git tracks, whether or not they are on disk.
#[derive(Default)]
pub(crate) struct TrackedPaths {
    /// The top of the repository.
    work: PathBuf,
    /// Their paths from the top, sorted.
    files: Vec<BString>,
}

impl TrackedPaths {
    /// Reads the index of the repository that encloses a folder. The result is empty if there is no
    /// repository, or only a bare one.
    pub(crate) fn around(folder: &Path) -> Result<Self, String> {
        let Some(checkout) = Checkout::around(folder) else { return Ok(Self::default()) };
        let index = checkout.index()?;
        let paths = index.entries().iter().map(|entry| entry.path(&index));
        let mut files: Vec<BString> =
            paths.filter(|path| is_proto(path)).map(ToOwned::to_owned).collect();
        // A file in conflict has an entry for each side.
        files.dedup();
        Ok(Self { work: checkout.work, files })
    }

    /// The tracked file with this path on disk, or the tracked files below this folder.
    pub(crate) fn at_or_below(&self, path: &Path) -> Vec<PathBuf> {
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

/// Trees of which git's index has every file: those that were checked out or committed, and in
/// which nothing was staged since. Their objects need not be read.
pub(super) struct StagedTrees(gix::index::File);

impl StagedTrees {
    /// Those of a repository; `None` if it has no index that can be read.
    pub(super) fn of(repository: &Repository) -> Option<StagedTrees> {
        repository.workdir()?;
        let (path, hash) = (repository.index_path(), repository.object_hash());
        let index = gix::index::File::at(path, hash, true, Default::default()).ok()?;
        index.tree().is_some().then_some(StagedTrees(index))
    }

    /// The files of a tree that is in a folder, by their paths from there; `None` if the index does
    /// not have this tree, or not only files in it.
    pub(super) fn files(&self, folder: &str, tree: ObjectId) -> Option<Vec<(&str, ObjectId)>> {
        let StagedTrees(index) = self;
        let mut node = index.tree()?;
        for part in folder.split('/').filter(|it| !it.is_empty()) {
            node = node.children.iter().find(|it| *it.name == *part.as_bytes())?;
        }
        let count = node.num_entries.filter(|_| node.id == tree)? as usize;
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below =
            |entry: &gix::index::Entry| entry.path(index)[..].strip_prefix(prefix.as_bytes());
        let start = index.entries().partition_point(|it| it.path(index)[..] < *prefix.as_bytes());
        let found = index.entries().get(start..start.checked_add(count)?)?;
        let rest = index.entries().get(start + count);
        if rest.is_some_and(|it| below(it).is_some()) {
            return None;
        }
        let file = |entry: &gix::index::Entry| {
            let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE)
                && entry.stage() == Stage::Unconflicted
                && !entry.flags.contains(Flags::INTENT_TO_ADD);
            let place = std::str::from_utf8(below(entry)?).ok()?;
            is_file.then_some((place, entry.id))
        };
        found.iter().map(file).collect()
    }
}

/// Returns true if the last commit of the repository around a folder has this folder below it: then
/// it is removed, or a sparse checkout leaves it out.
pub fn is_committed(folder: &Path, below: &str) -> bool {
    let checkout = Checkout::around(folder);
    checkout.is_some_and(|it| it.commits(&canonicalize(folder).join(below)))
}
