//! A tree along the commits of a repository: which files each commit changed.
//!
//! Trees are compared by the ids of their objects, so that a folder that did not change is not
//! looked into, and a blob that did not change is not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use abide_schema::Text;
use gix::bstr::ByteSlice;
use gix::objs::commit::MessageRef;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository, ThreadSafeRepository};

use super::{
    LEAVES, LOOPS, MAX_ENTRIES, MISSING_OBJECT, Target, discover, read_blob, resolve_commit,
    walk_path,
};
use crate::printable::shown;
use crate::source::disk::find_on_disk;
use crate::source::failure::SourceError;
use crate::source::paths::{canonical, is_proto, is_skipped, join, normalize, relative};
use crate::source::roots::{Import, Mount, RootLayout, mount};
use crate::source::spec::SourceOptions;

/// The commits of the line that leads to `HEAD` by first parents, and what of them is a tree.
pub(crate) struct Timeline {
    repository: ThreadSafeRepository,
    /// The folder in the repository that is the tree.
    top: String,
    layout: RootLayout,
    imports: Vec<Import>,
    /// What was before the first commit, if that was not nothing.
    pub(crate) base: Option<Commit>,
    /// Oldest first.
    pub(crate) commits: Vec<Commit>,
    /// What the user should know, one phrase each.
    pub(crate) notes: Vec<String>,
}

/// One commit of a [`Timeline`].
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    /// Its object.
    pub(crate) id: ObjectId,
    /// When it was committed, in seconds since 1970.
    pub(crate) seconds: i64,
    /// The first line of its message.
    pub(crate) subject: String,
    tree: ObjectId,
}

/// A file that a commit added, changed or took away.
#[derive(Clone, Debug)]
pub(crate) struct FileChange {
    /// Which root it belongs to.
    pub(crate) root: u32,
    /// The path that imports use.
    pub(crate) path: Arc<str>,
    /// Its content now; none where it is gone.
    pub(crate) blob: Option<ObjectId>,
}

/// The content of an imported file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// In the repository.
    Blob(ObjectId),
    /// On disk, which has no history.
    Disk(Text),
}

/// An imported file that is not in the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Imported {
    /// The number of its import path, counted on from the roots.
    pub(crate) root: u32,
    /// Its content.
    pub(crate) content: Content,
}

/// Why a history cannot be walked.
fn unusable(reason: impl fmt::Display) -> SourceError {
    SourceError::unusable("history", reason)
}

const UNSHALLOW: &str = "run `git fetch --unshallow`, or `git fetch --deepen N` for N more commits";

impl Timeline {
    /// The line of commits behind `since`, or from the first one on, for the tree that `folder`
    /// holds; without a folder, that of `options.base`.
    pub(crate) fn open(
        options: &SourceOptions,
        folder: Option<&str>,
        since: Option<&str>,
    ) -> Result<Timeline, SourceError> {
        let repository = discover(options.base)?;
        let mut repo = repository.to_thread_local();
        // Commits that follow each other share most of their folders.
        repo.object_cache_size_if_unset(16 << 20);
        let work = repo.workdir().map(canonical);
        let inside = |path: &Path| match &work {
            Some(work) => relative(&canonical(path), work),
            None => normalize(path.to_str()?),
        };
        let top = match (folder, &work) {
            (None, None) => Some(String::new()),
            (None, Some(_)) => inside(options.base),
            (Some(folder), None) => normalize(folder),
            (Some(folder), Some(_)) => inside(&options.base.join(folder)),
        };
        let top = top.ok_or_else(|| {
            unusable("the folder lies outside of the repository: name one of its folders")
        })?;
        let mut layout = RootLayout::new(options.roots)?;
        // A folder of the repository is read at each commit, and is empty before it is there.
        let within = |written: &str| inside(&options.base.join(written)).map(Mount::Inside);
        // What holds of one commit is no news of a whole history.
        let imports = mount(options, within, Some(&top), &mut layout, &mut Vec::new());
        let mut notes = Vec::new();
        let (base, commits) = line(&repo, since, &mut notes)?;
        let timeline =
            Timeline { repository: repository.clone(), top, layout, imports, base, commits, notes };
        Ok(timeline)
    }

    /// The folder of the tree, as messages call it.
    pub(crate) fn top(&self) -> &str {
        if self.top.is_empty() { "." } else { &self.top }
    }

    /// How many roots the tree has.
    pub(crate) fn roots(&self) -> u32 {
        self.layout.roots.len() as u32
    }

    /// The name of a file as seen from the tree, or for an imported one as users write it.
    pub(crate) fn display(&self, root: u32, path: &str) -> String {
        let root = root as usize;
        match root.checked_sub(self.layout.roots.len()).and_then(|index| self.imports.get(index)) {
            Some(import) => join(import.written.trim_end_matches('/'), path),
            None if root < self.layout.roots.len() => self.layout.display(root, path),
            None => path.to_owned(),
        }
    }

    /// Stands before the first commit.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let mut repo = self.repository.to_thread_local();
        repo.object_cache_size_if_unset(16 << 20);
        let mounts = self.imports.iter().map(|_| None).collect();
        Cursor {
            timeline: self,
            repo,
            commit: None,
            roots: vec![None; self.layout.roots.len()],
            links: BTreeMap::new(),
            mounts,
            looked_up: BTreeMap::new(),
        }
    }
}

/// A place on a [`Timeline`].
pub(crate) struct Cursor<'t> {
    timeline: &'t Timeline,
    repo: Repository,
    /// The tree of the commit it stands at.
    commit: Option<ObjectId>,
    /// For each root its folder.
    roots: Vec<Option<ObjectId>>,
    /// Files that are links, and the blob that each leads to.
    links: BTreeMap<(u32, Arc<str>), Option<ObjectId>>,
    /// For each import path its folder, if that is in the repository.
    mounts: Vec<Option<ObjectId>>,
    /// What was found where imports lead out of the tree.
    looked_up: BTreeMap<Box<str>, Option<Imported>>,
}

/// What a commit did.
#[derive(Default)]
pub(crate) struct Step {
    /// Files of the tree, in no order.
    pub(crate) files: Vec<FileChange>,
    /// Imported paths that lead elsewhere now.
    pub(crate) imported: Vec<Box<str>>,
}

impl Cursor<'_> {
    /// Moves to a commit.
    pub(crate) fn advance(&mut self, commit: &Commit) -> Result<Step, SourceError> {
        let mut step = Step::default();
        if self.commit.replace(commit.tree) == Some(commit.tree) {
            return Ok(step);
        }
        let timeline = self.timeline;
        let mut found = BTreeMap::new();
        let mut entries = 0;
        for root in 0..self.roots.len() {
            let folder = join(&timeline.top, &timeline.layout.roots[root]);
            let now = match walk_path(&self.repo, commit.tree, &folder) {
                Ok(Some(Target { id, kind: EntryKind::Tree, .. })) => Some(id),
                Ok(_) | Err(LEAVES | LOOPS) => None,
                Err(reason) => return Err(unusable(reason)),
            };
            let before = mem::replace(&mut self.roots[root], now);
            self.compare(root as u32, before, now, &mut found, &mut entries)?;
        }
        for ((root, path), target) in &mut self.links {
            let display = join(&timeline.top, &timeline.layout.display(*root as usize, path));
            let now = match walk_path(&self.repo, commit.tree, &display) {
                Ok(Some(Target {
                    id, kind: EntryKind::Blob | EntryKind::BlobExecutable, ..
                })) => Some(id),
                _ => None,
            };
            if mem::replace(target, now) != now {
                found.insert((*root, Arc::clone(path)), now);
            }
        }
        let change = |((root, path), blob)| FileChange { root, path, blob };
        step.files = found.into_iter().map(change).collect();
        step.imported = self.look_again(commit.tree)?;
        Ok(step)
    }

    /// Descends into whatever differs between two folders of one root.
    fn compare(
        &mut self,
        root: u32,
        before: Option<ObjectId>,
        now: Option<ObjectId>,
        found: &mut BTreeMap<(u32, Arc<str>), Option<ObjectId>>,
        entries: &mut usize,
    ) -> Result<(), SourceError> {
        // A stack of its own: the depth is the author's choice.
        let mut open = vec![(before, now, String::new())];
        while let Some((before, now, folder)) = open.pop() {
            if before == now {
                continue;
            }
            let (before, now) = (self.folder(before)?, self.folder(now)?);
            *entries += before.len() + now.len();
            if *entries > MAX_ENTRIES {
                return Err(unusable("a tree of it has more than ten million entries"));
            }
            let names: BTreeSet<&Vec<u8>> = before.keys().chain(now.keys()).collect();
            for name in names {
                let (old, new) = (before.get(name), now.get(name));
                if old == new {
                    continue;
                }
                let Ok(name) = name.to_str() else { continue };
                let path = join(&folder, name);
                let display = self.timeline.layout.display(root as usize, &path);
                let tree = |entry: Option<&(EntryKind, ObjectId)>| {
                    let entry = entry.filter(|it| it.0 == EntryKind::Tree)?;
                    (!is_skipped(name) && !self.timeline.layout.ends_at(&display))
                        .then_some(entry.1)
                };
                if tree(old) != tree(new) {
                    open.push((tree(old), tree(new), path.clone()));
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

    fn folder(
        &self,
        id: Option<ObjectId>,
    ) -> Result<BTreeMap<Vec<u8>, (EntryKind, ObjectId)>, SourceError> {
        let Some(id) = id else { return Ok(BTreeMap::new()) };
        let tree = self.repo.find_tree(id).map_err(|_| unusable(MISSING_OBJECT))?;
        let mut entries = BTreeMap::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|_| unusable(MISSING_OBJECT))?;
            entries.insert(entry.filename().to_vec(), (entry.mode().kind(), entry.object_id()));
        }
        Ok(entries)
    }

    /// Imported paths that lead elsewhere since a folder they are looked for in has changed.
    fn look_again(&mut self, tree: ObjectId) -> Result<Vec<Box<str>>, SourceError> {
        let mut changed = false;
        for (import, mount) in self.timeline.imports.iter().zip(&mut self.mounts) {
            let Mount::Inside(folder) = &import.at else { continue };
            let now = match walk_path(&self.repo, tree, folder) {
                Ok(Some(Target { id, kind: EntryKind::Tree, .. })) => Some(id),
                Ok(_) | Err(LEAVES | LOOPS) => None,
                Err(reason) => return Err(unusable(reason)),
            };
            changed |= mem::replace(mount, now) != now;
        }
        let mut stale = Vec::new();
        if changed {
            for (path, before) in mem::take(&mut self.looked_up) {
                let now = self.look_up(&path)?;
                if now != before {
                    stale.push(path.clone());
                }
                self.looked_up.insert(path, now);
            }
        }
        Ok(stale)
    }

    /// A file that others import and that is not in the tree.
    pub(crate) fn import(&mut self, path: &str) -> Result<Option<Imported>, SourceError> {
        if let Some(known) = self.looked_up.get(path) {
            return Ok(known.clone());
        }
        let found = self.look_up(path)?;
        self.looked_up.insert(path.into(), found.clone());
        Ok(found)
    }

    fn look_up(&self, path: &str) -> Result<Option<Imported>, SourceError> {
        if normalize(path).as_deref() != Some(path) || path.is_empty() {
            return Ok(None);
        }
        let roots = self.timeline.layout.roots.len();
        for (index, import) in self.timeline.imports.iter().enumerate() {
            let content = match &import.at {
                Mount::Inside(folder) => match self.commit {
                    Some(tree) => match walk_path(&self.repo, tree, &join(folder, path)) {
                        Ok(Some(Target {
                            id,
                            kind: EntryKind::Blob | EntryKind::BlobExecutable,
                            ..
                        })) => Some(Content::Blob(id)),
                        Ok(_) | Err(LEAVES | LOOPS) => None,
                        Err(reason) => return Err(unusable(reason)),
                    },
                    None => None,
                },
                Mount::Disk(folder) => find_on_disk(&folder.join(path))?.map(Content::Disk),
            };
            if let Some(content) = content {
                return Ok(Some(Imported { root: (roots + index) as u32, content }));
            }
        }
        Ok(None)
    }

    /// The bytes of a blob.
    pub(crate) fn text(&self, id: ObjectId) -> Result<Text, SourceError> {
        read_blob(&self.repo, id).map_err(unusable)
    }

    /// The text of a file beside the roots at the commit it stands at, such as a lock.
    pub(crate) fn beside(&self, name: &str) -> Result<Option<ObjectId>, SourceError> {
        let Some(tree) = self.commit else { return Ok(None) };
        match walk_path(&self.repo, tree, &join(&self.timeline.top, name)) {
            Ok(Some(Target { id, kind: EntryKind::Blob | EntryKind::BlobExecutable, .. })) => {
                Ok(Some(id))
            }
            Ok(_) | Err(LEAVES | LOOPS) => Ok(None),
            Err(reason) => Err(unusable(reason)),
        }
    }
}

/// The line of first parents from `HEAD` back to `since`, oldest first, and what was before it.
fn line(
    repo: &Repository,
    since: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(Option<Commit>, Vec<Commit>), SourceError> {
    let head = resolve_commit(repo, "HEAD")?;
    let since = since.map(|since| Ok((since, resolve_commit(repo, since)?))).transpose()?;
    let shallow: BTreeSet<ObjectId> = match repo.shallow_commits() {
        Ok(Some(commits)) => commits.iter().copied().collect(),
        _ => BTreeSet::new(),
    };
    let mut commits = Vec::new();
    let mut next = Some(head);
    let mut cut = false;
    let mut dateless = BTreeSet::new();
    while let Some(id) = next {
        let commit = repo.find_commit(id).map_err(|_| unusable(MISSING_OBJECT))?;
        let tree = commit.tree_id().map_err(|_| unusable(MISSING_OBJECT))?.detach();
        cut = shallow.contains(&id);
        let parent = commit.parent_ids().next().map(|it| it.detach());
        if parent.is_none() && field(&commit.data, "parent ").is_some() {
            return Err(unusable(MISSING_OBJECT));
        }
        next = if cut { None } else { parent };
        let seconds = date(&commit.data).unwrap_or_else(|| {
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
    // The first ones have no commit before them that tells a date.
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
            None => joined(repo, &commits, name, since, head, notes)?,
        };
        let before = commits.drain(..=place).next_back();
        base = before;
    } else if cut {
        if commits.len() == 1 {
            return Err(unusable(format!(
                "the clone is shallow and holds one commit only, which has nothing before it to \
                 be compared with: {UNSHALLOW}"
            )));
        }
        let first = commits.remove(0);
        notes.push(format!(
            "the clone is shallow: the history begins behind {}, what was before is not there; {UNSHALLOW}",
            first.id.to_hex_with_len(10)
        ));
        base = Some(first);
    }
    let undated: Vec<&Commit> = commits.iter().filter(|it| is_dateless(it)).collect();
    if let Some(first) = undated.first() {
        let first = first.id.to_hex_with_len(10);
        notes.push(match undated.len() {
            1 => format!("{first} tells no date that can be read: it has that of the commit beside it"),
            count => format!(
                "{count} commits tell no date that can be read, {first} the first: they have those of \
                 commits beside them"
            ),
        });
    }
    Ok((base, commits))
}

/// What the header of a commit says behind this word.
fn field<'c>(commit: &'c [u8], word: &str) -> Option<&'c [u8]> {
    let mut header = commit.lines().take_while(|line| !line.is_empty());
    header.find_map(|line| line.strip_prefix(word.as_bytes()))
}

/// When a commit was committed, in seconds since 1970; none where nobody can tell. Old programs
/// wrote such commits, and git walks past them.
fn date(commit: &[u8]) -> Option<i64> {
    let (_, date) = field(commit, "committer ")?.rsplit_once_str(">")?;
    date.to_str().ok()?.split_whitespace().next()?.parse().ok()
}

/// Where on the line a revision joined it, which is not on the line itself.
fn joined(
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
                    "was the history rewritten? their last common commit is {base}: walk from there \
                     with `--since {base}`"
                )
            }
            None => "they have no common commit: check that it belongs to this history".to_owned(),
        };
        return Err(unusable(format!("`{}` is no ancestor of `HEAD`: {way_out}", shown(name))));
    }
    let known: BTreeSet<ObjectId> = repo
        .rev_walk([since])
        .all()
        .map_err(|_| unusable(MISSING_OBJECT))?
        .filter_map(|info| info.ok().map(|info| info.id))
        .collect();
    let place = commits.iter().rposition(|commit| known.contains(&commit.id));
    let place = place.ok_or_else(|| {
        unusable(format!(
            "`{}` was merged from an unrelated history: name a commit of the main line",
            shown(name)
        ))
    })?;
    notes.push(format!(
        "`{}` is on a side line that was merged later: the history begins behind {}, where it left \
         the line of first parents",
        shown(name),
        commits[place].id.to_hex_with_len(10)
    ));
    Ok(place)
}
