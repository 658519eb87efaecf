//! Objects of a repository: blobs, what a path leads to, and objects that are missing.

use std::fmt;

use abide_schema::FileText;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository};

use crate::source::disk::MAX_FILE;
use crate::source::failure::TOO_LARGE;

/// The number of links that a path may lead through, as in most kernels; more are taken for a loop.
const MAX_LINKS: u32 = 40;

/// An object at the end of a path.
pub(super) struct PathTarget {
    /// The path with links resolved.
    pub(super) path: String,
    pub(super) id: ObjectId,
    pub(super) kind: EntryKind,
}

/// The reason for a path in a revision that leads to nothing that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathError {
    Leaves,
    Loops,
    TooLarge,
    Missing(MissingObject),
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Leaves => f.write_str("it links to a place outside the repository"),
            PathError::Loops => f.write_str("it links to itself"),
            PathError::TooLarge => f.write_str(TOO_LARGE),
            PathError::Missing(missing) => missing.fmt(f),
        }
    }
}

/// An object that the repository names but cannot give: it was deleted or damaged, or a partial
/// clone left it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MissingObject {
    kind: &'static str,
    id: ObjectId,
    repair: &'static str,
}

impl MissingObject {
    pub(super) fn blob(id: ObjectId) -> MissingObject {
        MissingObject { kind: "blob", id, repair: REPAIR }
    }

    pub(super) fn tree(id: ObjectId) -> MissingObject {
        MissingObject { kind: "tree", id, repair: REPAIR }
    }

    pub(super) fn commit(id: ObjectId) -> MissingObject {
        MissingObject { kind: "commit", id, repair: REPAIR }
    }

    /// The commit that a revision records of a submodule.
    pub(super) fn submodule(id: ObjectId) -> MissingObject {
        MissingObject { kind: "submodule's commit", id, repair: UPDATE }
    }
}

impl fmt::Display for MissingObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingObject { kind, id, repair } = self;
        let state = if *repair == UPDATE { "is not here" } else { "is missing or damaged" };
        write!(f, "the {kind} `{id}` {state}: {repair}")
    }
}

/// The way to get missing objects back.
pub(super) const REPAIR: &str =
    "run `git fsck`, or in a partial clone `git fetch --refetch --no-filter`";

/// The way to get the commits of submodules.
const UPDATE: &str = "run `git submodule update --init --recursive`, or in the submodule `git fetch \
                      --unshallow`";

/// The submodule that a path of a tree leads into, and the commit that is recorded of it.
pub(super) fn find_recorded<'p>(
    repo: &Repository,
    tree: ObjectId,
    path: &'p str,
) -> Option<(&'p str, ObjectId)> {
    let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.find_map(|end| {
        let (path, _) = path.split_at(end);
        let target = walk_path(repo, tree, path).ok()??;
        (target.kind == EntryKind::Commit).then_some((path, target.id))
    })
}

pub(super) fn read_blob(repo: &Repository, id: ObjectId) -> Result<FileText, PathError> {
    let blob = repo.find_object(id).map_err(|_| PathError::Missing(MissingObject::blob(id)))?;
    if blob.data.len() as u64 > MAX_FILE {
        return Err(PathError::TooLarge);
    }
    Ok(blob.data.as_slice().into())
}

/// Follows a path through links, as the kernel does in a checkout.
pub(super) fn walk_path(
    repo: &Repository,
    tree: ObjectId,
    path: &str,
) -> Result<Option<PathTarget>, PathError> {
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
                    return Err(PathError::Leaves);
                }
                end = (done.last().map_or(tree, |(_, id)| *id), EntryKind::Tree);
                continue;
            }
            _ => {}
        }
        if end.1 != EntryKind::Tree {
            return Ok(None);
        }
        let missing = PathError::Missing(MissingObject::tree(end.0));
        let folder = repo.find_tree(end.0).map_err(|_| missing)?;
        let mut entries = folder.iter();
        let entry = loop {
            match entries.next() {
                Some(Ok(entry)) if entry.filename() == name.as_str() => break entry,
                Some(Ok(_)) => {}
                Some(Err(_)) => return Err(missing),
                None => return Ok(None),
            }
        };
        let (kind, id) = (entry.mode().kind(), entry.object_id());
        if kind == EntryKind::Link {
            links += 1;
            if links > MAX_LINKS {
                return Err(PathError::Loops);
            }
            let target =
                repo.find_object(id).map_err(|_| PathError::Missing(MissingObject::blob(id)))?;
            let Ok(target) = target.data.to_str() else { return Ok(None) };
            if target.starts_with('/') {
                return Err(PathError::Leaves);
            }
            push(&mut todo, target);
        } else {
            end = (id, kind);
            done.push((name, end.0));
        }
    }
    let path = done.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join("/");
    Ok(Some(PathTarget { path, id: end.0, kind: end.1 }))
}

/// The file at the end of a path: `None` if there is none in the revision.
pub(super) fn find_file(
    repo: &Repository,
    tree: ObjectId,
    path: &str,
) -> Result<Option<ObjectId>, MissingObject> {
    Ok(find(repo, tree, path)?
        .filter(|it| matches!(it.kind, EntryKind::Blob | EntryKind::BlobExecutable))
        .map(|it| it.id))
}

/// The folder at the end of a path: `None` if there is none in the revision.
pub(super) fn find_folder(
    repo: &Repository,
    tree: ObjectId,
    path: &str,
) -> Result<Option<ObjectId>, MissingObject> {
    Ok(find(repo, tree, path)?.filter(|it| it.kind == EntryKind::Tree).map(|it| it.id))
}

/// Follows a path in the revision itself to its target.
fn find(
    repo: &Repository,
    tree: ObjectId,
    path: &str,
) -> Result<Option<PathTarget>, MissingObject> {
    match walk_path(repo, tree, path) {
        Err(PathError::Missing(missing)) => Err(missing),
        found => Ok(found.ok().flatten()),
    }
}
