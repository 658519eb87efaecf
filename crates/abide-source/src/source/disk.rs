//! Single files on disk, read whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use abide_schema::FileText;

use super::failure::{NOT_REGULAR, SourceError, TOO_LARGE, io_reason};

/// The size of the largest file that is read, in bytes: spans are 32-bit byte offsets.
pub const MAX_FILE: u64 = u32::MAX as u64;

/// The size of the largest file beside the protos that is read, in bytes: configuration, locks,
/// accepted findings, lists, ignore files. Whoever proposes a change to a tree chooses their size,
/// and a gigabyte of zeros is a megabyte in git.
pub(super) const MAX_SETTINGS: u64 = 16 << 20;

/// Describes the reason for not reading a larger file.
pub(super) fn over_limit() -> String {
    format!(
        "it is larger than {} MiB, the most that Abide reads of such a file",
        MAX_SETTINGS >> 20
    )
}

/// Reads a file beside the protos: a regular one, within `MAX_SETTINGS` bytes. A pipe or a device
/// would hold up the run, or never end.
pub fn read_settings(path: &Path) -> io::Result<Vec<u8>> {
    // Check before opening: opening a FIFO would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other(NOT_REGULAR));
    }
    read_limited(path)
}

/// Reads a file that a person names, which may be a pipe, within `MAX_SETTINGS` bytes.
pub fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SETTINGS + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_SETTINGS {
        true => Err(io::Error::other(over_limit())),
        false => Ok(bytes),
    }
}

/// A proto file, if there is one at a path.
pub(super) fn find_on_disk(path: &Path) -> Result<Option<FileText>, SourceError> {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    match fs::metadata(path) {
        // Check before opening: opening a FIFO would wait for a writer.
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error)
            if matches!(
                error.kind(),
                NotFound | NotADirectory | InvalidInput | InvalidFilename
            ) =>
        {
            return Ok(None);
        }
        Err(error) => {
            return Err(SourceError::unusable(path.to_string_lossy(), io_reason(&error)));
        }
    }
    read_regular(path, &mut Vec::new())
        .map(Some)
        .map_err(|error| SourceError::unusable(path.to_string_lossy(), io_reason(&error)))
}

/// A file of a list, if it is there.
pub(super) fn find_listed(
    files: &BTreeMap<String, PathBuf>,
    path: &str,
) -> Result<Option<FileText>, SourceError> {
    files.get(path).map_or(Ok(None), |file| find_on_disk(file))
}

/// Reads a file that is known to be regular, with four system calls, and one allocation if the
/// buffer is large enough.
pub(super) fn read_regular(path: &Path, buffer: &mut Vec<u8>) -> io::Result<FileText> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > MAX_FILE {
        return Err(io::Error::other(TOO_LARGE));
    }
    let length = length as usize;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    let mut filled = 0;
    while filled < length {
        match file.read(&mut buffer[filled..length]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer[..filled].into())
}
