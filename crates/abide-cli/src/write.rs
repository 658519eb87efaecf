//! Writes files so that no reader ever sees a half-written one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many links a path may lead through, as in most kernels; more are taken for a loop.
const MAX_LINKS: u32 = 40;

/// Writes `bytes` to `target`, or to standard output when it is absent or `-`.
///
/// A file is written beside its target and renamed over it, so that an interruption leaves the old
/// content or the new, never a part. A link keeps pointing at the file that is written. Permissions
/// are kept, and missing folders are created. A closed standard output, as after `| head`, is not
/// an error.
pub fn write(target: Option<&Path>, bytes: &[u8]) -> io::Result<()> {
    write_with(target, &mut |out| out.write_all(bytes))
}

/// What writes the content of a file, piece by piece. It may write from another thread.
pub type Fill<'a> = dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()> + 'a;

/// Writes as [`write()`] does, a content that never lies in memory as a whole. If `fill` fails, the
/// target keeps its old content.
pub fn write_with(target: Option<&Path>, fill: &mut Fill<'_>) -> io::Result<()> {
    match target {
        Some(target) if target != Path::new("-") => write_file(target, fill, None),
        _ => write_stream(&mut io::stdout(), fill),
    }
}

/// Replaces a file that no other process writes at the same time. The temporary file has a fixed
/// name, so this run also removes what an interrupted run left behind.
pub fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let beside = format!(".{name}.abide-new");
    write_file(target, &mut |out| out.write_all(bytes), Some(&beside))
}

/// Whether a file still holds what it held when it was read. `None` means that it did not exist.
pub fn is_still(path: &Path, old: Option<&[u8]>) -> io::Result<bool> {
    match fs::read(path) {
        Ok(now) => Ok(old == Some(&now)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(old.is_none()),
        Err(error) => Err(error),
    }
}

fn write_stream(stream: &mut (impl Write + Send), fill: &mut Fill<'_>) -> io::Result<()> {
    match fill(stream).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// The path behind all links, whether or not it exists.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::canonicalize(&path) {
            Ok(path) => return Ok(path),
            Err(_) if !path.is_symlink() => return Ok(path),
            // `canonicalize` refuses a link to a file that does not exist yet; follow it here.
            Err(_) => {
                let target = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
        }
    }
    // The links form a loop, and `canonicalize` reports that.
    fs::canonicalize(&path)
}

fn write_file(target: &Path, fill: &mut Fill<'_>, beside: Option<&str>) -> io::Result<()> {
    // Renaming over a link would replace the link and leave its file as it was.
    let target = end_of_links(target)?;
    let old = match fs::metadata(&target) {
        Ok(old) if old.is_file() => Some(old),
        // A device or a pipe cannot be replaced: write into it.
        Ok(old) if !old.is_dir() => {
            return write_stream(&mut fs::OpenOptions::new().write(true).open(&target)?, fill);
        }
        Ok(_) => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Err(_) => None,
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".abide-");
    if let Some(name) = beside {
        builder.prefix(name).rand_bytes(0);
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    #[cfg(unix)]
    if old.is_none() {
        use std::os::unix::fs::PermissionsExt;
        // The mode that any other program would ask for; the umask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // Drop the random name of the temporary file: it would only confuse in an error.
    let file = builder.tempfile_in(&folder);
    let mut file = file.map_err(|error| io::Error::from(error.kind()))?;
    fill(&mut file)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
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
