//! Resources at a revision of a git repository. It is looked up again and again, so that a branch
//! is followed; nothing is fetched, and no checkout is needed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use abide_source::TrackedRevision;

use crate::error::Error;

use super::{Listing, ResourceFile, Source, is_resource};

/// How many digits of the id of a commit are shown.
const SHOWN: usize = 12;

/// A revision that is followed.
pub(super) struct Git {
    folder: TrackedRevision,
    /// How often it is looked up.
    every: Duration,
    /// What it meant when it was read last, and what was read.
    last: Option<(String, Listing)>,
}

impl Git {
    /// Opens `[REPO#]REV[:FOLDER]`.
    ///
    /// # Errors
    /// No such repository, or a revision that it does not have.
    pub(super) fn open(spec: &str, every: Duration) -> Result<Git, Error> {
        let folder = match spec.split_once('#') {
            Some((repository, spec)) => TrackedRevision::open(Some(Path::new(repository)), spec),
            None => TrackedRevision::open(None, spec),
        };
        let folder = folder.map_err(|error| Error::SourceInvalid(error.to_string()))?;
        folder.now().map_err(|error| Error::SourceInvalid(error.to_string()))?;
        Ok(Git { folder, every, last: None })
    }
}

impl Source for Git {
    fn read(&mut self) -> Result<Listing, Error> {
        let now = self.folder.now().map_err(Error::unavailable)?;
        if let Some((_, listing)) = self.last.as_ref().filter(|(id, _)| *id == now) {
            return Ok(listing.clone());
        }
        let read = self.folder.read(&now, is_resource).map_err(Error::unavailable)?;
        let files = read.files.into_iter();
        let files = files.filter_map(|(path, text)| ResourceFile::of(path, (*text).into()));
        let shown: String = now.chars().take(SHOWN).collect();
        let listing = Listing {
            files: files.collect(),
            notes: read.notes,
            revision: Some(Arc::from(format!("commit {shown}"))),
        };
        self.last = Some((now, listing.clone()));
        Ok(listing)
    }

    fn wait(&mut self) {
        std::thread::sleep(self.every);
    }
}
