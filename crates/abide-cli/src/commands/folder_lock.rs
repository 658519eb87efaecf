//! One writer at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::file_changes::open;
use crate::args::Global;
use crate::error::Error;
use crate::terminal::say;

/// Locks the folder of a tree against other commands that write to it, until the file is dropped,
/// and undoes what a killed one left half made there.
///
/// The lock is on the folder itself: it exists before the first record, and no lock file stays
/// behind.
pub(super) fn exclusive(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    let guard = locked(folder, global)?;
    if recovered(folder)? && !global.quiet {
        say(
            "note: an earlier run was interrupted while it wrote to this tree: what it did was undone",
        );
    }
    Ok(guard)
}

/// Undoes what a killed run left half made in a folder. Returns whether there was something.
pub(super) fn recovered(folder: &Path) -> Result<bool, Error> {
    let opened = open(folder)?;
    opened.recover().map_err(|error| {
        let what = format!("cannot write to `{}`", folder.display());
        Error::File { what, error }
    })
}

fn locked(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    // Without a lock the command still compares every file with what it read before it writes.
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            if !global.quiet {
                say("note: waiting for another abide command that is writing to this tree");
            }
            file.lock().map_err(|error| Error::File {
                what: format!("cannot lock `{}`", folder.display()),
                error,
            })?;
            Ok(Some(file))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
