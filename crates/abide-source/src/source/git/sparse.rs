//! Files that a sparse checkout leaves out of the files on disk.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use abide_schema::FileText;
use gix::bstr::ByteSlice;
use gix::index::entry::{Flags, Mode};
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository, ThreadSafeRepository};
use rayon::prelude::*;

use super::index::Checkout;
use super::objects::read_blob;
use super::repository::MAX_ENTRIES;
use crate::source::ignored::find_private_folder;
use crate::source::paths::{join, make_relative};

/// The files that git tracks and a sparse checkout leaves out. For git, they are unchanged.
pub(crate) struct LeftOut {
    repository: ThreadSafeRepository,
    /// The top of the checkout.
    work: PathBuf,
    /// By their paths from the top.
    blobs: BTreeMap<String, ObjectId>,
}

impl LeftOut {
    /// Of the checkout that encloses a folder; `None` if it is not sparse.
    pub(crate) fn around(folder: &Path) -> Option<LeftOut> {
        // A look at one file spares most runs the index.
        let git = folder.ancestors().map(|it| it.join(".git")).find(|it| it.exists())?;
        if !find_private_folder(&git)?.join("info/sparse-checkout").is_file() {
            return None;
        }
        let checkout = Checkout::around(folder)?;
        let index = checkout.index().ok()?;
        let Checkout { repository, work } = checkout;
        let mut blobs = BTreeMap::new();
        for entry in index.entries().iter().filter(|it| it.flags.contains(Flags::SKIP_WORKTREE)) {
            let path = entry.path(&index).to_str_lossy();
            match entry.mode {
                Mode::FILE | Mode::FILE_EXECUTABLE => {
                    blobs.insert(path.into_owned(), entry.id);
                }
                // A sparse index has one entry for all that is below a folder.
                Mode::DIR => {
                    add_folder(&repository, path.trim_end_matches('/'), entry.id, &mut blobs)
                }
                _ => {}
            }
        }
        let repository = repository.into_sync();
        (!blobs.is_empty()).then_some(LeftOut { repository, work, blobs })
    }

    /// The files below a folder, by their paths from there.
    pub(crate) fn below(&self, folder: &Path) -> impl Iterator<Item = (&str, ObjectId)> {
        let top = make_relative(folder, &self.work).map(|it| match it.is_empty() {
            true => it,
            false => it + "/",
        });
        top.into_iter().flat_map(|top| {
            let below =
                self.blobs.range::<str, _>((Bound::Included(top.as_str()), Bound::Unbounded));
            below.map_while(move |(path, blob)| Some((path.strip_prefix(top.as_str())?, *blob)))
        })
    }

    /// The file at a path on disk.
    pub(crate) fn at(&self, path: &Path) -> Option<ObjectId> {
        self.has(&make_relative(path, &self.work)?)
    }

    /// The file with this path from the top.
    pub(super) fn has(&self, path: &str) -> Option<ObjectId> {
        self.blobs.get(path).copied()
    }

    /// The texts of blobs, in their order; `None` for one that a partial clone does not have.
    pub(crate) fn read(&self, blobs: &[ObjectId]) -> Vec<Option<FileText>> {
        let repository = || self.repository.to_thread_local();
        let read = |repo: &mut Repository, blob: &ObjectId| read_blob(repo, *blob).ok();
        blobs.par_iter().map_init(repository, read).collect()
    }
}

/// Notes that a partial clone does not have some of the files that it leaves out on disk.
pub(crate) fn not_fetched(count: usize) -> Option<String> {
    let (files, are) = match count {
        0 => return None,
        1 => ("1 file".to_owned(), "is"),
        count => (format!("{count} files"), "are"),
    };
    Some(format!(
        "{files} outside of the sparse checkout {are} not in this partial clone and not checked: \
         `git sparse-checkout add` fetches a folder"
    ))
}

/// Adds the files below a folder of the repository, as far as its trees are at hand.
fn add_folder(
    repo: &Repository,
    folder: &str,
    tree: ObjectId,
    blobs: &mut BTreeMap<String, ObjectId>,
) {
    let mut entries = 0;
    let mut open = vec![(folder.to_owned(), tree)];
    while let Some((folder, tree)) = open.pop() {
        let Ok(tree) = repo.find_tree(tree) else { continue };
        for entry in tree.iter().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return;
            }
            let path = join(&folder, &entry.filename().to_str_lossy());
            match entry.mode().kind() {
                EntryKind::Tree => open.push((path, entry.object_id())),
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    blobs.insert(path, entry.object_id());
                }
                EntryKind::Link | EntryKind::Commit => {}
            }
        }
    }
}
