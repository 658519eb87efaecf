//! One writer at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::args::Global;
use crate::error::Error;
use crate::terminal::say;

/// Keeps every other command that writes to a tree out of its folder while the file lives. The
/// folder itself is what is locked: it is there before the first record, and nothing is left
/// behind.
pub(super) fn exclusive(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    let failed = |error| Error::File { what: format!("cannot lock `{}`", folder.display()), error };
    // Where a folder cannot be opened, or locked, what is written is still compared before.
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            if !global.quiet {
                say("note: waiting for another command that writes to this tree");
            }
            file.lock().map_err(failed)?;
            Ok(Some(file))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
