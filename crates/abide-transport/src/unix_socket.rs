//! Unix-domain sockets at paths.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// The permission of a socket that only this user can open.
pub const OWNER_ONLY: u32 = 0o600;

/// Listens at a path with these bits of permission. The socket is made beside its place and
/// moved there: that of the process before this one is replaced, and nobody gets in before it is
/// closed to others. Nothing else than a socket is ever replaced.
///
/// # Errors
/// A path where something else is than a socket, or that the system refuses.
pub fn listen(path: &Path, mode: u32) -> io::Result<UnixListener> {
    if path.symlink_metadata().is_ok_and(|it| !it.file_type().is_socket()) {
        return Err(io::Error::other("something is there, and it is no socket"));
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.metadata().is_ok_and(|it| it.permissions().mode() & 0o022 != 0) {
        tracing::warn!(
            folder = %folder.display(),
            "others may write to the folder of the socket {}, and put their own in its place",
            path.display()
        );
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let _ = std::fs::remove_file(&beside);
    let listener = UnixListener::bind(&beside)?;
    let closed = std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(mode));
    closed.and_then(|()| std::fs::rename(&beside, path))?;
    Ok(listener)
}
