//! A folder at a revision that moves, such as a branch, for a program that follows it.

use std::path::Path;

use abide_schema::FileText;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, ThreadSafeRepository};

use super::objects::{MissingObject, PathError, PathTarget, read_blob, walk_path};
use super::repository::{MAX_ENTRIES, discover, find_tree};
use super::revision::resolve_revision;
use crate::printable::escape_unprintable;
use crate::source::failure::{SourceError, quote_error};
use crate::source::paths::{canonicalize, join, make_relative, normalize, strip_folder};
use crate::source::spec::split_subdir;

/// Folders may nest this deep, whatever links are in them.
const MAX_DEPTH: usize = 16;

/// A folder of a repository at whatever a revision means when it is asked.
pub struct TrackedRevision {
    repository: ThreadSafeRepository,
    /// The name for messages: what the user wrote.
    name: String,
    revision: String,
    /// From the top of the repository.
    folder: String,
}

/// The files of a folder at one commit.
#[derive(Clone, Debug, Default)]
pub struct FolderFiles {
    /// Their paths below the folder, with `/`, and what is in them; in the order of the paths.
    pub files: Vec<(String, FileText)>,
    /// The files that were not read, with reasons: one phrase each.
    pub notes: Vec<String>,
}

impl TrackedRevision {
    /// Opens `REV` or `REV:FOLDER` of the repository at a path, or of the one around the current
    /// folder. Without `:FOLDER` it is the current folder there, or else the whole repository.
    ///
    /// # Errors
    /// No such repository, or a folder outside of it. The revision may still come.
    pub fn open(repository: Option<&Path>, spec: &str) -> Result<TrackedRevision, SourceError> {
        let (revision, subdir) = split_subdir(spec);
        let name = match repository {
            Some(path) => format!("git:{}#{spec}", path.display()),
            None => format!("git:{spec}"),
        };
        let failed = |reason: &str| SourceError::unusable(name.as_str(), reason);
        let (repository, current) = match repository {
            Some(path) => {
                let opened = ThreadSafeRepository::open(path);
                (opened.map_err(|error| failed(&quote_error(&error)))?, String::new())
            }
            None => {
                let base = Path::new(".");
                let repository = discover(base)?;
                let work = repository.to_thread_local().workdir().map(canonicalize);
                let current = work.and_then(|work| make_relative(&canonicalize(base), &work));
                (repository, current.unwrap_or_default())
            }
        };
        let folder = subdir.map_or(Some(current), normalize);
        let folder = folder.ok_or_else(|| failed("the folder is outside the repository"))?;
        let revision = revision.to_owned();
        Ok(TrackedRevision { repository, name, revision, folder })
    }

    /// Resolves the revision anew: the id of a commit, a tag or a tree, in hexadecimal digits.
    ///
    /// # Errors
    /// A revision that the repository does not have.
    pub fn now(&self) -> Result<String, SourceError> {
        let id = resolve_revision(&self.repository.to_thread_local(), &self.revision)?;
        Ok(id.to_string())
    }

    /// Reads the files whose names are `wanted`, at what [`TrackedRevision::now`] returned. Hidden
    /// files and folders are left out, and so are links that lead out of the folder.
    ///
    /// # Errors
    /// A folder or an object that the repository does not have.
    pub fn read(
        &self,
        at: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<FolderFiles, SourceError> {
        let repo = self.repository.to_thread_local();
        let failed = |reason: String| SourceError::unusable(self.name.as_str(), reason);
        let at = ObjectId::from_hex(at.as_bytes()).map_err(|it| failed(it.to_string()))?;
        let tree = find_tree(&repo, at).map_err(failed)?;
        let dead_end =
            |path: &str, end: PathError| failed(format!("`{}`: {end}", escape_unprintable(path)));
        let top = walk_path(&repo, tree, &self.folder).map_err(|it| dead_end(&self.folder, it))?;
        let top = top.filter(|it| it.kind == EntryKind::Tree).ok_or_else(|| {
            SourceError::NoFolder { name: self.name.clone(), folder: self.folder.clone() }
        })?;
        let mut found = FolderFiles::default();
        let mut entries = 0;
        // An explicit stack: the author of the tree chooses the depth.
        let mut folders = vec![(top.id, String::new(), 0)];
        while let Some((id, folder, depth)) = folders.pop() {
            let lost = || failed(MissingObject::tree(id).to_string());
            for entry in repo.find_tree(id).map_err(|_| lost())?.iter() {
                let entry = entry.map_err(|_| lost())?;
                entries += 1;
                if entries > MAX_ENTRIES {
                    return Err(failed("its tree has more than ten million entries".to_owned()));
                }
                let Ok(file_name) = entry.filename().to_str() else { continue };
                if file_name.starts_with('.') {
                    continue;
                }
                let path = join(&folder, file_name);
                let (id, kind) = match entry.mode().kind() {
                    EntryKind::Link => match walk_path(&repo, tree, &join(&top.path, &path)) {
                        Ok(Some(PathTarget { path: target, id, kind }))
                            if target == top.path || strip_folder(&target, &top.path).is_some() =>
                        {
                            (id, kind)
                        }
                        Err(end @ PathError::Missing(_)) => return Err(dead_end(&path, end)),
                        Ok(None) => continue,
                        Ok(Some(_)) | Err(_) => {
                            found.notes.push(format!(
                                "`{}` is a link out of the folder and was not read",
                                escape_unprintable(&path)
                            ));
                            continue;
                        }
                    },
                    kind => (entry.object_id(), kind),
                };
                match kind {
                    EntryKind::Tree if depth < MAX_DEPTH => folders.push((id, path, depth + 1)),
                    EntryKind::Blob | EntryKind::BlobExecutable if wanted(file_name) => {
                        let text = read_blob(&repo, id).map_err(|it| dead_end(&path, it))?;
                        found.files.push((path, text));
                    }
                    EntryKind::Commit => found.notes.push(format!(
                        "the submodule `{}` was not entered",
                        escape_unprintable(&path)
                    )),
                    _ => {}
                }
            }
        }
        found.files.sort_by(|a, b| a.0.cmp(&b.0));
        found.notes.sort();
        Ok(found)
    }
}
