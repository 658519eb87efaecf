//! The file by which one container tells the other that the proxy may end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file, which both containers see on a shared volume.
#[derive(Clone, Debug)]
pub(super) struct ReadyFile(PathBuf);

impl ReadyFile {
    pub(super) fn new(path: &Path) -> ReadyFile {
        ReadyFile(path.to_owned())
    }

    /// Returns true if it is there.
    pub(super) fn exists(&self) -> io::Result<bool> {
        fs::exists(&self.0)
    }

    /// Makes it; one that is there already is as good. Where something else is, such as a link, nothing
    /// is written.
    pub(super) fn create(&self) -> io::Result<()> {
        match fs::File::create_new(&self.0) {
            Ok(_) => Ok(()),
            Err(error) => match fs::symlink_metadata(&self.0) {
                Ok(it) if it.is_file() => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Removes what an earlier run left, by which the proxy would be ended at once. True if there
    /// was one.
    pub(super) fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl std::fmt::Display for ReadyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.display().fmt(f)
    }
}
