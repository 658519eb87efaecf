//! A tree along the commits of a repository: which files each commit changed.
//!
//! Trees are compared by the ids of their objects. A folder that did not change is not entered, and
//! a blob that did not change is not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use abide_schema::FileText;
use gix::bstr::ByteSlice;
use gix::objs::commit::MessageRef;
use gix::objs::tree::EntryKind;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use gix::{ObjectId, Repository, ThreadSafeRepository};
use rayon::prelude::*;

use super::objects::{MissingObject, PathError, REPAIR, read_blob};
use super::repository::{MAX_ENTRIES, discover};
use super::revision::resolve_commit;
use super::submodules::Submodules;
use crate::printable::escape_unprintable;
use crate::source::contents::CONFIG;
use crate::source::disk::find_listed;
use crate::source::failure::SourceError;
use crate::source::imports::{ImportPath, ImportPlace, place_imports};
use crate::source::links::LinkLimits;
use crate::source::paths::{canonicalize, is_proto, is_skipped, join, make_relative, normalize};
use crate::source::roots::RootLayout;
use crate::source::spec::SourceOptions;

/// The bytes of objects that are kept because others may be deltas of them.
const DELTA_BASES: usize = 4 << 20;

/// The bytes of folders that are kept: consecutive commits share most of them.
const FOLDERS: usize = 4 << 20;

/// The number of texts that are worth more than one thread, of which each begins without deltas.
const MANY: usize = 256;

/// The line of first parents that leads to `HEAD`, and where the tree is in each commit.
pub struct Timeline {
    repository: ThreadSafeRepository,
    /// The folder in the repository that is the tree.
    top: String,
    layout: Arc<RootLayout>,
    imports: Vec<ImportPath>,
    links: LinkLimits,
    /// The commit before the first one, if there is one.
    pub base: Option<Commit>,
    /// The commits to walk, oldest first.
    pub commits: Vec<Commit>,
    /// Notes for the user, one phrase each.
    pub notes: Vec<String>,
    /// The reason for a line that is not whole, if a commit on it is missing.
    pub loss: Option<String>,
}

/// One commit of a [`Timeline`].
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its object.
    pub id: ObjectId,
    /// The time of the commit, in seconds since 1970.
    pub seconds: i64,
    /// The first line of its message.
    pub subject: String,
    tree: ObjectId,
}

/// A file that a commit added, changed or removed.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The number of its root.
    pub root: u32,
    /// The path that imports use.
    pub path: Arc<str>,
    /// Its content after the commit; `None` if it was removed.
    pub blob: Option<ObjectId>,
}

/// The content of an imported file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// In the repository.
    Blob(ObjectId),
    /// On disk, without a history.
    Disk(FileText),
}

/// An imported file that is not in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The number of its import path; import paths are numbered after the roots.
    pub root: u32,
    /// Its content.
    pub content: Content,
}

/// An error that keeps the history from being walked.
fn unusable(reason: impl fmt::Display) -> SourceError {
    SourceError::unusable("history", reason)
}

const UNSHALLOW: &str = "run `git fetch --unshallow`, or `git fetch --deepen N` for N more commits";

impl Timeline {
    /// The commits after `since`, or all of them, for the tree in `folder`, or in `options.base`
    /// without a folder.
    pub fn open(
        options: &SourceOptions,
        folder: Option<&str>,
        since: Option<&str>,
    ) -> Result<Timeline, SourceError> {
        let repository = discover(options.base)?;
        let mut repo = repository.to_thread_local();
        repo.object_cache_size_if_unset(FOLDERS);
        let work = repo.workdir().map(canonicalize);
        let inside = |path: &Path| match &work {
            Some(work) => make_relative(&canonicalize(path), work),
            None => normalize(path.to_str()?),
        };
        let top = match (folder, &work) {
            (None, None) => Some(String::new()),
            (None, Some(_)) => inside(options.base),
            (Some(folder), None) => normalize(folder),
            (Some(folder), Some(_)) => inside(&options.base.join(folder)),
        };
        let top = top
            .ok_or_else(|| unusable("the folder is outside the repository: name one inside it"))?;
        let mut layout = RootLayout::new(options.roots)?;
        // A folder of the repository is read at each commit; before it exists, it is empty.
        let within = |written: &str| inside(&options.base.join(written)).map(ImportPlace::Inside);
        // What holds of one commit is no news of a whole history.
        let imports = place_imports(options, within, Some(&top), &mut layout, &mut Vec::new());
        let mut notes = Vec::new();
        let CommitLine { base, commits, loss } = walk_line(&repo, since, &mut notes)?;
        let (repository, links) = (repository.clone(), LinkLimits::of(options.base, options));
        let layout = Arc::new(layout);
        Ok(Timeline { repository, top, layout, imports, links, base, commits, notes, loss })
    }

    /// The folder of the tree, for messages.
    pub fn top(&self) -> &str {
        if self.top.is_empty() { "." } else { &self.top }
    }

    /// The number of roots of the tree.
    pub fn roots(&self) -> u32 {
        self.layout.roots.len() as u32
    }

    /// The path of a file relative to the tree, or for an imported file as users write it.
    pub fn display(&self, root: u32, path: &str) -> String {
        let root = root as usize;
        match root.checked_sub(self.layout.roots.len()).and_then(|index| self.imports.get(index)) {
            Some(import) => import.display(path),
            None if root < self.layout.roots.len() => self.layout.display(root, path),
            None => path.to_owned(),
        }
    }

    /// The repository, to read many objects that may be deltas of others.
    fn repository(&self) -> Repository {
        let mut repo = self.repository.to_thread_local();
        repo.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(DELTA_BASES)));
        repo
    }

    /// A cursor before the first commit.
    pub fn cursor(&self) -> Cursor<'_> {
        let mut repo = self.repository();
        repo.object_cache_size_if_unset(FOLDERS);
        let mounts = self.imports.iter().map(|_| None).collect();
        Cursor {
            timeline: self,
            repo,
            submodules: Submodules::default(),
            blobs: self.repository(),
            commit: None,
            roots: vec![None; self.layout.roots.len()],
            layout: Arc::clone(&self.layout),
            former: None,
            links: BTreeMap::new(),
            mounts,
            looked_up: BTreeMap::new(),
            stand_ins: BTreeMap::new(),
            losses: LostObjects::default(),
        }
    }
}

/// A place on a [`Timeline`].
///
/// Roots and import paths may be in submodules: these are read at the commits that each commit of
/// the line records.
pub struct Cursor<'t> {
    timeline: &'t Timeline,
    /// The repository, to read folders.
    repo: Repository,
    /// The submodules that roots and import paths are in.
    submodules: Submodules,
    /// The same, to read texts, which no cache keeps.
    blobs: Repository,
    /// The tree of the current commit.
    commit: Option<ObjectId>,
    /// The folder of each root.
    roots: Vec<Option<ObjectId>>,
    /// The paths of the roots in the current commit.
    layout: Arc<RootLayout>,
    /// The paths of the roots when some were last looked for elsewhere.
    former: Option<PreviousRoots>,
    /// Files that are links, and the blob that each leads to.
    links: BTreeMap<(u32, Arc<str>), Option<ObjectId>>,
    /// The folder of each import path, if it is in the repository.
    mounts: Vec<Option<ObjectId>>,
    /// The imports that were looked up outside the tree, and what was found.
    looked_up: BTreeMap<Box<str>, Option<Imported>>,
    /// For each folder of a root that is missing, the one that is taken in its place.
    stand_ins: BTreeMap<(u32, String, ObjectId), Option<ObjectId>>,
    losses: LostObjects,
}

/// The folder of a root: `None` if it is not there.
type RootFolder = Result<Option<ObjectId>, MissingObject>;

/// The paths of the roots when some of today's were absent.
struct PreviousRoots {
    /// The blob of the configuration.
    configuration: ObjectId,
    absent: Vec<bool>,
    /// Nothing if the configuration does not say it.
    layout: Option<Arc<RootLayout>>,
}

/// The objects that could not be read along the way. They are taken to be as before.
#[derive(Default)]
struct LostObjects {
    /// The commit that the cursor is at.
    commit: Option<ObjectId>,
    /// The first of them, one phrase each.
    first: Vec<String>,
    /// The number of further ones.
    more: usize,
    /// The last one. An object may be asked for more than once at a commit.
    last: Option<(Option<ObjectId>, PathError)>,
}

impl LostObjects {
    /// The number that is named.
    const NAMED: usize = 10;

    fn note(&mut self, path: &str, reason: PathError) {
        if self.last.replace((self.commit, reason)) == Some((self.commit, reason)) {
            return;
        }
        self.add(path, &reason);
    }

    fn add(&mut self, path: &str, reason: &dyn fmt::Display) {
        if self.first.len() == LostObjects::NAMED {
            self.more += 1;
            return;
        }
        let commit = self.commit.map(|it| it.to_hex_with_len(10).to_string()).unwrap_or_default();
        let path = if path.is_empty() { "." } else { path };
        self.first.push(format!(
            "commit {commit}: cannot read `{}`, so it counts as it was before: {reason}",
            escape_unprintable(path)
        ));
    }
}

/// The changes of a commit.
#[derive(Default)]
pub struct Step {
    /// The files of the tree that changed, in no particular order.
    pub files: Vec<FileChange>,
    /// The imported paths that now lead to another file, or to none.
    pub imported: Vec<Box<str>>,
}

impl Cursor<'_> {
    /// Moves to a commit.
    pub fn advance(&mut self, commit: &Commit) -> Result<Step, SourceError> {
        let mut step = Step::default();
        self.losses.commit = Some(commit.id);
        if self.commit.replace(commit.tree) == Some(commit.tree) {
            return Ok(step);
        }
        let mut found = BTreeMap::new();
        let mut entries = 0;
        let (layout, roots) = self.find_roots(commit.tree);
        let before = mem::replace(&mut self.layout, Arc::clone(&layout));
        for (root, now) in roots.into_iter().enumerate() {
            let now = match now {
                Ok(now) => now,
                Err(missing) => {
                    let folder = join(&self.timeline.top, &layout.roots[root]);
                    self.losses.note(&folder, PathError::Missing(missing));
                    continue;
                }
            };
            let folders = [mem::replace(&mut self.roots[root], now), now];
            self.compare(root as u32, folders, [&before, &layout], &mut found, &mut entries)?;
        }
        for ((root, path), target) in &mut self.links {
            let place = join(&self.timeline.top, &layout.display(*root as usize, path));
            // If a folder on the way is missing, the link leads where it led.
            let now = self.submodules.find_file(&self.repo, commit.tree, &place);
            let Ok(now) = now else { continue };
            if mem::replace(target, now) != now {
                found.insert((*root, Arc::clone(path)), now);
            }
        }
        let change = |((root, path), blob)| FileChange { root, path, blob };
        step.files = found.into_iter().map(change).collect();
        step.imported = self.look_again(commit.tree)?;
        Ok(step)
    }

    /// Finds the roots in a commit, and the folder of each: where the configuration of then had
    /// it, if it is not where it is today.
    fn find_roots(&mut self, commit: ObjectId) -> (Arc<RootLayout>, Vec<RootFolder>) {
        let today = Arc::clone(&self.timeline.layout);
        let mut folders = self.folders(commit, &today.roots);
        let absent: Vec<bool> = folders.iter().map(|it| *it == Ok(None)).collect();
        if absent.contains(&true)
            && let Some(former) = self.find_former_layout(commit, absent)
        {
            folders = self.folders(commit, &former.roots);
            return (former, folders);
        }
        (today, folders)
    }

    fn folders(&mut self, commit: ObjectId, roots: &[String]) -> Vec<RootFolder> {
        let top = &self.timeline.top;
        let mut find =
            |root: &String| self.submodules.find_folder(&self.repo, commit, &join(top, root));
        roots.iter().map(&mut find).collect()
    }

    /// Finds the former places of roots, of which some are absent, by the configuration in a
    /// commit.
    fn find_former_layout(
        &mut self,
        commit: ObjectId,
        absent: Vec<bool>,
    ) -> Option<Arc<RootLayout>> {
        let path = join(&self.timeline.top, CONFIG);
        let configuration = self.submodules.find_file(&self.repo, commit, &path).ok()??;
        let is_known =
            |it: &PreviousRoots| it.configuration == configuration && it.absent == absent;
        if !self.former.as_ref().is_some_and(is_known) {
            let text = || self.read(configuration).ok();
            let layout = self.timeline.layout.find_former(|it| !absent[it], text).map(Arc::new);
            self.former = Some(PreviousRoots { configuration, absent, layout });
        }
        self.former.as_ref()?.layout.clone()
    }

    /// Descends into whatever differs between two folders of one root.
    fn compare(
        &mut self,
        root: u32,
        [before, now]: [Option<ObjectId>; 2],
        [was, is]: [&RootLayout; 2],
        found: &mut BTreeMap<(u32, Arc<str>), Option<ObjectId>>,
        entries: &mut usize,
    ) -> Result<(), SourceError> {
        // An explicit stack: the author of the tree chooses the depth.
        let mut open = vec![(before, now, String::new())];
        let is_same_layout = was == is;
        while let Some((before, now, folder)) = open.pop() {
            if before == now && is_same_layout {
                continue;
            }
            let before = self.standing(root, &folder, before);
            let (old, new) = match (self.folder(before), self.folder(now)) {
                (Ok(old), Ok(new)) => (old, new),
                (Err(missing), _) | (_, Err(missing)) => {
                    if let Some(now) = now {
                        self.stand_ins.insert((root, folder.clone(), now), before);
                    }
                    let path = self.timeline.layout.display(root as usize, &folder);
                    self.losses.note(&path, PathError::Missing(missing));
                    continue;
                }
            };
            let (before, now) = (old, new);
            *entries += before.len() + now.len();
            if *entries > MAX_ENTRIES {
                return Err(unusable("a commit has more than ten million entries"));
            }
            let names: BTreeSet<&Vec<u8>> = before.keys().chain(now.keys()).collect();
            for name in names {
                let (old, new) = (before.get(name), now.get(name));
                if old == new && is_same_layout {
                    continue;
                }
                let Ok(name) = name.to_str() else { continue };
                let path = join(&folder, name);
                let (repo, submodules) = (&self.repo, &mut self.submodules);
                let mut tree = |entry: Option<&(EntryKind, ObjectId)>, layout: &RootLayout| {
                    let is_folder = |kind| matches!(kind, EntryKind::Tree | EntryKind::Commit);
                    let Some((kind, id)) = entry.filter(|it| is_folder(it.0)) else {
                        return Ok(None);
                    };
                    let display = layout.display(root as usize, &path);
                    if is_skipped(name) || layout.ends_at(&display) {
                        return Ok(None);
                    }
                    match kind {
                        EntryKind::Commit => {
                            let place = join(&self.timeline.top, &display);
                            submodules.enter(repo, &place, *id).map(Some)
                        }
                        _ => Ok(Some(*id)),
                    }
                };
                let folders = match (tree(old, was), tree(new, is)) {
                    (Ok(old), Ok(new)) => (old, new),
                    (Err(missing), _) | (_, Err(missing)) => {
                        let path = self.timeline.layout.display(root as usize, &path);
                        self.losses.note(&path, PathError::Missing(missing));
                        continue;
                    }
                };
                if folders.0 != folders.1 || folders.1.is_some() && !is_same_layout {
                    open.push((folders.0, folders.1, path.clone()));
                }
                if !is_proto(name.as_bytes()) || name.starts_with('.') {
                    continue;
                }
                let blob = |entry: Option<&(EntryKind, ObjectId)>| {
                    let is_blob = |it: &&(EntryKind, ObjectId)| {
                        matches!(it.0, EntryKind::Blob | EntryKind::BlobExecutable)
                    };
                    entry.filter(is_blob).map(|it| it.1)
                };
                let is_link = |entry: Option<&(EntryKind, ObjectId)>| {
                    entry.is_some_and(|it| it.0 == EntryKind::Link)
                };
                let key = (root, Arc::from(path));
                if blob(old) != blob(new) {
                    found.insert(key.clone(), blob(new));
                }
                match (is_link(old), is_link(new)) {
                    (_, true) => drop(self.links.entry(key).or_insert(None)),
                    (true, false) => {
                        if let Some(Some(_)) = self.links.remove(&key) {
                            found.insert(key, blob(new));
                        }
                    }
                    (false, false) => {}
                }
            }
        }
        Ok(())
    }

    /// The folder whose files are those that the cursor holds of this one.
    fn standing(&self, root: u32, path: &str, id: Option<ObjectId>) -> Option<ObjectId> {
        let Some(missing) = id.filter(|_| !self.stand_ins.is_empty()) else { return id };
        self.stand_ins.get(&(root, path.to_owned(), missing)).copied().unwrap_or(id)
    }

    fn folder(
        &self,
        id: Option<ObjectId>,
    ) -> Result<BTreeMap<Vec<u8>, (EntryKind, ObjectId)>, MissingObject> {
        let Some(id) = id else { return Ok(BTreeMap::new()) };
        let tree = self.submodules.tree(&self.repo, id)?;
        let mut entries = BTreeMap::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|_| MissingObject::tree(id))?;
            entries.insert(entry.filename().to_vec(), (entry.mode().kind(), entry.object_id()));
        }
        Ok(entries)
    }

    /// The imported paths that lead elsewhere, because an import path has changed.
    fn look_again(&mut self, tree: ObjectId) -> Result<Vec<Box<str>>, SourceError> {
        let mut changed = false;
        for (import, mount) in self.timeline.imports.iter().zip(&mut self.mounts) {
            let ImportPlace::Inside(folder) = &import.at else { continue };
            let now = match self.submodules.find_folder(&self.repo, tree, folder) {
                Ok(now) => now,
                Err(missing) => {
                    self.losses.note(folder, PathError::Missing(missing));
                    continue;
                }
            };
            changed |= mem::replace(mount, now) != now;
        }
        let mut stale = Vec::new();
        if changed {
            for (path, before) in mem::take(&mut self.looked_up) {
                let now = self.find_imported(&path)?;
                if now != before {
                    stale.push(path.clone());
                }
                self.looked_up.insert(path, now);
            }
        }
        Ok(stale)
    }

    /// Looks up an imported file that is not in the tree.
    pub fn import(&mut self, path: &str) -> Result<Option<Imported>, SourceError> {
        if let Some(known) = self.looked_up.get(path) {
            return Ok(known.clone());
        }
        let found = self.find_imported(path)?;
        self.looked_up.insert(path.into(), found.clone());
        Ok(found)
    }

    fn find_imported(&mut self, path: &str) -> Result<Option<Imported>, SourceError> {
        if normalize(path).as_deref() != Some(path) || path.is_empty() {
            return Ok(None);
        }
        let roots = self.timeline.layout.roots.len();
        for (index, import) in self.timeline.imports.iter().enumerate() {
            let Some(path) = import.find_inner(path) else { continue };
            let content = match &import.at {
                ImportPlace::Inside(folder) => match self.commit {
                    Some(tree) => {
                        let path = join(folder, path);
                        let found = self.submodules.find_file(&self.repo, tree, &path);
                        let lost = |missing| self.losses.note(&path, PathError::Missing(missing));
                        found.map_err(lost).ok().flatten().map(Content::Blob)
                    }
                    None => None,
                },
                ImportPlace::Beside(source, folder) => {
                    source.find(&join(folder, path))?.map(Content::Disk)
                }
                ImportPlace::Disk(folder) => {
                    self.timeline.links.find(folder, path)?.map(Content::Disk)
                }
                ImportPlace::Listed(files) => find_listed(files, path)?.map(Content::Disk),
            };
            if let Some(content) = content {
                return Ok(Some(Imported { root: (roots + index) as u32, content }));
            }
        }
        Ok(None)
    }

    /// The bytes of a blob, which the current commit has at `path`. `None` if they cannot be read,
    /// which the cursor remembers.
    pub fn text(&mut self, id: ObjectId, path: &str) -> Option<FileText> {
        self.read(id).map_err(|reason| self.losses.note(path, reason)).ok()
    }

    fn read(&self, id: ObjectId) -> Result<FileText, PathError> {
        read_blob(&self.blobs, id).or_else(|reason| self.submodules.text(id, reason))
    }

    /// The bytes of blobs with their paths, each as [`text`](Cursor::text) gives it.
    pub fn texts(&mut self, wanted: &[(ObjectId, String)]) -> Vec<Option<FileText>> {
        let read: Vec<Result<FileText, PathError>> = match wanted.len() < MANY {
            true => wanted.iter().map(|(id, _)| self.read(*id)).collect(),
            false => {
                let repository = || self.timeline.repository();
                let read = |repo: &mut Repository, it: &(ObjectId, String)| read_blob(repo, it.0);
                wanted.par_iter().with_min_len(MANY / 4).map_init(repository, read).collect()
            }
        };
        let note = |(text, (id, path)): (Result<FileText, PathError>, &(ObjectId, String))| {
            let text = text.or_else(|reason| self.submodules.text(*id, reason));
            text.map_err(|reason| self.losses.note(path, reason)).ok()
        };
        read.into_iter().zip(wanted).map(note).collect()
    }

    /// The blob of a file in the tree's folder at the current commit, such as `abide.lock`.
    /// `Err` if a folder on the way cannot be read, which the cursor remembers.
    pub fn find_beside(&mut self, name: &str) -> Result<Option<ObjectId>, Lost> {
        let Some(tree) = self.commit else { return Ok(None) };
        let path = join(&self.timeline.top, name);
        self.submodules.find_file(&self.repo, tree, &path).map_err(|missing| {
            self.losses.note(&path, PathError::Missing(missing));
            Lost
        })
    }

    /// Remembers a file of the current commit of which nobody knows what it means.
    pub fn lose(&mut self, path: &str, reason: &dyn fmt::Display) {
        self.losses.add(path, reason);
    }

    /// The reasons for a walk that is not whole, one phrase each.
    pub fn losses(self) -> Vec<String> {
        let LostObjects { first, more, .. } = self.losses;
        let more = (more > 0).then(|| format!("{more} more times, something cannot be read"));
        self.timeline.loss.iter().cloned().chain(first).chain(more).collect()
    }
}

/// Something could not be read, and the cursor remembers what.
pub struct Lost;

/// A line of first parents.
struct CommitLine {
    /// The commit before the first one, if there is one.
    base: Option<Commit>,
    /// Oldest first.
    commits: Vec<Commit>,
    /// The reason for a line that is not whole, if a commit on it is missing.
    loss: Option<String>,
}

/// The line of first parents from `HEAD` back to `since`.
fn walk_line(
    repo: &Repository,
    since: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<CommitLine, SourceError> {
    let head = resolve_commit(repo, "HEAD")?;
    let since = since.map(|since| Ok((since, resolve_commit(repo, since)?))).transpose()?;
    let shallow: BTreeSet<ObjectId> = match repo.shallow_commits() {
        Ok(Some(commits)) => commits.iter().copied().collect(),
        _ => BTreeSet::new(),
    };
    let mut commits = Vec::new();
    let mut next = Some(head);
    let mut cut = false;
    let mut loss = None;
    let mut dateless = BTreeSet::new();
    while let Some(id) = next {
        let missing = MissingObject::commit(id);
        let Some((commit, tree, parent)) = read_whole_commit(repo, id) else {
            let first: &Commit = commits.last().ok_or_else(|| unusable(missing))?;
            loss = Some(format!(
                "the history starts after {}, because its parent cannot be read: {missing}",
                first.id.to_hex_with_len(10)
            ));
            break;
        };
        cut = shallow.contains(&id);
        next = if cut { None } else { parent };
        let seconds = read_date(&commit.data).unwrap_or_else(|| {
            dateless.insert(id);
            0
        });
        let message = MessageRef::from_bytes(commit.message_raw_sloppy());
        let subject = message.summary().to_str_lossy().into_owned();
        commits.push(Commit { id, seconds, subject, tree });
        if since.is_some_and(|(_, since)| since == id) {
            break;
        }
    }
    commits.reverse();
    let is_dateless = |commit: &Commit| dateless.contains(&commit.id);
    // Commits at the beginning have no earlier date to take over.
    let mut beside = commits.iter().find(|it| !is_dateless(it)).map_or(0, |it| it.seconds);
    for commit in &mut commits {
        if is_dateless(commit) {
            commit.seconds = beside;
        }
        beside = commit.seconds;
    }
    let mut base = None;
    if let Some((name, since)) = since {
        let place = match commits.iter().position(|commit| commit.id == since) {
            Some(place) => place,
            // It may be before what is missing.
            None if loss.is_some() => 0,
            None => join_base(repo, &commits, name, since, head, notes)?,
        };
        let before = commits.drain(..=place).next_back();
        base = before;
    } else if loss.is_some() {
        base = Some(commits.remove(0));
    } else if cut {
        if commits.len() == 1 {
            return Err(unusable(format!(
                "the clone is shallow and has only one commit, so there is nothing to compare: \
                 {UNSHALLOW}"
            )));
        }
        let first = commits.remove(0);
        notes.push(format!(
            "the clone is shallow: the history starts after {}, and earlier commits are missing; \
             {UNSHALLOW}",
            first.id.to_hex_with_len(10)
        ));
        base = Some(first);
    }
    let undated: Vec<&Commit> = commits.iter().filter(|it| is_dateless(it)).collect();
    if let Some(first) = undated.first() {
        let first = first.id.to_hex_with_len(10);
        notes.push(match undated.len() {
            1 => format!("{first} has no readable date; it gets the date of the commit next to it"),
            count => format!(
                "{count} commits have no readable date, starting with {first}; they get the dates \
                 of the commits next to them"
            ),
        });
    }
    Ok(CommitLine { base, commits, loss })
}

/// A commit with its tree and its first parent; `None` if it cannot be read.
fn read_whole_commit(
    repo: &Repository,
    id: ObjectId,
) -> Option<(gix::Commit<'_>, ObjectId, Option<ObjectId>)> {
    let commit = repo.find_commit(id).ok()?;
    let tree = commit.tree_id().ok()?.detach();
    let parent = commit.parent_ids().next().map(|it| it.detach());
    let is_cut_off = parent.is_none() && find_field(&commit.data, "parent ").is_some();
    (!is_cut_off).then_some((commit, tree, parent))
}

/// The header line of a commit that begins with this word, without the word.
fn find_field<'c>(commit: &'c [u8], word: &str) -> Option<&'c [u8]> {
    let mut header = commit.lines().take_while(|line| !line.is_empty());
    header.find_map(|line| line.strip_prefix(word.as_bytes()))
}

/// Returns the time of a commit, in seconds since 1970; `None` if the date cannot be read. Old
/// programs wrote such commits, and git accepts them.
pub(super) fn read_date(commit: &[u8]) -> Option<i64> {
    let (_, date) = find_field(commit, "committer ")?.rsplit_once_str(">")?;
    date.to_str().ok()?.split_whitespace().next()?.parse().ok()
}

/// The index of the commit on the line where the side line of a revision branched off.
fn join_base(
    repo: &Repository,
    commits: &[Commit],
    name: &str,
    since: ObjectId,
    head: ObjectId,
    notes: &mut Vec<String>,
) -> Result<usize, SourceError> {
    let base = repo.merge_base(since, head).ok().flatten().map(|it| it.detach());
    let shallow = repo.is_shallow().unwrap_or(false);
    if base != Some(since) {
        let way_out = match base {
            _ if shallow => format!("the clone is shallow, {UNSHALLOW}"),
            Some(base) => {
                let base = base.to_hex_with_len(10);
                format!(
                    "was the history rewritten? walk from their last common commit with \
                     `--since {base}`"
                )
            }
            None => "they have no common commit: check that it belongs to this history".to_owned(),
        };
        return Err(unusable(format!(
            "`{}` is not an ancestor of `HEAD`: {way_out}",
            escape_unprintable(name)
        )));
    }
    let known: BTreeSet<ObjectId> = repo
        .rev_walk([since])
        .all()
        .map_err(|_| unusable(format!("objects are missing or damaged: {REPAIR}")))?
        .filter_map(|info| info.ok().map(|info| info.id))
        .collect();
    let place = commits.iter().rposition(|commit| known.contains(&commit.id));
    let place = place.ok_or_else(|| {
        unusable(format!(
            "`{}` was merged from an unrelated history: name a commit of the main line",
            escape_unprintable(name)
        ))
    })?;
    notes.push(format!(
        "`{}` is on a branch that was merged later: the history starts after {}, where the branch \
         left the line of first parents",
        escape_unprintable(name),
        commits[place].id.to_hex_with_len(10)
    ));
    Ok(place)
}
