//! What git's index knows of the files on disk: which of them are tracked, and which are still what
//! git has on record.

use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Mode, Stage, Stat, stat};
use gix::index::fs::Metadata;
use gix::{ObjectId, Repository};
use rayon::prelude::*;

use super::{discover, one_line};
use crate::source::paths::{canonical, is_proto, join, relative};

/// A repository with files on disk, and an index of them.
struct Checkout {
    repository: Repository,
    /// The top of the repository.
    work: PathBuf,
}

impl Checkout {
    /// The checkout that encloses a folder; `None` if there is no repository, or only a bare one.
    fn around(folder: &Path) -> Option<Checkout> {
        let repository = discover(folder).ok()?.to_thread_local();
        let work = repository.workdir().map(canonical)?;
        repository.index_path().exists().then_some(Checkout { repository, work })
    }

    fn index(&self) -> Result<gix::index::File, String> {
        let (path, hash) = (self.repository.index_path(), self.repository.object_hash());
        // Skip the checksum: it would take half of the time.
        gix::index::File::at(path, hash, true, Default::default()).map_err(|error| one_line(&error))
    }

    /// Whether a program may turn texts into others of the same size between git and the disk.
    /// Everything else that git may do (line ends, `$Id$`, encodings) changes the size of a text
    /// that it changes, and so does the program of Git LFS.
    fn has_filters(&self) -> bool {
        let config = self.repository.config_snapshot();
        let mut filters = config.plumbing().sections_by_name("filter").into_iter().flatten();
        filters.any(|it| it.header().subsection_name().is_none_or(|name| name != "lfs"))
    }
}

/// The blobs that files on disk were checked out from, as far as git's index can tell without a
/// look into the files: `None` for every file that may have changed since. The paths are relative
/// to a folder.
///
/// As in git, a file is unchanged if its size, times and inode are those in the index, unless it
/// changed so shortly before the index was written that its times say nothing.
pub(in crate::source) fn unchanged_blobs(folder: &Path, paths: &[&str]) -> Vec<Option<ObjectId>> {
    let unknown = || vec![None; paths.len()];
    let Some(checkout) = Checkout::around(folder).filter(|it| !it.has_filters()) else {
        return unknown();
    };
    let Some(top) = relative(folder, &checkout.work) else { return unknown() };
    let Ok(index) = checkout.index() else { return unknown() };
    let options = stat::Options { use_nsec: true, ..stat::Options::default() };
    let blob = |path: &&str| {
        let path = join(&top, path);
        let entry =
            index.entry_by_path_and_stage(path.as_bytes().as_bstr(), Stage::Unconflicted)?;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.stat.is_racy(index.timestamp(), options) {
            return None;
        }
        let found = Metadata::from_path_no_follow(&checkout.work.join(&path)).ok()?;
        let stat = Stat::from_fs(&found).ok().filter(|_| found.is_file())?;
        entry.stat.matches(&stat, options).then_some(entry.id)
    };
    paths.par_iter().map(blob).collect()
}

/// The proto files that git tracks, whether or not they are on disk.
#[derive(Default)]
pub(in crate::source) struct Tracked {
    /// The top of the repository.
    work: PathBuf,
    /// Their paths from the top, sorted.
    files: Vec<BString>,
}

impl Tracked {
    /// Reads the index of the repository that encloses a folder. The result is empty if there is no
    /// repository, or only a bare one.
    pub(in crate::source) fn around(folder: &Path) -> Result<Self, String> {
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
    pub(in crate::source) fn at_or_below(&self, path: &Path) -> Vec<PathBuf> {
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
