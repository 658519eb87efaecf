//! What a server owes its clients beyond its own life: the resources that it served last, those that
//! it took back, and what its operator set. The next process gets it over the restart socket, or reads
//! it from the folder of `--state-dir`.
//!
//! Layout, all numbers little-endian: the magic (8 bytes), the layout version (4), zeros (4), a
//! checksum of the body (8), and the body: a message `abide.restart.v1.State`.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_xds::{ResourceVersion, RolledBack};
use prost::Message;

use super::ServerState;
use crate::checksum::checksum;
use crate::error::Error;
use crate::resources::ResourceFile;

const MAGIC: &[u8; 8] = b"abidesta";
/// The version of the layout. A process that does not know it begins anew.
const LAYOUT: u32 = 1;
const HEADER: usize = 24;
/// The number of bytes a state may have.
const MAX_BYTES: usize = 512 << 20;
/// The number of bytes of all files of a state. Of the listings, the oldest ones are left out.
const MAX_FILE_BYTES: usize = 256 << 20;

/// What a process leaves to the next one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SavedState {
    /// The files that were served last, the newest at the end.
    #[prost(message, repeated, tag = "1")]
    pub(super) listings: Vec<SavedListing>,
    #[prost(message, repeated, tag = "2")]
    pub(super) rolled_back: Vec<SavedRollBack>,
    /// The runtime that the operator set, by key.
    #[prost(btree_map = "string, string", tag = "3")]
    pub(super) runtime: BTreeMap<String, String>,
    #[prost(bool, tag = "4")]
    pub(super) fails_health_checks: bool,
}

/// The files of one moment.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedListing {
    #[prost(string, tag = "1")]
    pub(super) revision: String,
    #[prost(message, repeated, tag = "2")]
    files: Vec<SavedFile>,
}

#[derive(Clone, PartialEq, Message)]
struct SavedFile {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(bytes = "vec", tag = "2")]
    content: Vec<u8>,
}

/// A resource that was taken back.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedRollBack {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    version: String,
    #[prost(string, tag = "4")]
    release: String,
    #[prost(uint32, tag = "5")]
    clients: u32,
    #[prost(string, tag = "6")]
    message: String,
}

/// A text of bytes that is not a state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SavedStateError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is not a state of a server, or was cut off")]
    NotState,
    #[error("it has the layout {0}, known is {LAYOUT}")]
    UnknownLayout(u32),
}

impl SavedListing {
    pub(super) fn new(revision: Option<&str>, files: &[ResourceFile]) -> SavedListing {
        let file =
            |it: &ResourceFile| SavedFile { path: it.path.clone(), content: it.bytes.to_vec() };
        SavedListing {
            revision: revision.unwrap_or_default().to_owned(),
            files: files.iter().map(file).collect(),
        }
    }

    /// Its files. One whose name does not say its notation is passed over.
    pub(super) fn files(&self) -> Vec<ResourceFile> {
        let files = self.files.iter();
        files.filter_map(|it| ResourceFile::of(it.path.clone(), Arc::from(&*it.content))).collect()
    }

    fn size(&self) -> usize {
        self.files.iter().map(|it| it.path.len() + it.content.len()).sum()
    }
}

impl From<&RolledBack> for SavedRollBack {
    fn from(it: &RolledBack) -> SavedRollBack {
        SavedRollBack {
            type_url: it.resource.type_url.to_string(),
            name: it.resource.name.to_string(),
            version: it.resource.version.to_string(),
            release: it.release.clone(),
            clients: u32::try_from(it.clients).unwrap_or(u32::MAX),
            message: it.message.clone(),
        }
    }
}

impl From<SavedRollBack> for RolledBack {
    fn from(it: SavedRollBack) -> RolledBack {
        RolledBack {
            resource: ResourceVersion {
                type_url: it.type_url.into(),
                name: it.name.into(),
                version: it.version.into(),
            },
            release: it.release,
            clients: it.clients as usize,
            message: it.message,
        }
    }
}

impl SavedState {
    /// Writes it out.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, mut out: impl Write) -> io::Result<()> {
        let body = self.encode_to_vec();
        out.write_all(MAGIC)?;
        out.write_all(&LAYOUT.to_le_bytes())?;
        out.write_all(&[0; 4])?;
        out.write_all(&checksum(body.len() as u64, &body).to_le_bytes())?;
        out.write_all(&body)
    }

    /// Reads what another process wrote.
    ///
    /// # Errors
    /// Bytes that are not a whole state, or one of another layout.
    pub(crate) fn read(from: impl Read) -> Result<SavedState, SavedStateError> {
        let mut bytes = Vec::new();
        from.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        let (Some((header, body)), true) =
            (bytes.split_at_checked(HEADER), bytes.len() <= MAX_BYTES)
        else {
            return Err(SavedStateError::NotState);
        };
        if !header.starts_with(MAGIC) {
            return Err(SavedStateError::NotState);
        }
        let layout = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        if layout != LAYOUT {
            return Err(SavedStateError::UnknownLayout(layout));
        }
        if header[16..] != checksum(body.len() as u64, body).to_le_bytes() {
            return Err(SavedStateError::NotState);
        }
        SavedState::decode(body).map_err(|_| SavedStateError::NotState)
    }

    /// Leaves out the oldest listings until the rest has few enough bytes.
    pub(super) fn bounded(mut self) -> SavedState {
        let mut bytes = 0;
        let sizes = self.listings.iter().rev().map(SavedListing::size);
        let fitting = sizes.take_while(|it| {
            bytes += it;
            bytes <= MAX_FILE_BYTES
        });
        let first = self.listings.len() - fitting.count();
        self.listings.drain(..first);
        self
    }
}

/// The folder of `--state-dir`.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder(PathBuf);

impl StateFolder {
    const FILE: &str = "state";

    /// Makes the folder, if it is not there yet, for its owner alone.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub(crate) fn open(path: &Path) -> Result<StateFolder, Error> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = builder.create(path);
        made.map_err(|error| Error::Write { folder: path.to_owned(), error })?;
        Ok(StateFolder(path.to_owned()))
    }

    /// Reads the state of the process before. One that is no good is as if there was none.
    pub(crate) fn read(&self) -> Option<SavedState> {
        let path = self.0.join(StateFolder::FILE);
        let read = match std::fs::File::open(&path) {
            Ok(file) => SavedState::read(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &read {
            tracing::warn!("what was served before is not known: `{}`: {error}", path.display());
        }
        read.ok()
    }

    /// Takes the place of what is there, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&self, state: &SavedState) -> io::Result<()> {
        let beside = self.0.join(format!(".state.{}", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // Resources may be secrets.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&beside).and_then(|mut file| {
            state.write(&mut file)?;
            file.sync_all()?;
            std::fs::rename(&beside, self.0.join(StateFolder::FILE))
        });
        if written.is_err() {
            // The error that counts is the first one.
            let _ = std::fs::remove_file(&beside);
        }
        written
    }
}

/// Keeps the state of a server in a folder, whenever it changes.
pub(crate) async fn save_on_change(folder: StateFolder, fleet: Arc<ServerState>) {
    let (mut served, mut verdicts) = (fleet.subscribe(), fleet.subscribe_verdicts());
    let mut last = None;
    loop {
        served.borrow_and_update();
        verdicts.borrow_and_update();
        let state = fleet.save();
        // Two processes must not write the same file, and what was never served is not worth it.
        let is_ours = !state.listings.is_empty() && !fleet.gates.is_handed_over();
        if is_ours && last.as_ref() != Some(&state) {
            match tokio::task::block_in_place(|| folder.write(&state)) {
                Ok(()) => last = Some(state),
                Err(error) => {
                    tracing::error!("cannot write to `{}`: {error}", folder.0.display());
                }
            }
        }
        tokio::select! {
            changed = served.changed() => if changed.is_err() { return },
            changed = verdicts.changed() => if changed.is_err() { return },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SavedState {
        let file = ResourceFile::of("a.yaml".to_owned(), Arc::from(&b"name: a"[..]));
        let files: Vec<ResourceFile> = file.into_iter().collect();
        SavedState {
            listings: vec![SavedListing::new(Some("commit 1"), &files)],
            rolled_back: vec![SavedRollBack { name: "a".to_owned(), ..SavedRollBack::default() }],
            runtime: [("key".to_owned(), "1".to_owned())].into(),
            fails_health_checks: true,
        }
    }

    #[test]
    fn what_is_cut_off_changed_or_of_another_layout_is_not_a_state() {
        let mut bytes = Vec::new();
        state().write(&mut bytes).expect("memory");
        assert_eq!(SavedState::read(&*bytes).expect("it is whole"), state());
        for end in 0..bytes.len() {
            assert!(SavedState::read(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            // The four zeros are for later layouts.
            assert_eq!(SavedState::read(&*other).is_err(), !(12..16).contains(&at), "{at}");
        }
    }

    #[test]
    fn the_oldest_listings_make_room() {
        let large = |content: usize| SavedListing {
            revision: String::new(),
            files: vec![SavedFile { path: "a".to_owned(), content: vec![0; content] }],
        };
        let of = |sizes: &[usize]| {
            let listings = sizes.iter().map(|it| large(*it)).collect();
            SavedState { listings, ..SavedState::default() }.bounded().listings.len()
        };
        assert_eq!(of(&[1, 1, 1]), 3);
        assert_eq!(of(&[MAX_FILE_BYTES, 1, 1]), 2);
        assert_eq!(of(&[1, 1, MAX_FILE_BYTES]), 0);
    }
}
