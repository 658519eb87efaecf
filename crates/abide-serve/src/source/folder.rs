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

use super::{Listing, QUIET, RESTLESS, ResourceFile, Source, is_resource};

/// When a folder is read though nobody said that it changed: links may be swapped elsewhere.
const RECHECK: Duration = Duration::from_secs(5);

/// Folders may nest this deep, whatever links are in them.
const MAX_DEPTH: usize = 16;

/// What tells one file from another at the same path, and from itself after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    /// Device, number and birth: numbers of files that are gone are given to new ones.
    place: (u64, u64, Option<SystemTime>),
    modified: Option<SystemTime>,
    len: u64,
}

impl Identity {
    fn of(data: &Metadata) -> Identity {
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
        Identity { place, modified: data.modified().ok(), len: data.len() }
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
    contents: Contents,
    events: Receiver<notify::Result<Event>>,
    /// Nobody reports changes any more once it is dropped.
    _watcher: Option<RecommendedWatcher>,
}

impl Folder {
    /// # Errors
    /// A folder that cannot be read: one phrase.
    pub(super) fn open(root: &Path) -> Result<Folder, String> {
        std::fs::read_dir(root).map_err(|it| format!("cannot read `{}`: {it}", root.display()))?;
        let (sender, events) = channel();
        // Whoever hears nothing any more is gone.
        let watcher = notify::recommended_watcher(move |event| drop(sender.send(event)));
        let watched = watcher.and_then(|mut it| {
            it.watch(root, RecursiveMode::Recursive)?;
            Ok(it)
        });
        if let Err(error) = &watched {
            tracing::warn!(%error, "the system does not report changes: looking for them every 5 s");
        }
        let contents = Contents::new(root.to_owned());
        Ok(Folder { contents, events, _watcher: watched.ok() })
    }
}

impl Source for Folder {
    fn read(&mut self) -> Result<Listing, String> {
        self.contents.read()
    }

    /// Returns as well after [`RECHECK`].
    fn wait(&mut self) {
        let mut begin = None;
        loop {
            let event = match begin {
                None => self.events.recv_timeout(RECHECK),
                Some(begin) if Instant::now() < begin + RESTLESS => self.events.recv_timeout(QUIET),
                Some(_) => return,
            };
            match event {
                Ok(Ok(event)) => {
                    if self.contents.note(event) {
                        begin = begin.or_else(|| Some(Instant::now()));
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "changes may have been missed"),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(RECHECK),
            }
        }
    }
}

/// What is in a folder, with what was read of it.
#[derive(Debug)]
struct Contents {
    root: PathBuf,
    known: BTreeMap<String, (Identity, Arc<[u8]>)>,
    /// Files that were created and are not closed yet.
    open: BTreeSet<PathBuf>,
}

impl Contents {
    fn new(root: PathBuf) -> Contents {
        Contents { root, known: BTreeMap::new(), open: BTreeSet::new() }
    }

    /// Somebody creates this file and has not closed it. A link is there at once.
    fn began(&mut self, path: PathBuf) {
        let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink() || has_links(&it));
        if !is_link {
            self.open.insert(path);
        }
    }

    /// This file was closed, or moved into place.
    fn finished(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// Takes an event in. Returns whether something changed.
    fn note(&mut self, event: Event) -> bool {
        match event.kind {
            EventKind::Create(CreateKind::File) if cfg!(target_os = "linux") => {
                event.paths.into_iter().for_each(|path| self.began(path));
                true
            }
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Remove(_) => {
                event.paths.iter().for_each(|path| self.finished(path));
                true
            }
            EventKind::Access(_) => false,
            _ => true,
        }
    }

    /// Reads what is there now. A file that was edited in place counts as it was.
    ///
    /// # Errors
    /// A folder or file that cannot be read: one phrase.
    fn read(&mut self) -> Result<Listing, String> {
        let failed = |path: &Path, error: std::io::Error| {
            format!("cannot read `{}`: {error}", path.display())
        };
        let top = self.root.canonicalize().map_err(|error| failed(&self.root, error))?;
        let mut listing = Listing::default();
        let mut known = BTreeMap::new();
        let mut folders = vec![(self.root.clone(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(|error| failed(&folder, error))? {
                let path = entry.map_err(|error| failed(&folder, error))?.path();
                let Some(name) = path.file_name().and_then(|it| it.to_str()) else { continue };
                if name.starts_with('.') {
                    continue;
                }
                let relative = format!("{prefix}{name}");
                // A link may be swapped while this runs; the next reading sees to it.
                let (Ok(target), Ok(data)) = (path.canonicalize(), path.metadata()) else {
                    continue;
                };
                if !target.starts_with(&top) {
                    listing
                        .notes
                        .push(format!("`{relative}` is a link out of the folder and was not read"));
                } else if data.is_dir() && depth < MAX_DEPTH {
                    folders.push((path, format!("{relative}/"), depth + 1));
                } else if data.is_file() && is_resource(name) {
                    let now = Identity::of(&data);
                    let (identity, bytes) = match self.known.get(&relative) {
                        Some((then, bytes)) if then.place == now.place => {
                            if *then != now {
                                listing.notes.push(format!(
                                    "`{relative}` was changed in place and counts as it was: write \
                                     a file beside it and move that over it"
                                ));
                            }
                            (*then, Arc::clone(bytes))
                        }
                        _ if self.open.contains(&path) => continue,
                        _ => {
                            let bytes = std::fs::read(&path).map_err(|it| failed(&path, it))?;
                            (now, bytes.into())
                        }
                    };
                    known.insert(relative.clone(), (identity, Arc::clone(&bytes)));
                    listing.files.extend(ResourceFile::of(relative, bytes));
                }
            }
        }
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.known = known;
        Ok(listing)
    }
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
        let mut contents = Contents::new(root.clone());
        for round in 0..20 {
            // The second one may get the number of the one that the first one replaces.
            put("first: 1");
            std::thread::sleep(Duration::from_millis(10));
            put(&format!("round: {round}"));
            let listing = contents.read().unwrap();
            assert_eq!(*listing.files[0].bytes, *format!("round: {round}").as_bytes());
            assert_eq!(listing.notes, Vec::<String>::new());
        }
    }
}
