//! Resources in a folder. A change is a file that was moved into place, or a link
//! that leads elsewhere: what is still being written is never read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::Error;

use super::{Listing, MAX_SETTLE_TIME, ResourceFile, SETTLE_TIME, Source, is_resource};

/// When a folder is read though nobody said that it changed: links may be swapped elsewhere.
const RECHECK: Duration = Duration::from_secs(5);

/// Folders may nest this deep, whatever links are in them.
const MAX_DEPTH: usize = 16;

/// What tells one file from another at the same path, and from itself after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    /// Device, number and birth: numbers of files that are gone are given to new ones.
    place: (u64, u64, Option<SystemTime>),
    modified: Option<SystemTime>,
    len: u64,
}

impl FileIdentity {
    fn of(data: &Metadata) -> FileIdentity {
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt;
            (data.dev(), data.ino(), data.created().ok())
        };
        // Elsewhere, what was modified is another file.
        #[cfg(not(unix))]
        let place = (
            0,
            data.modified()
                .ok()
                .and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok())
                .map_or(0, |it| it.as_nanos() as u64),
            data.created().ok(),
        );
        FileIdentity { place, modified: data.modified().ok(), len: data.len() }
    }
}

/// Whether a file has other names.
fn has_links(data: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(data) > 1;
    #[cfg(not(unix))]
    return {
        _ = data;
        false
    };
}

/// A folder of resources that is watched.
pub(super) struct Folder {
    contents: FolderContents,
    /// What it led to when it was read last.
    watched: Option<FolderWatch>,
}

/// Who reports what happens in a folder.
struct FolderWatch {
    /// The folder, whatever links lead to it.
    top: PathBuf,
    identity: FileIdentity,
    events: Receiver<notify::Result<Event>>,
    /// Nobody reports changes any more once it is dropped.
    _watcher: Option<RecommendedWatcher>,
}

impl FolderWatch {
    /// Watches the folder at an absolute path without links, as its events have it.
    fn begin(top: PathBuf, identity: FileIdentity) -> FolderWatch {
        let (sender, events) = channel();
        // Whoever hears nothing any more is gone.
        let watcher = notify::recommended_watcher(move |event| drop(sender.send(event)));
        let watched = watcher.and_then(|mut it| {
            it.watch(&top, RecursiveMode::Recursive)?;
            Ok(it)
        });
        if let Err(error) = &watched {
            tracing::warn!(%error, "the system does not report changes: looking for them every 5 s");
        }
        FolderWatch { top, identity, events, _watcher: watched.ok() }
    }

    /// Whether an event says that the folder itself is gone.
    fn ends_with(&self, event: &Event) -> bool {
        matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
            && event.paths.contains(&self.top)
    }
}

impl Folder {
    /// Opens a folder, which must be there.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub(super) fn open(root: &Path) -> Result<Folder, Error> {
        std::fs::read_dir(root).map_err(|error| Error::cannot_read(root, error))?;
        Ok(Folder { contents: FolderContents::new(root.to_owned()), watched: None })
    }

    /// Watches what is at its path now: a link may lead elsewhere, and a folder that was deleted
    /// and put back is another one.
    fn watch(&mut self) -> Result<PathBuf, Error> {
        let root = &self.contents.root;
        let found =
            root.canonicalize().and_then(|top| Ok((FileIdentity::of(&top.metadata()?), top)));
        let (identity, top) = found.map_err(|error| cannot_read(root, &error))?;
        let is_same = |it: &FolderWatch| it.top == top && it.identity.place == identity.place;
        if !self.watched.as_ref().is_some_and(is_same) {
            self.contents = FolderContents::new(root.clone());
            self.watched = Some(FolderWatch::begin(top.clone(), identity));
        }
        Ok(top)
    }

    /// Takes an event in. Returns what it is about.
    fn note(&mut self, event: Event) -> EventEffect {
        if self.watched.as_ref().is_some_and(|it| it.ends_with(&event)) {
            self.watched = None;
            return EventEffect::Change;
        }
        self.contents.note(event)
    }
}

impl Source for Folder {
    fn read(&mut self) -> Result<Listing, Error> {
        let top = self.watch()?;
        // Who opened what before it is read here.
        while let Some(Ok(Ok(event))) = self.watched.as_ref().map(|it| it.events.try_recv()) {
            self.note(event);
        }
        self.contents.read(&top)
    }

    /// Returns as well after [`RECHECK`].
    fn wait(&mut self) {
        let mut begin = None;
        let mut quiet = SETTLE_TIME;
        loop {
            // What is gone may be back.
            let Some(watched) = &self.watched else {
                return std::thread::sleep(if begin.is_some() { SETTLE_TIME } else { RECHECK });
            };
            let event = match begin {
                None => watched.events.recv_timeout(RECHECK),
                Some(begin) if Instant::now() < begin + MAX_SETTLE_TIME => {
                    watched.events.recv_timeout(quiet)
                }
                Some(_) => return,
            };
            match event {
                Ok(Ok(event)) => {
                    let news = self.note(event);
                    if news != EventEffect::None {
                        begin = begin.or_else(|| Some(Instant::now()));
                    }
                    if news == EventEffect::Folder {
                        quiet = MAX_SETTLE_TIME;
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "changes may have been missed"),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(RECHECK),
            }
        }
    }
}

/// Reports what cannot be read now: it may be back at the next reading.
fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::unavailable(format_args!("cannot read `{}`: {error}", path.display()))
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventEffect {
    /// Nothing that counts.
    None,
    Change,
    /// A folder is new. What is made in it at once is not reported: nobody watches it yet.
    Folder,
}

/// Who opened a file since it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenedBy {
    /// Nobody, and it is not reported yet that it was opened to be read here.
    ByNobody,
    ToRead,
    /// Somebody else did: what is written then is an edit in place.
    ByOthers,
}

/// What is in a folder, with what was read of it.
#[derive(Debug)]
struct FolderContents {
    /// As the operator wrote it.
    root: PathBuf,
    known: BTreeMap<String, (FileIdentity, Arc<[u8]>)>,
    /// Files that somebody writes and has not closed yet. Paths here have no links in them.
    open: BTreeSet<PathBuf>,
    /// Files that were read. One that is not among them is read anew.
    read: BTreeMap<PathBuf, OpenedBy>,
}

impl FolderContents {
    fn new(root: PathBuf) -> FolderContents {
        FolderContents {
            root,
            known: BTreeMap::new(),
            open: BTreeSet::new(),
            read: BTreeMap::new(),
        }
    }

    /// Somebody creates this file and has not closed it. A link is there at once.
    fn record_creation(&mut self, path: PathBuf) {
        let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink() || has_links(&it));
        if !is_link {
            self.open.insert(path);
        }
    }

    /// Somebody opened this file, perhaps for the reading here.
    fn record_open(&mut self, path: &Path) {
        if let Some(opened) = self.read.get_mut(path) {
            *opened = match opened {
                OpenedBy::ByNobody => OpenedBy::ToRead,
                OpenedBy::ToRead | OpenedBy::ByOthers => OpenedBy::ByOthers,
            };
        }
    }

    /// Somebody writes to this file. Who opened it before anybody watched is not done with it.
    fn record_write(&mut self, path: PathBuf) {
        if self.read.get(&path) != Some(&OpenedBy::ByOthers) {
            self.open.insert(path);
        }
    }

    /// This file was closed by who wrote it.
    fn record_close(&mut self, path: &Path) {
        self.open.remove(path);
        if self.read.get(path) != Some(&OpenedBy::ByOthers) {
            self.read.remove(path);
        }
    }

    /// Something else is at this path now, or nothing.
    fn record_replacement(&mut self, path: &Path) {
        self.open.retain(|it| !it.starts_with(path));
        self.read.remove(path);
    }

    /// Takes an event in.
    fn note(&mut self, event: Event) -> EventEffect {
        let is_linux = cfg!(target_os = "linux");
        if event.need_rescan() {
            // It is unknown who closed what.
            self.open.clear();
        }
        let paths: Vec<PathBuf> = event.paths.iter().map(|it| resolve_links(it)).collect();
        match event.kind {
            EventKind::Create(CreateKind::Folder) if is_linux => {
                let is_hidden = paths.iter().all(|it| is_hidden(it));
                return if is_hidden { EventEffect::Change } else { EventEffect::Folder };
            }
            EventKind::Create(CreateKind::File) if is_linux => {
                paths.into_iter().for_each(|path| self.record_creation(path));
            }
            EventKind::Access(AccessKind::Open(_)) => {
                paths.iter().for_each(|path| self.record_open(path));
                return EventEffect::None;
            }
            EventKind::Modify(ModifyKind::Data(_)) if is_linux => {
                paths.into_iter().for_each(|path| self.record_write(path));
            }
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
                paths.iter().for_each(|path| self.record_close(path));
            }
            EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => {
                paths.iter().for_each(|path| self.record_replacement(path));
            }
            EventKind::Access(_) => return EventEffect::None,
            _ => {}
        }
        EventEffect::Change
    }

    /// Reads what is there now. A file that was edited in place counts as it was. `top` is the
    /// folder, without links.
    ///
    /// # Errors
    /// A folder or file that cannot be read now.
    fn read(&mut self, top: &Path) -> Result<Listing, Error> {
        let failed = |relative: &str, error: std::io::Error| {
            cannot_read(&self.root.join(relative.trim_end_matches('/')), &error)
        };
        let mut listing = Listing::default();
        let mut known = BTreeMap::new();
        let mut read = BTreeMap::new();
        let mut folders = vec![(top.to_owned(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(|error| failed(&prefix, error))? {
                let path = entry.map_err(|error| failed(&prefix, error))?.path();
                let Some(name) = path.file_name().and_then(|it| it.to_str()) else { continue };
                if is_hidden(&path) {
                    continue;
                }
                let relative = format!("{prefix}{name}");
                let (Ok(target), Ok(data)) = (path.canonicalize(), path.metadata()) else {
                    // What is not there any more was deleted. A link to nothing may be swapped while this
                    // runs, and the next reading sees to it; or it is a mistake.
                    if path.is_symlink() && is_resource(name) {
                        let was = self.known.get(&relative).cloned();
                        let so = if was.is_some() { "counts as it was" } else { "was not read" };
                        listing.notes.push(format!("`{relative}` is a link to nothing and {so}"));
                        if let Some((identity, bytes)) = was {
                            known.insert(relative.clone(), (identity, Arc::clone(&bytes)));
                            listing.files.extend(ResourceFile::of(relative, bytes));
                        }
                    }
                    continue;
                };
                if !target.starts_with(top) {
                    listing
                        .notes
                        .push(format!("`{relative}` is a link out of the folder and was not read"));
                } else if data.is_dir() && depth < MAX_DEPTH {
                    folders.push((path, format!("{relative}/"), depth + 1));
                } else if data.is_file() && is_resource(name) {
                    let now = FileIdentity::of(&data);
                    let opened = self.read.get(&target).copied();
                    let is_open = self.open.contains(&target);
                    let (identity, bytes) = match (self.known.get(&relative), opened) {
                        (Some((then, bytes)), Some(opened)) if then.place == now.place => {
                            if *then != now && !is_open {
                                listing.notes.push(format!(
                                    "`{relative}` was changed in place and counts as it was: write \
                                     a file beside it and move that over it"
                                ));
                            }
                            read.insert(target, opened);
                            (*then, Arc::clone(bytes))
                        }
                        _ if is_open => continue,
                        _ => {
                            let bytes = std::fs::read(&path).map_err(|it| failed(&relative, it))?;
                            read.insert(target, OpenedBy::ByNobody);
                            (now, bytes.into())
                        }
                    };
                    known.insert(relative.clone(), (identity, Arc::clone(&bytes)));
                    listing.files.extend(ResourceFile::of(relative, bytes));
                }
            }
        }
        // Two reports in a row of the same are made one: what is opened from now on is not the last
        // file that was opened here.
        let _ = std::fs::read_dir(top);
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        (self.known, self.read) = (known, read);
        Ok(listing)
    }
}

/// Whether a file or folder is hidden by its name.
fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with('.'))
}

/// The path of something in a folder, whatever links lead to that folder.
fn resolve_links(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|it| it.canonicalize().ok());
    let found = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
    found.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_the_number_of_one_that_is_gone_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("resources");
        std::fs::create_dir(&root).unwrap();
        let put = |text: &str| {
            let beside = folder.path().join("beside");
            std::fs::write(&beside, text).unwrap();
            std::fs::rename(&beside, root.join("a.yaml")).unwrap();
        };
        let root = root.canonicalize().unwrap();
        let birth = || root.join("a.yaml").metadata().and_then(|it| it.created()).ok();
        let mut contents = FolderContents::new(root.clone());
        for round in 0..20 {
            let known = birth();
            // The second one may get the number of the one that the first one replaces.
            put("first: 1");
            put(&format!("round: {round}"));
            // What comes within one tick of the system's clock cannot be told from it.
            while known.is_some() && birth() == known {
                put(&format!("round: {round}"));
            }
            let listing = contents.read(&root).unwrap();
            assert_eq!(*listing.files[0].bytes, *format!("round: {round}").as_bytes());
            assert_eq!(listing.notes, Vec::<String>::new());
        }
    }
}
