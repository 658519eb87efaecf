//! Resources in a folder. A change is a file that was moved into place, or a link
//! that leads elsewhere: what is still being written is never read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use abide_instance::Notation;

/// Folders may nest this deep, whatever links are in them.
const MAX_DEPTH: usize = 16;

/// A file with resources.
#[derive(Clone, Debug)]
pub(crate) struct ResourceFile {
    /// Its path below the folder, with `/`.
    pub(crate) path: String,
    /// Who gets its resources.
    pub(crate) audience: Audience,
    pub(crate) notation: Notation,
    pub(crate) bytes: Arc<[u8]>,
}

/// Who gets resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    Everyone,
    Cluster(String),
    Node(String),
}

impl Audience {
    fn of(path: &str) -> Audience {
        match *path.split('/').collect::<Vec<_>>() {
            ["node-cluster", name, _, ..] => Audience::Cluster(name.to_owned()),
            ["node", id, _, ..] => Audience::Node(id.to_owned()),
            _ => Audience::Everyone,
        }
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Audience::Everyone => f.write_str("everyone"),
            Audience::Cluster(name) => write!(f, "node-cluster/{name}"),
            Audience::Node(id) => write!(f, "node/{id}"),
        }
    }
}

/// What tells one file from another at the same path, and from itself after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    place: (u64, u64),
    modified: Option<SystemTime>,
    len: u64,
}

impl Identity {
    fn of(data: &Metadata) -> Identity {
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt;
            (data.dev(), data.ino())
        };
        // Elsewhere, what was modified is another file.
        #[cfg(not(unix))]
        let place = (
            0,
            data.modified()
                .ok()
                .and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok())
                .map_or(0, |it| it.as_nanos() as u64),
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

/// A folder of resources, with what was read of it.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    known: BTreeMap<String, (Identity, Arc<[u8]>)>,
    /// Files that were created and are not closed yet.
    open: BTreeSet<PathBuf>,
}

/// What is in a folder now.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// In the order of their paths.
    pub(crate) files: Vec<ResourceFile>,
    /// What the operator should know, one phrase each.
    pub(crate) notes: Vec<String>,
}

impl Folder {
    pub(crate) fn new(root: PathBuf) -> Folder {
        Folder { root, known: BTreeMap::new(), open: BTreeSet::new() }
    }

    /// Somebody creates this file and has not closed it. A link is there at once.
    pub(crate) fn began(&mut self, path: PathBuf) {
        let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink() || has_links(&it));
        if !is_link {
            self.open.insert(path);
        }
    }

    /// This file was closed, or moved into place.
    pub(crate) fn finished(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// Reads what is there now. A file that was edited in place counts as it was.
    ///
    /// # Errors
    /// A folder or file that cannot be read: one phrase.
    pub(crate) fn read(&mut self) -> Result<Listing, String> {
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
                } else if let (true, Some(notation)) = (data.is_file(), Notation::of_path(name)) {
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
                    let audience = Audience::of(&relative);
                    listing.files.push(ResourceFile { path: relative, audience, notation, bytes });
                }
            }
        }
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.known = known;
        Ok(listing)
    }
}
