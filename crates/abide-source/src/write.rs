//! Writes files so that no reader ever sees a half-written one, and nothing else stays behind.

mod attributes;
mod folder;
mod journal;
mod leftovers;
mod stop;
mod target;
mod temp_files;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use target::resolve_links;

pub use folder::{FileStep, OpenFolder, UnmadeChange};
pub use target::Fill;

/// Writes `bytes` to `target`, or to standard output when it is absent or `-`.
///
/// A file is written beside its target and renamed over it, so that an interruption leaves the old
/// content or the new, never a part. The target is what the user names, so its links are followed
/// wherever they lead; they keep pointing at the file that is written. Permissions are kept, and
/// missing folders are created. A closed standard output, as after `| head`, is not an error.
pub fn write(target: Option<&Path>, bytes: &[u8]) -> io::Result<()> {
    write_with(target, &mut |out| out.write_all(bytes))
}

/// Writes as [`write()`] does, a content that never lies in memory as a whole. If `fill` fails, the
/// target keeps its old content.
pub fn write_with(target: Option<&Path>, fill: &mut Fill<'_>) -> io::Result<()> {
    let Some(target) = target.filter(|it| *it != Path::new("-")) else {
        return write_stream(&mut io::stdout(), fill);
    };
    // Renaming over a link would replace the link and leave its file as it was.
    let target = resolve_links(target)?;
    match fs::metadata(&target) {
        Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A device or a pipe cannot be replaced: write into it.
        Ok(old) if !old.is_file() => {
            return write_stream(&mut fs::OpenOptions::new().write(true).open(&target)?, fill);
        }
        _ => {}
    }
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty());
    OpenFolder::make(folder.unwrap_or(Path::new(".")))?.replace_with(name.as_ref(), fill)
}

/// Replaces a file that held `old` when it was read. If somebody edited it since, it is left alone.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<(), UnmadeChange> {
    let failed = |error| UnmadeChange::Failed { path: path.to_owned(), is_removal: false, error };
    let target = resolve_links(path).map_err(failed)?;
    let name = target.file_name().unwrap_or_default();
    let folder = OpenFolder::make(target.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    folder.apply(&[FileStep { path: name.as_ref(), old: Some(old), new: Some(new) }])
}

/// Returns true if a run wrote a part of what it wants to write in a folder, and goes on or was
/// killed.
pub fn is_half_written(folder: &Path) -> bool {
    journal::is_in(folder)
}

fn write_stream(stream: &mut (impl Write + Send), fill: &mut Fill<'_>) -> io::Result<()> {
    match fill(stream).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(io::ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        let write = |kind| write_stream(&mut Closed(kind), &mut |out| out.write_all(b"x"));
        assert!(write(io::ErrorKind::BrokenPipe).is_ok());
        assert!(write(io::ErrorKind::StorageFull).is_err());
    }
}
