//! Attributes of a file besides its content: its owner, its permissions, and extended
//! attributes.

use std::fs::File;
use std::io;

/// Gives a file the permissions of the one that it replaces, and its owner and extended attributes
/// as far as the system lets this user.
pub(super) fn take_over(old: &File, new: &File) -> io::Result<()> {
    let metadata = old.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let now = new.metadata()?;
        let (owner, group) = (metadata.uid(), metadata.gid());
        // Before the permissions, since some of them go with a new owner. The group alone is what
        // others than root may give away.
        if (now.uid(), now.gid()) != (owner, group)
            && fchown(new, Some(owner), Some(group)).is_err()
        {
            let _ = fchown(new, None, Some(group));
        }
    }
    new.set_permissions(metadata.permissions())?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    extended::take_over(old, new);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod extended {
    use std::ffi::CStr;
    use std::fs::File;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};

    /// The longest list of names, and the longest value, that Linux has.
    const LONGEST: usize = 1 << 16;

    /// Copies what can be read and set. Some attributes are the system's own, and some file systems
    /// have none.
    pub(super) fn take_over(old: &File, new: &File) {
        let mut names = vec![0; LONGEST];
        let Ok(length) = flistxattr(old, &mut names[..]) else { return };
        let mut value = vec![0; LONGEST];
        for name in names[..length].split_inclusive(|it| *it == 0) {
            if let Ok(name) = CStr::from_bytes_with_nul(name)
                && let Ok(length) = fgetxattr(old, name, &mut value[..])
            {
                let _ = fsetxattr(new, name, &value[..length], XattrFlags::empty());
            }
        }
    }
}
