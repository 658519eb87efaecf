//! Trees at a revision, read from the object store of the enclosing repository.

use std::cell::LazyCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use abide_lint::Config;
use abide_schema::{FileText, SourceFile};
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;
use gix::{ObjectId, Repository, ThreadSafeRepository};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::{CONFIG, Gathered};
use super::disk::{MAX_SETTINGS, over_limit};
use super::failure::{NOT_UNICODE, SourceError};
use super::imports::{ImportPath, ImportPlace, place_imports};
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::links::{LinkedFolder, MAX_SEARCHED, SampleFile};
use super::listing::{FileListing, ListedFile};
use super::paths::{
    canonicalize, is_proto, is_skipped, join, make_relative, normalize, normalize_lexically,
    relate_to, strip_folder,
};
use super::roots::RootLayout;
use super::spec::{SourceOptions, split_subdir};
use super::text_cache::TextCache;
use crate::printable::escape_unprintable;
use index::StagedTrees;
use objects::{
    MissingObject, PathError, PathTarget, find_file, find_folder, find_recorded, read_blob,
    walk_path,
};
use repository::{MAX_ENTRIES, discover, find_tree};
use revision::{merge_base, resolve_revision};
use sparse::LeftOut;
use submodules::{Submodules, open_repository};

pub(super) mod default_branch;
pub(super) mod forge;
pub(super) mod index;
mod objects;
pub(super) mod old_trees;
mod repository;
mod revision;
pub(super) mod sparse;
mod submodules;
pub(super) mod timeline;
pub(super) mod tracked_revision;
mod version_tags;

pub(super) const KIND: SourceKind = SourceKind {
    help: "\
git:REV[:SUBDIR]     the tree at a revision, read without a checkout
git:REV...[:SUBDIR]  the tree at the merge base of REV and HEAD
git:newest(v*)       the tree at the matching tag with the highest version
git:every(v1.*)      the trees at all matching tags, for `--against`",
    brief: "`git:REV`",
    is_spelled: |spec| spec.starts_with(PREFIX),
    is_found: |_, _| false,
    is_packed: false,
    open,
};

/// The source that was meant where a revision was named without `git:`, or in the words of buf, as
/// in `.git#branch=main,subdir=proto`. `None` if there is no such revision.
pub(super) fn guess_meant(name: &str, options: &SourceOptions<'_>) -> Option<String> {
    let (revision, subdir) = match name.split_once(".git#") {
        None => (name, None),
        Some((_, words)) => {
            let value = |key: &str| {
                words.split(',').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
            };
            let revision = ["commit", "tag", "ref", "branch"].into_iter().find_map(value);
            (revision.unwrap_or("HEAD"), value("subdir"))
        }
    };
    let spec = match subdir {
        Some(subdir) => format!("{revision}:{subdir}"),
        None => revision.to_owned(),
    };
    Revision::open(&spec, options).ok().map(|_| format!("{PREFIX}{spec}"))
}

/// The prefix of a revision.
const PREFIX: &str = "git:";

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let options = asked.options;
    let spec = asked.name.strip_prefix(PREFIX).unwrap_or(asked.name);
    let (mut revision, note) = Revision::open(spec, options)?;
    if let Some(former) = revision.find_former_layout(&layout) {
        layout = former;
    }
    revision.find_submodules(&layout)?;
    let mut notes: Vec<String> = note.into_iter().collect();
    revision.refuse_links_out(options)?;
    let inside = |written: &str| revision.locate(written, options.base);
    let mut imports = place_imports(options, inside, Some(&revision.top), &mut layout, &mut notes);
    imports.splice(0..0, revision.find_former_imports(options, &layout));
    Ok(OpenedSource { source: Box::new(revision), layout, imports, notes })
}

impl OpenSource for Revision {
    fn read(&self, layout: &RootLayout, _name: &str) -> Result<SourceData, SourceError> {
        self.gather(layout, &TextCache::default()).map(SourceData::Files)
    }

    fn read_old(
        &self,
        layout: &RootLayout,
        _name: &str,
        known: &TextCache,
    ) -> Result<SourceData, SourceError> {
        self.gather(layout, known).map(SourceData::Files)
    }

    fn blobs(&self, layout: &RootLayout, paths: &[&str]) -> Vec<Option<ObjectId>> {
        let listed = self.walk(layout).map(|it| it.found).unwrap_or_default();
        let listed = listed.into_iter().map(|it| (layout.display(it.root, &it.path), it.id));
        let listed: FxHashMap<String, ObjectId> = listed.collect();
        paths.iter().map(|path| listed.get(*path).copied()).collect()
    }

    fn list(&self, layout: &RootLayout) -> Result<Option<FileListing>, SourceError> {
        let WalkedFiles { found, gathered } = self.walk(layout)?;
        let listed = |FoundFile { root, path, id }| ListedFile {
            root: root as u32,
            path,
            blob: Some(id),
            size: None,
        };
        Ok(Some(FileListing::of(found.into_iter().map(listed).collect(), gathered)))
    }

    fn read_listed(&self, layout: &RootLayout, files: &[&ListedFile]) -> Gathered {
        let found = files.iter().filter_map(|it| {
            Some(FoundFile { root: it.root as usize, path: it.path.clone(), id: it.blob? })
        });
        let walked = WalkedFiles { found: found.collect(), gathered: Gathered::default() };
        self.read_blobs(layout, walked, &TextCache::default())
    }

    fn find_earlier(
        &self,
        layout: &RootLayout,
        root: u32,
        path: &str,
        wanted: &mut dyn FnMut(FileText) -> bool,
    ) -> Option<String> {
        let root = root as usize;
        let (revision, top) = match self.submodules.get(&root) {
            Some((submodule, folder)) => (submodule, folder.clone()),
            None => (self, join(self.folder.as_deref()?, layout.roots.get(root)?)),
        };
        let repo = revision.repository.to_thread_local();
        let path = join(&top, path);
        let newest_first = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
        let commits = repo.rev_walk([revision.commit?]).sorting(newest_first).all().ok()?;
        let mut seen = FxHashSet::default();
        // What is missing or damaged ends the walk: nobody knows what came before it.
        for commit in commits {
            let commit = commit.ok()?.id;
            let tree = find_tree(&repo, commit).ok()?;
            let Ok(Some(blob)) = find_file(&repo, tree, &path) else { continue };
            if seen.insert(blob) && read_blob(&repo, blob).is_ok_and(&mut *wanted) {
                return Some(commit.to_hex_with_len(10).to_string());
            }
        }
        None
    }

    fn contains_path(&self, path: &Path) -> bool {
        self.path_in_work(path).is_some()
    }

    fn read_at_revision(&self, path: &Path) -> Result<Option<FileText>, SourceError> {
        self.path_in_work(path).map_or(Ok(None), |path| self.find(&path))
    }

    fn git_folder(&self) -> Option<PathBuf> {
        Some(self.repository.to_thread_local().common_dir().to_owned())
    }

    fn read_commit_time(&self) -> Option<i64> {
        let repo = self.repository.to_thread_local();
        timeline::read_date(&repo.find_commit(self.commit?).ok()?.data)
    }

    fn find_blob(&self, path: &str) -> Result<Option<ObjectId>, SourceError> {
        let repo = self.repository.to_thread_local();
        let found = find_file(&repo, self.tree, path).and_then(|found| match found {
            None if self.find_recorded(&repo, path).is_some() => {
                self.lock_submodules().find_file(&repo, self.tree, path)
            }
            found => Ok(found),
        });
        found.map_err(|it| self.failed(it))
    }

    fn find(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        let repo = self.repository.to_thread_local();
        let Some(id) = self.find_blob(path)? else { return Ok(None) };
        let text = read_blob(&repo, id).or_else(|reason| self.lock_submodules().text(id, reason));
        text.map(Some).map_err(|reason| self.failed(reason))
    }

    fn read_text(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        self.read_settings(&join(&self.top, path))
    }

    fn read_settings(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        let repo = self.repository.to_thread_local();
        let Some(blob) = self.find_blob(path)? else { return Ok(None) };
        let size = repo.find_header(blob).map_or(0, |it| it.size());
        match size > MAX_SETTINGS {
            true => {
                Err(self.failed(format_args!("`{}`: {}", escape_unprintable(path), over_limit())))
            }
            false => self.find(path),
        }
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

    fn has_blobs(&self) -> bool {
        true
    }
}

/// The tree at a revision.
struct Revision {
    repository: ThreadSafeRepository,
    /// The name for messages.
    name: String,
    /// Its commit, unless it is a bare tree.
    commit: Option<ObjectId>,
    /// The tree of the whole revision.
    tree: ObjectId,
    /// The folder of the tree in the repository, as the user names it.
    top: String,
    /// The same folder with links resolved; `None` if the revision does not have it.
    folder: Option<String>,
    work: Option<PathBuf>,
    /// The roots that are in submodules: each with its submodule, and its folder there.
    submodules: FxHashMap<usize, (Revision, String)>,
    /// The submodules below roots and import paths, as far as a path led into one.
    nested: Mutex<Submodules>,
}

impl Revision {
    /// Opens `REV`, `REV:SUBDIR`, `REV...` or `REV...:SUBDIR`; the second result is a note, if any.
    fn open(spec: &str, options: &SourceOptions) -> Result<(Self, Option<String>), SourceError> {
        let name = format!("git:{spec}");
        let failed = |reason: &str| SourceError::unusable(name.as_str(), reason);
        let (revision, subdir) = split_subdir(spec);
        let repository = discover(options.base)?;
        let repo = repository.to_thread_local();
        let (asked, base_of) = match revision.strip_suffix("...") {
            Some(revision) => (revision, "..."),
            None => (revision, ""),
        };
        let revision = &*(version_tags::resolve_newest_tag(&repo, asked)? + base_of);
        let work = repo.workdir().map(canonicalize);
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
                        escape_unprintable(revision),
                        escape_unprintable(with),
                        escape_unprintable(with),
                    ));
                }
                base
            }
        };
        let tree = find_tree(&repo, object).map_err(|reason| failed(&reason))?;
        let top = match (subdir, &work) {
            (Some(subdir), _) => normalize(subdir),
            (None, None) => Some(String::new()),
            (None, Some(work)) => {
                Some(make_relative(&canonicalize(options.base), work).ok_or_else(|| {
                    failed("the tree is outside its repository: name a folder as `git:REV:SUBDIR`")
                })?)
            }
        }
        .ok_or_else(|| failed("the folder is outside the repository"))?;
        let folder = walk_path(&repo, tree, &top)
            .map_err(|reason| failed(&reason.to_string()))?
            .filter(|target| target.kind == EntryKind::Tree)
            .map(|target| target.path);
        let found = repo.find_object(object).ok();
        let commit = found.and_then(|it| it.peel_to_commit().ok()).map(|it| it.id);
        drop(repo);
        let submodules = FxHashMap::default();
        let nested = Mutex::default();
        let mut revision =
            Self { repository, name, commit, tree, top, folder, work, submodules, nested };
        if let (None, Some(inside)) = (&revision.folder, revision.enter_submodule()?) {
            revision = inside;
        }
        // Without SUBDIR the folder may be younger than the revision; reading it will say so.
        if subdir.is_some() && revision.folder.is_none() {
            return Err(revision.build_no_folder_error());
        }
        Ok((revision, note))
    }

    fn lock_submodules(&self) -> MutexGuard<'_, Submodules> {
        self.nested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A path on disk, from the top of the repository.
    fn path_in_work(&self, path: &Path) -> Option<String> {
        // The file itself may be a link, as git keeps it.
        let folder = canonicalize(path.parent()?);
        make_relative(&folder.join(path.file_name()?), self.work.as_ref()?)
    }

    fn build_no_folder_error(&self) -> SourceError {
        SourceError::NoFolder { name: self.name.clone(), folder: self.top.clone() }
    }

    /// Finds an import path: in the revision or one of its submodules if these have such a
    /// folder, else on disk.
    fn locate(&self, written: &str, base: &Path) -> Option<ImportPlace> {
        self.mounted(self.find_folder_of(written, base)?)
    }

    /// The path of an import path from the top of the repository.
    fn find_folder_of(&self, written: &str, base: &Path) -> Option<String> {
        match &self.work {
            Some(work) => make_relative(&canonicalize(&base.join(written)), work),
            None if Path::new(written).is_absolute() => None,
            None => normalize(written),
        }
    }

    /// The import paths that the configuration of the revision names, if those of today do not have
    /// them in this order. Otherwise a change of the configuration would change both sides alike, and
    /// what it changes of imported types would not be seen.
    fn find_former_imports(
        &self,
        options: &SourceOptions<'_>,
        layout: &RootLayout,
    ) -> Vec<ImportPath> {
        let text = self.read_text(CONFIG).ok().flatten();
        let named = text.and_then(|it| Config::import_paths_of(std::str::from_utf8(&it).ok()?));
        let former: Vec<(String, String)> = named
            .unwrap_or_default()
            .into_iter()
            .filter(|written| !Path::new(written).is_absolute())
            .filter_map(|written| Some((normalize(&join(&self.top, &written))?, written)))
            .collect();
        let mut today = options.import_paths.iter();
        let mut is_today = |folder: &str| {
            today.any(|it| self.find_folder_of(it, options.base).is_some_and(|it| it == folder))
        };
        if former.iter().all(|(folder, _)| is_today(folder)) {
            return Vec::new();
        }
        // A file that is judged has a name there already.
        let is_judged = |folder: &str| {
            let inner = strip_folder(folder, &self.top);
            inner.is_some_and(|it| layout.place(&join(it, "file.proto")).is_some())
        };
        let former = former.into_iter().filter(|(folder, _)| !is_judged(folder));
        let place = |(folder, written)| {
            Some(ImportPath { written, prefix: String::new(), at: self.mounted(folder)? })
        };
        former.filter_map(place).collect()
    }

    /// Fails if an import path is a link of the revision that leads out of the repository, unless
    /// it is a folder on disk that the user names.
    fn refuse_links_out(&self, options: &SourceOptions<'_>) -> Result<(), SourceError> {
        let Some(work) = &self.work else { return Ok(()) };
        let repo = self.repository.to_thread_local();
        let named = options.links.iter().chain(options.named_imports);
        let named: Vec<PathBuf> = named.map(|it| canonicalize(it)).collect();
        for written in options.import_paths {
            let place = normalize_lexically(&canonicalize(options.base).join(written));
            let Some(folder) = make_relative(&place, work) else { continue };
            let on_disk = canonicalize(&place);
            if named.iter().any(|it| on_disk.starts_with(it)) {
                continue;
            }
            if let Err(reason @ (PathError::Leaves | PathError::Loops)) =
                walk_path(&repo, self.tree, &folder)
            {
                return Err(self.failed(format_args!(
                    "its import path `{}` is not read: {reason}; if a folder on disk may take its \
                     place, name that with `-I`",
                    escape_unprintable(written)
                )));
            }
        }
        Ok(())
    }

    /// A folder of the revision or of one of its submodules.
    fn mounted(&self, folder: String) -> Option<ImportPlace> {
        let repo = self.repository.to_thread_local();
        if find_folder(&repo, self.tree, &folder).ok()?.is_some() {
            return Some(ImportPlace::Inside(folder));
        }
        let (submodule, rest) = self.open_submodule(&repo, &folder)?;
        match submodule.mounted(rest)? {
            ImportPlace::Inside(folder) => Some(ImportPlace::Beside(Box::new(submodule), folder)),
            mount => Some(mount),
        }
    }

    /// The same folder in the submodule that it is in, if it is in one.
    fn enter_submodule(&self) -> Result<Option<Revision>, SourceError> {
        let repo = self.repository.to_thread_local();
        let Some((path, commit)) = self.find_recorded(&repo, &self.top) else { return Ok(None) };
        let Some((submodule, top)) = self.find_in_submodule(&repo, &self.top) else {
            return Err(self.not_here(path, commit));
        };
        let inner = submodule.repository.to_thread_local();
        let folder = walk_path(&inner, submodule.tree, &top).map_err(|it| self.failed(it))?;
        let folder = folder.filter(|it| it.kind == EntryKind::Tree).map(|it| it.path);
        Ok(Some(Revision { top, folder, ..submodule }))
    }

    fn not_here(&self, path: &str, commit: ObjectId) -> SourceError {
        self.failed(format_args!(
            "`{path}` is a submodule, and its commit `{commit}` is not here: run `git submodule \
             update --init {path}`"
        ))
    }

    /// The submodules of the roots. A root whose submodule cannot be read is an error: without
    /// its old files every change of them would pass.
    fn find_submodules(&mut self, layout: &RootLayout) -> Result<(), SourceError> {
        let Some(top) = self.folder.as_deref() else { return Ok(()) };
        let repo = self.repository.to_thread_local();
        let mut submodules = FxHashMap::default();
        for (root, folder) in layout.roots.iter().enumerate() {
            let folder = join(top, folder);
            let Some((path, commit)) = self.find_recorded(&repo, &folder) else { continue };
            let Some(submodule) = self.find_in_submodule(&repo, &folder) else {
                return Err(self.not_here(path, commit));
            };
            submodules.insert(root, submodule);
        }
        self.submodules = submodules;
        Ok(())
    }

    /// The former layout of roots that the revision does not have, if its own configuration says
    /// so.
    fn find_former_layout(&self, layout: &RootLayout) -> Option<RootLayout> {
        let top = self.folder.as_deref()?;
        let repo = self.repository.to_thread_local();
        let was_there = |root: usize| {
            let folder = join(top, &layout.roots[root]);
            // What cannot be read is there, and told when it is read.
            !matches!(walk_path(&repo, self.tree, &folder), Ok(None))
                || self.find_recorded(&repo, &folder).is_some()
        };
        layout.find_former(was_there, || self.read_text(CONFIG).ok()?)
    }

    /// The submodule that a folder is in, and the commit that the revision records of it.
    fn find_recorded<'f>(&self, repo: &Repository, folder: &'f str) -> Option<(&'f str, ObjectId)> {
        find_recorded(repo, self.tree, folder)
    }

    /// The submodule that a folder is in, itself maybe in another one, and the folder there.
    fn find_in_submodule(&self, repo: &Repository, folder: &str) -> Option<(Revision, String)> {
        let (submodule, rest) = self.open_submodule(repo, folder)?;
        let inner = submodule.repository.to_thread_local();
        match submodule.find_recorded(&inner, &rest) {
            Some(_) => submodule.find_in_submodule(&inner, &rest),
            None => Some((submodule, rest)),
        }
    }

    /// The submodule that a folder is in, at the commit that the revision records, and the rest of
    /// the path. `None` if that commit is not here.
    fn open_submodule(&self, repo: &Repository, folder: &str) -> Option<(Revision, String)> {
        let (path, commit) = self.find_recorded(repo, folder)?;
        let (repository, tree) = open_repository(repo, path, commit)?;
        let submodule = Revision {
            repository,
            name: self.name.clone(),
            commit: Some(commit),
            tree,
            top: String::new(),
            folder: Some(String::new()),
            work: self.work.as_ref().map(|work| work.join(path)),
            submodules: FxHashMap::default(),
            nested: Mutex::default(),
        };
        Some((submodule, strip_folder(folder, path).unwrap_or_default().to_owned()))
    }

    fn failed(&self, reason: impl fmt::Display) -> SourceError {
        SourceError::unusable(self.name.as_str(), reason)
    }

    /// Reads the files that a walk of the checked-out folder would judge, except those whose texts
    /// are known.
    fn gather(&self, layout: &RootLayout, known: &TextCache) -> Result<Gathered, SourceError> {
        Ok(self.read_blobs(layout, self.walk(layout)?, known))
    }

    fn read_blobs(&self, layout: &RootLayout, walked: WalkedFiles, known: &TextCache) -> Gathered {
        let WalkedFiles { found, mut gathered } = walked;
        let all = self.submodules.values().map(|(it, _)| it).chain([self]);
        let nested: Vec<ThreadSafeRepository> =
            all.flat_map(|it| it.lock_submodules().repositories()).collect();
        let local = || (FxHashMap::default(), Vec::new());
        let read: Vec<(String, Result<SourceFile, PathError>)> = found
            .into_par_iter()
            .map_init(local, |(repositories, inner), FoundFile { root, path, id }| {
                let submodule = self.submodules.get_key_value(&root);
                let repo =
                    repositories.entry(submodule.map(|(root, _)| root)).or_insert_with(|| {
                        submodule.map_or(self, |(_, (it, _))| it).repository.to_thread_local()
                    });
                let display = layout.display(root, &path);
                let size = || Some(repo.find_header(id).ok()?.size());
                let text = match known.find(id, size) {
                    Some(text) => Ok(text),
                    None => read_blob(repo, id).or_else(|reason| {
                        if inner.is_empty() {
                            inner.extend(nested.iter().map(ThreadSafeRepository::to_thread_local));
                        }
                        inner.iter().find_map(|it| read_blob(it, id).ok()).ok_or(reason)
                    }),
                };
                let file = text.map(|text| SourceFile {
                    path: path.into(),
                    display: display.as_str().into(),
                    root: root as u32,
                    imported: false,
                    text,
                });
                (display, file)
            })
            .collect();
        // What a sparse checkout leaves out, a partial clone may leave out, too.
        let left_out = LazyCell::new(|| LeftOut::around(self.work.as_deref()?));
        let is_left_out = |display: &str| {
            let path = join(self.folder.as_deref().unwrap_or(&self.top), display);
            left_out.as_ref().is_some_and(|it| it.has(&path).is_some())
        };
        let mut not_fetched = 0;
        for (display, file) in read {
            match file {
                Ok(file) => gathered.files.push(file),
                Err(PathError::Missing(_)) if is_left_out(&display) => not_fetched += 1,
                Err(PathError::Missing(missing)) => gathered.lost(display, missing),
                Err(reason) => gathered.problem(display, reason.to_string()),
            }
        }
        gathered.notes.extend(sparse::not_fetched(not_fetched));
        gathered
    }

    /// Finds the files that a walk of the checked-out folder would judge.
    fn walk(&self, layout: &RootLayout) -> Result<WalkedFiles, SourceError> {
        let mut listing = WalkedFiles::default();
        let staged = StagedTrees::of(&self.repository.to_thread_local());
        let staged = staged.as_ref().filter(|_| self.submodules.is_empty());
        let mut entries = 0;
        let top = self.folder.as_deref().ok_or_else(|| self.build_no_folder_error())?;
        for (root, folder) in layout.roots.iter().enumerate() {
            let (revision, top) = match self.submodules.get(&root) {
                Some((submodule, folder)) => (submodule, folder.clone()),
                None => (self, join(top, folder)),
            };
            let repo = revision.repository.to_thread_local();
            match walk_path(&repo, revision.tree, &top) {
                Ok(Some(PathTarget { id, kind: EntryKind::Tree, .. })) => {
                    // An explicit stack: the author of the tree chooses the depth.
                    let mut folders = vec![(id, String::new())];
                    while let Some((id, folder)) = folders.pop() {
                        if let Some(files) =
                            staged.and_then(|it| it.files(&join(&top, &folder), id))
                        {
                            listing.add_files(layout, root, &folder, files);
                            continue;
                        }
                        let damage = |listing: &mut WalkedFiles| {
                            let display = layout.display(root, &folder);
                            let name = if display.is_empty() { "." } else { display.as_str() };
                            listing.gathered.lost(name, MissingObject::tree(id));
                        };
                        let Some(tree) = revision.list_entries(&repo, id) else {
                            damage(&mut listing);
                            continue;
                        };
                        for entry in tree {
                            let Ok(entry) = entry else {
                                damage(&mut listing);
                                break;
                            };
                            entries += 1;
                            if entries > MAX_ENTRIES {
                                return Err(
                                    self.failed("its tree has more than ten million entries")
                                );
                            }
                            let place = WalkPosition {
                                root,
                                top: &top,
                                folder: &folder,
                                folders: &mut folders,
                            };
                            revision.visit(&repo, layout, place, entry, &mut listing);
                        }
                    }
                }
                // The root may be younger, or gone by then: nothing is in it.
                Ok(_) => listing.gathered.notes.push(format!(
                    "`{}` has no root `{}`, which counts as empty",
                    escape_unprintable(&self.name),
                    escape_unprintable(folder)
                )),
                Err(PathError::Missing(missing)) => listing.gathered.lost(folder.as_str(), missing),
                Err(reason) => listing.gathered.problem(folder.as_str(), reason.to_string()),
            }
        }
        Ok(listing)
    }

    /// The entries of a folder of the revision or of a submodule; one that cannot be read ends
    /// them. `None` if the folder is missing.
    fn list_entries(
        &self,
        repo: &Repository,
        folder: ObjectId,
    ) -> Option<Vec<Result<TreeEntry, ()>>> {
        let entries = |tree: &gix::Tree<'_>| {
            let entry = |entry: gix::objs::tree::EntryRef<'_>| TreeEntry {
                name: entry.filename.to_owned(),
                kind: entry.mode.kind(),
                id: entry.oid.to_owned(),
            };
            let entries = gix::objs::TreeRefIter::from_bytes(&tree.data, folder.kind());
            entries.map(|it| it.map(entry).map_err(drop)).collect()
        };
        match repo.find_tree(folder) {
            Ok(tree) => Some(entries(&tree)),
            Err(_) => self.lock_submodules().tree(repo, folder).ok().map(|it| entries(&it)),
        }
    }

    /// Follows a path of the revision to its target, be it by way of submodules.
    fn resolve_target(
        &self,
        repo: &Repository,
        path: &str,
    ) -> Result<Option<PathTarget>, PathError> {
        match walk_path(repo, self.tree, path) {
            Ok(None) if self.find_recorded(repo, path).is_some() => {
                self.lock_submodules().find(repo, self.tree, path)
            }
            found => found,
        }
    }

    fn visit(
        &self,
        repo: &Repository,
        layout: &RootLayout,
        place: WalkPosition<'_>,
        entry: TreeEntry,
        to: &mut WalkedFiles,
    ) {
        let WalkPosition { root, top, folder, folders } = place;
        let lossy = entry.name.to_str_lossy();
        let is_folder = matches!(entry.kind, EntryKind::Tree | EntryKind::Commit);
        if is_skipped(&lossy) && (lossy != "node_modules" || is_folder) {
            return;
        }
        let path = join(folder, &lossy);
        let display = layout.display(root, &path);
        let is_proto = is_proto(&entry.name);
        match entry.kind {
            EntryKind::Tree | EntryKind::Commit if layout.ends_at(&display) => {}
            EntryKind::Tree => folders.push((entry.id, path)),
            EntryKind::Commit => {
                match self.lock_submodules().enter(repo, &join(top, &path), entry.id) {
                    Ok(tree) => folders.push((tree, path)),
                    Err(missing) => to.gathered.lost(display, missing),
                }
            }
            _ if is_proto && entry.name.to_str().is_err() => {
                to.gathered.problem(display, NOT_UNICODE);
            }
            EntryKind::Blob | EntryKind::BlobExecutable if is_proto => {
                to.found.push(FoundFile { root, path, id: entry.id });
            }
            EntryKind::Blob | EntryKind::BlobExecutable => {}
            EntryKind::Link => match self.resolve_target(repo, &join(top, &path)) {
                Ok(Some(PathTarget { kind: EntryKind::Tree, id, path: target })) => {
                    if let Some(sample) =
                        find_sample(repo, id).filter(|_| !layout.ends_at(&display))
                    {
                        let folder = relate_to(&target, self.folder.as_deref().unwrap_or_default());
                        let linked = LinkedFolder {
                            link: &display,
                            root: &layout.roots[root],
                            place: &path,
                            folder: &folder,
                        };
                        to.gathered.notes.extend(linked.note(layout, &[], sample));
                    }
                }
                Ok(Some(PathTarget {
                    id,
                    kind: EntryKind::Blob | EntryKind::BlobExecutable,
                    ..
                })) if is_proto => {
                    to.found.push(FoundFile { root, path, id });
                }
                _ if !is_proto => {}
                Ok(_) => to.gathered.problem(display, "its link leads to no file"),
                Err(PathError::Missing(missing)) => to.gathered.lost(display, missing),
                Err(reason) => to.gathered.problem(display, reason.to_string()),
            },
        }
    }
}

/// The first proto file in a folder, among its first entries.
fn find_sample(repo: &Repository, tree: ObjectId) -> Option<SampleFile> {
    let mut folders = vec![(tree, String::new())];
    let mut left = MAX_SEARCHED;
    while let Some((id, folder)) = folders.pop() {
        let Ok(tree) = repo.find_tree(id) else { continue };
        let entries: Vec<_> = tree.iter().filter_map(Result::ok).take(left).collect();
        left -= entries.len();
        for entry in entries.iter().rev() {
            let Ok(name) = entry.filename().to_str() else { continue };
            let path = join(&folder, name);
            match entry.mode().kind() {
                _ if is_skipped(name) => {}
                EntryKind::Tree => folders.push((entry.object_id(), path)),
                EntryKind::Blob | EntryKind::BlobExecutable if is_proto(name.as_bytes()) => {
                    return Some(SampleFile {
                        path,
                        text: read_blob(repo, entry.object_id()).ok()?,
                    });
                }
                _ => {}
            }
        }
    }
    None
}

/// An entry of a git tree.
struct TreeEntry {
    name: BString,
    kind: EntryKind,
    id: ObjectId,
}

/// The position of a walk of a revision: a folder of a root, and the folders that it has yet to
/// enter.
struct WalkPosition<'w> {
    root: usize,
    /// The path of the root in its repository.
    top: &'w str,
    folder: &'w str,
    folders: &'w mut Vec<(ObjectId, String)>,
}

/// A file to read.
struct FoundFile {
    root: usize,
    /// Its path in the root.
    path: String,
    id: ObjectId,
}

/// The files that a walk of a revision found, before any is read.
#[derive(Default)]
struct WalkedFiles {
    found: Vec<FoundFile>,
    gathered: Gathered,
}

impl WalkedFiles {
    /// Adds those of the files below a folder that a walk would find.
    fn add_files(
        &mut self,
        layout: &RootLayout,
        root: usize,
        folder: &str,
        files: Vec<(&str, ObjectId)>,
    ) {
        let is_entered = |below: &str| {
            let mut ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
            below.split('/').all(|name| !is_skipped(name))
                && !ends
                    .any(|end| layout.ends_at(&layout.display(root, &join(folder, &below[..end]))))
        };
        // Files of one folder stand together.
        let mut last: Option<(&str, bool)> = None;
        for (path, id) in files {
            let (below, name) = path.rsplit_once('/').unwrap_or(("", path));
            if !is_proto(name.as_bytes()) || is_skipped(name) {
                continue;
            }
            let is_entered = match last {
                Some((known, answer)) if known == below => answer,
                _ => below.is_empty() || is_entered(below),
            };
            last = Some((below, is_entered));
            if is_entered {
                self.found.push(FoundFile { root, path: join(folder, path), id });
            }
        }
    }
}
