//! The submodules of a repository: where their objects are, and what a path through them leads to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use abide_schema::FileText;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository, ThreadSafeRepository};

use super::objects::{MissingObject, PathError, PathTarget, find_recorded, read_blob, walk_path};
use super::repository::find_tree;
use crate::source::paths::{join, strip_folder};

/// Finds a repository with a commit of the submodule at a path, and the tree of that commit: in the
/// checkout of the submodule, or among those that git keeps. These outlive the checkout and another
/// path, and linked worktrees share them.
pub(super) fn open_repository(
    parent: &Repository,
    path: &str,
    commit: ObjectId,
) -> Option<(ThreadSafeRepository, ObjectId)> {
    let modules = parent.common_dir().join("modules");
    let near = parent.workdir().map(|it| it.join(path)).into_iter().chain([modules.join(path)]);
    let far = std::iter::once_with(|| list_kept(&modules)).flatten();
    let mut all = near.chain(far);
    all.find_map(|folder| {
        let repository = ThreadSafeRepository::open(folder).ok()?;
        let tree = find_tree(&repository.to_thread_local(), commit).ok()?;
        Some((repository, tree))
    })
}

/// The repositories in a folder, whose names may have slashes.
fn list_kept(modules: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![modules.to_owned()]);
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        let folders = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
        for path in folders.map(|it| it.path()) {
            match path.join("HEAD").is_file() {
                true => found.push(path),
                false => open.push(path),
            }
        }
    }
    found.sort_unstable();
    found
}

/// The repositories of submodules, opened when a path first leads into one.
///
/// An object is known by its id alone, so whoever has one may give it.
#[derive(Default)]
pub(super) struct Submodules {
    /// By path.
    opened: BTreeMap<String, Vec<Repository>>,
}

impl Submodules {
    /// The tree of a commit of the submodule at a path from the top of the own repository.
    pub(super) fn enter(
        &mut self,
        own: &Repository,
        place: &str,
        commit: ObjectId,
    ) -> Result<ObjectId, MissingObject> {
        let opened = self.opened.values().flatten();
        if let Some(tree) = opened.clone().find_map(|repo| find_tree(repo, commit).ok()) {
            return Ok(tree);
        }
        // A submodule of a submodule is among those of the outer one.
        let around = self.opened.iter().flat_map(|(at, all)| all.iter().map(move |it| (&**at, it)));
        let parents = around.filter_map(|(at, repo)| Some((repo, strip_folder(place, at)?)));
        let (found, tree) = [(own, place)]
            .into_iter()
            .chain(parents)
            .find_map(|(repo, path)| open_repository(repo, path, commit))
            .ok_or(MissingObject::submodule(commit))?;
        self.opened.entry(place.to_owned()).or_default().push(found.to_thread_local());
        Ok(tree)
    }

    /// The repositories that were opened.
    pub(super) fn repositories(&self) -> Vec<ThreadSafeRepository> {
        self.opened.values().flatten().map(|it| it.clone().into_sync()).collect()
    }

    /// Follows a path in a commit to its target, by way of the commits of submodules that it
    /// records.
    pub(super) fn find(
        &mut self,
        own: &Repository,
        tree: ObjectId,
        path: &str,
    ) -> Result<Option<PathTarget>, PathError> {
        let (mut place, mut tree, mut rest) = (String::new(), tree, path.to_owned());
        // The submodule that the rest is in: its place, and which of its repositories.
        let mut inside: Option<(String, usize)> = None;
        loop {
            let repo = match &inside {
                Some((place, at)) => &self.opened[place][*at],
                None => own,
            };
            let found = walk_path(repo, tree, &rest)?;
            if found.as_ref().is_some_and(|it| it.kind != EntryKind::Commit) {
                return Ok(found);
            }
            let Some((link, commit)) = find_recorded(repo, tree, &rest) else { return Ok(None) };
            place = join(&place, link);
            let known = self.opened.get(&place).into_iter().flatten();
            let mut known = known.map(|repo| find_tree(repo, commit)).enumerate();
            let known = known.find_map(|(at, tree)| Some((at, tree.ok()?)));
            let (at, inner) = match known {
                Some(known) => known,
                None => {
                    let (found, tree) = open_repository(repo, link, commit)
                        .ok_or(PathError::Missing(MissingObject::submodule(commit)))?;
                    let opened = self.opened.entry(place.clone()).or_default();
                    opened.push(found.to_thread_local());
                    (opened.len() - 1, tree)
                }
            };
            (tree, inside) = (inner, Some((place.clone(), at)));
            rest = strip_folder(&rest, link).unwrap_or_default().to_owned();
        }
    }

    /// The file at the end of a path: `None` if there is none.
    pub(super) fn find_file(
        &mut self,
        own: &Repository,
        tree: ObjectId,
        path: &str,
    ) -> Result<Option<ObjectId>, MissingObject> {
        let is_file =
            |it: &PathTarget| matches!(it.kind, EntryKind::Blob | EntryKind::BlobExecutable);
        Ok(self.there(own, tree, path)?.filter(is_file).map(|it| it.id))
    }

    /// The folder at the end of a path: `None` if there is none.
    pub(super) fn find_folder(
        &mut self,
        own: &Repository,
        tree: ObjectId,
        path: &str,
    ) -> Result<Option<ObjectId>, MissingObject> {
        let found = self.there(own, tree, path)?;
        Ok(found.filter(|it| it.kind == EntryKind::Tree).map(|it| it.id))
    }

    fn there(
        &mut self,
        own: &Repository,
        tree: ObjectId,
        path: &str,
    ) -> Result<Option<PathTarget>, MissingObject> {
        match self.find(own, tree, path) {
            Err(PathError::Missing(missing)) => Err(missing),
            found => Ok(found.ok().flatten()),
        }
    }

    /// The tree with this id, in whichever repository has it.
    pub(super) fn tree<'r>(
        &'r self,
        own: &'r Repository,
        id: ObjectId,
    ) -> Result<gix::Tree<'r>, MissingObject> {
        let mut all = self.all(own);
        all.find_map(|repo| repo.find_tree(id).ok()).ok_or_else(|| MissingObject::tree(id))
    }

    /// The text of a blob that the own repository does not have.
    pub(super) fn text(&self, id: ObjectId, reason: PathError) -> Result<FileText, PathError> {
        let mut all = self.opened.values().flatten();
        all.find_map(|repo| read_blob(repo, id).ok()).ok_or(reason)
    }

    fn all<'r>(&'r self, own: &'r Repository) -> impl Iterator<Item = &'r Repository> {
        std::iter::once(own).chain(self.opened.values().flatten())
    }
}
