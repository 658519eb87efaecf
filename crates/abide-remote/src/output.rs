//! The outputs: the set, and what is said beside it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::RemoteError;

/// Writes a line to standard error. Nobody has to read it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes bytes to a file, all or none of them, or to standard output.
pub(crate) fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), RemoteError> {
    let Some(path) = path.filter(|it| *it != Path::new("-")) else {
        let mut out = io::stdout().lock();
        return out.write_all(bytes).and_then(|()| out.flush()).map_err(RemoteError::Output);
    };
    write_file(path, bytes).map_err(|error| RemoteError::Write { path: path.to_owned(), error })
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A pipe or a device is written to, not replaced.
    if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".abide-remote-");
    set_usual_permissions(&mut builder);
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Lets others read the file, as far as the user lets them read files.
#[cfg(unix)]
fn set_usual_permissions(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn set_usual_permissions(_: &mut tempfile::Builder<'_, '_>) {}
