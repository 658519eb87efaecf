//! Single files on disk, read whole.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use abide_schema::Text;

use super::failure::{SourceError, TOO_LARGE, io_reason};

/// The size of the largest file that is read, in bytes: spans are 32-bit byte offsets.
pub const MAX_FILE: u64 = u32::MAX as u64;

pub(super) fn find_on_disk(path: &Path) -> Result<Option<Text>, SourceError> {
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

/// Reads a file that is known to be regular, with four system calls, and one allocation if the
/// buffer is large enough.
pub(super) fn read_regular(path: &Path, buffer: &mut Vec<u8>) -> io::Result<Text> {
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
