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
use std::path::{Path, PathBuf};

use crate::source::canonicalize;
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

/// A file that is to be written, wherever it lies.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The content when it was read; `None` if whatever is there is to be replaced.
    pub old: Option<&'a [u8]>,
    /// The new content.
    pub new: &'a [u8],
    /// True if nobody but its owner may read it.
    pub is_private: bool,
}

/// The folder that holds all of these files, their links followed: a run that writes them keeps its
/// journal there.
pub fn find_common_folder<'p>(paths: impl IntoIterator<Item = &'p Path>) -> io::Result<PathBuf> {
    let mut common: Option<PathBuf> = None;
    for path in paths {
        let target = find_target(path)?;
        let folder = target.parent().unwrap_or(Path::new("/"));
        let shared = match &common {
            None => folder.to_owned(),
            Some(other) => {
                let parts = other.components().zip(folder.components());
                parts.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
            }
        };
        common = Some(shared);
    }
    Ok(common.unwrap_or_else(|| PathBuf::from(".")))
}

/// The path of a file without links.
fn find_target(path: &Path) -> io::Result<PathBuf> {
    Ok(canonicalize(&std::path::absolute(resolve_links(path)?)?))
}

/// Makes all of these changes, or none of them. A file that does not hold what it did when it was
/// read is left alone, and so are the others then.
pub fn replace_all(changes: &[FileChange<'_>]) -> Result<(), UnmadeChange> {
    let Some(first) = changes.first() else { return Ok(()) };
    let failed = |path: &Path, error| UnmadeChange::Failed {
        path: path.to_owned(),
        is_removal: false,
        error,
    };
    let whole = |error| failed(first.path, error);
    let common = find_common_folder(changes.iter().map(|it| it.path)).map_err(whole)?;
    let folder = OpenFolder::make(&common).map_err(whole)?;
    let mut places = Vec::new();
    for change in changes {
        let target = find_target(change.path).map_err(|error| failed(change.path, error))?;
        let place = target.strip_prefix(&common).map_or(target.clone(), Path::to_owned);
        let now = match change.old {
            Some(old) => Some(old.to_vec()),
            None => folder.read(&place).map_err(|error| failed(change.path, error))?,
        };
        places.push((place, now));
    }
    let steps: Vec<FileStep<'_>> = changes
        .iter()
        .zip(&places)
        .map(|(change, (place, old))| FileStep {
            path: place,
            old: old.as_deref(),
            new: Some(change.new),
        })
        .collect();
    let private = changes.iter().zip(&places).filter(|it| it.0.is_private);
    let folder = folder.with_private(private.map(|(_, (place, _))| place.clone()));
    // Messages name files as the user does.
    let named = |path: &Path| {
        let found = places.iter().position(|it| it.0 == path);
        found.map_or(path, |at| changes[at].path).to_owned()
    };
    folder.apply(&steps).map_err(|why| match why {
        UnmadeChange::Edited(paths) => {
            UnmadeChange::Edited(paths.iter().map(|it| named(it)).collect())
        }
        UnmadeChange::Failed { path, is_removal, error } => {
            UnmadeChange::Failed { path: named(&path), is_removal, error }
        }
    })
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
