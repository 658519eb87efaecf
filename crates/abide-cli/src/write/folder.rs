//! A folder that files are written below, and nowhere else.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::litter::{self, Litter};
use super::stop::before;
use super::{Fill, end_of_links};
use crate::printable::shown;
use crate::source::canonical;

/// A folder that files are written below.
///
/// Links in it are followed as long as they stay below it; one that leads out is refused. This is
/// judged by its path for the message, and by the kernel for every access: a link that somebody
/// puts there in between leads nowhere either.
pub struct Folder {
    /// Its path without links.
    path: PathBuf,
    dir: Arc<Dir>,
    /// The folders that were created for it, which go if nothing is written.
    _made: Litter,
    /// The folders in it that were looked through for what dead processes left.
    swept: Mutex<BTreeSet<PathBuf>>,
}

impl Folder {
    /// Opens a folder. Its own path may lead through links: the user names it.
    pub fn open(path: &Path) -> io::Result<Folder> {
        Folder::of(path, Litter::default())
    }

    /// Opens a folder that may not exist yet.
    pub fn make(path: &Path) -> io::Result<Folder> {
        let is_there = |it: &&Path| it.as_os_str().is_empty() || it.is_dir();
        let above = path.ancestors().find(is_there).unwrap_or(path);
        let missing = path.ancestors().take_while(|it| *it != above);
        let missing = missing.filter_map(|it| it.strip_prefix(above).ok().map(Path::to_owned));
        let mut missing: Vec<PathBuf> = missing.collect();
        if missing.is_empty() {
            return Folder::open(path);
        }
        missing.reverse();
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let dir = Arc::new(Dir::open_ambient_dir(above, ambient_authority())?);
        let made = litter::make_folders(&dir, &missing)?;
        Folder::of(path, made)
    }

    fn of(path: &Path, made: Litter) -> io::Result<Folder> {
        let path = fs::canonicalize(path)?;
        let dir = Arc::new(Dir::open_ambient_dir(&path, ambient_authority())?);
        Ok(Folder { path, dir, _made: made, swept: Mutex::default() })
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a path of this folder really is, relative to it; an error if a link on the way leads
    /// out.
    pub fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        if path.components().any(|it| !matches!(it, Component::Normal(_) | Component::CurDir)) {
            return Err(io::Error::other("it is outside of the folder"));
        }
        let mut ancestors: Vec<&Path> = path.ancestors().collect();
        ancestors.reverse();
        for part in ancestors {
            let at = self.path.join(part);
            if at.is_symlink() {
                let end = canonical(&end_of_links(&at)?);
                if !end.starts_with(&self.path) {
                    return Err(io::Error::other(format!(
                        "`{}` is a link to `{}`, which is outside of `{}`: remove the link, or \
                         name the folder that it leads to",
                        shown(&part.to_string_lossy()),
                        shown(&end.to_string_lossy()),
                        shown(&self.path.to_string_lossy()),
                    )));
                }
            }
        }
        let real = canonical(&end_of_links(&self.path.join(path))?);
        let real = real.strip_prefix(&self.path);
        real.map(Path::to_owned).map_err(|_| io::Error::other("it is outside of the folder"))
    }

    /// The content of a file; `None` if there is none.
    pub fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self.dir.read(self.inside(path)?) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a file still holds what it held when it was read. `None` means that it did not
    /// exist.
    pub fn is_still(&self, path: &Path, old: Option<&[u8]>) -> io::Result<bool> {
        Ok(self.read(path)?.as_deref() == old)
    }

    /// Fails if a file is there that its owner protects from being written.
    pub fn unprotected(&self, path: &Path) -> io::Result<()> {
        match self.dir.metadata(self.inside(path)?) {
            Ok(it) if it.permissions().readonly() => Err(read_only()),
            _ => Ok(()),
        }
    }

    /// Replaces a file, or creates it with the folders on the way. A link keeps pointing at the
    /// file that is written, and so do its other names; one that is read-only is refused.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(path, &mut |out| out.write_all(bytes))
    }

    /// Replaces a file with what `fill` writes. If that fails, the file keeps its old content.
    pub(super) fn replace_with(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<()> {
        let path = self.inside(path)?;
        let old = match self.dir.symlink_metadata(&path) {
            Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(old) if old.permissions().readonly() => return Err(read_only()),
            Ok(old) if old.is_file() => Some(old),
            Ok(_) => return Err(io::Error::other("it is not a regular file")),
            Err(_) => None,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
            litter::sweep(&self.dir, folder);
        }
        let (litter, mut file) = litter::temporary_file(&self.dir, folder)?;
        before("a temporary file is filled");
        fill(&mut file)?;
        let Some(old) = old else { return litter.keep_as(&path) };
        if has_other_names(&old) {
            before("a file with several names is written in place");
            // Renaming over it would leave the old content under the other names.
            file.seek(io::SeekFrom::Start(0))?;
            let mut in_place = OpenOptions::new();
            let mut target = self.dir.open_with(&path, in_place.write(true).truncate(true))?;
            return io::copy(&mut file, &mut target).map(drop);
        }
        file.set_permissions(old.permissions().into_std(&file)?)?;
        litter.keep_as(&path)
    }

    /// Deletes a file, and the folders that this leaves empty.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let path = self.inside(path)?;
        before("a file is removed");
        match self.dir.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for above in path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            // Fails at the first folder that is not empty.
            if self.dir.remove_dir(above).is_err() {
                break;
            }
        }
        Ok(())
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only")
}

/// Whether a file has more than one name, by hard links.
#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    cap_std::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}
