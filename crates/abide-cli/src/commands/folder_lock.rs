//! One writer at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::file_changes::open_folder;
use crate::args::Global;
use crate::error::Error;
use crate::terminal::eprint_line;

/// Locks the folder of a tree against other commands that write to it, until the file is dropped,
/// and undoes what a killed one left half made there.
///
/// The lock is on the folder itself: it exists before the first record, and no lock file stays
/// behind.
pub(super) fn lock_exclusively(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    let guard = lock(folder, global)?;
    if recover(folder)? && !global.quiet {
        eprint_line(
            "note: an earlier run was interrupted while it wrote to this tree: what it did was undone",
        );
    }
    Ok(guard)
}

/// Undoes what a killed run left half made in a folder. Returns whether there was something.
pub(super) fn recover(folder: &Path) -> Result<bool, Error> {
    let opened = open_folder(folder)?;
    opened.recover().map_err(|error| {
        let what = format!("cannot write to `{}`", folder.display());
        Error::File { what, error }
    })
}

fn lock(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    // Without a lock the command still compares every file with what it read before it writes.
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            if !global.quiet {
                eprint_line("note: waiting for another abide command that is writing to this tree");
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
