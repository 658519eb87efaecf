//! A folder that files are written below, and nowhere else.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use super::journal::{self, Journal};
use super::stop::stop_before;
use super::target::{Fill, resolve_links};
use super::temp_files::{self, TempFiles};
use super::{attributes, leftovers};
use crate::printable::escape_unprintable;
use crate::source::canonicalize;

/// A folder that files are written below.
///
/// Links in it are followed as long as they stay below it; one that leads out is refused. This is
/// judged by its path for the message, and by the kernel for every access: a link that somebody
/// puts there in between leads nowhere either.
pub struct OpenFolder {
    /// Its path without links.
    path: PathBuf,
    dir: Arc<Dir>,
    /// The folders that were created for it, which go if nothing is written.
    _made: TempFiles,
    /// The folders in it that were looked through for what dead processes left.
    swept: Mutex<BTreeSet<PathBuf>>,
    /// Files in it that nobody but their owner may read.
    private: BTreeSet<PathBuf>,
}

impl OpenFolder {
    /// Opens a folder. Its own path may lead through links: the user names it.
    pub fn open(path: &Path) -> io::Result<OpenFolder> {
        OpenFolder::of(path, TempFiles::default())
    }

    /// Opens a folder that may not exist yet.
    pub fn make(path: &Path) -> io::Result<OpenFolder> {
        let is_there = |it: &&Path| it.as_os_str().is_empty() || it.is_dir();
        let above = path.ancestors().find(is_there).unwrap_or(path);
        let missing = path.ancestors().take_while(|it| *it != above);
        let missing = missing.filter_map(|it| it.strip_prefix(above).ok().map(Path::to_owned));
        let mut missing: Vec<PathBuf> = missing.collect();
        if missing.is_empty() {
            return OpenFolder::open(path);
        }
        missing.reverse();
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let dir = Arc::new(Dir::open_ambient_dir(above, ambient_authority())?);
        let made = temp_files::make_folders(&dir, &missing)?;
        OpenFolder::of(path, made)
    }

    fn of(path: &Path, made: TempFiles) -> io::Result<OpenFolder> {
        let path = fs::canonicalize(path)?;
        let dir = Arc::new(Dir::open_ambient_dir(&path, ambient_authority())?);
        Ok(OpenFolder { path, dir, _made: made, swept: Mutex::default(), private: BTreeSet::new() })
    }

    /// Lets some of the files be written so that nobody but their owner may read them.
    #[must_use]
    pub(super) fn with_private(mut self, files: impl Iterator<Item = PathBuf>) -> OpenFolder {
        self.private.extend(files);
        self
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolves a path of this folder, relative to it; an error if a link on the way leads
    /// out.
    pub fn resolve_inside(&self, path: &Path) -> io::Result<PathBuf> {
        if path.components().any(|it| !matches!(it, Component::Normal(_) | Component::CurDir)) {
            return Err(io::Error::other("it is outside of the folder"));
        }
        let mut ancestors: Vec<&Path> = path.ancestors().collect();
        ancestors.reverse();
        for part in ancestors {
            let at = self.path.join(part);
            if at.is_symlink() {
                let end = canonicalize(&resolve_links(&at)?);
                if !end.starts_with(&self.path) {
                    return Err(io::Error::other(format!(
                        "`{}` is a link to `{}`, which is outside of `{}`: remove the link, or \
                         name the folder that it leads to",
                        escape_unprintable(&part.to_string_lossy()),
                        escape_unprintable(&end.to_string_lossy()),
                        escape_unprintable(&self.path.to_string_lossy()),
                    )));
                }
            }
        }
        let real = canonicalize(&resolve_links(&self.path.join(path))?);
        let real = real.strip_prefix(&self.path);
        real.map(Path::to_owned).map_err(|_| io::Error::other("it is outside of the folder"))
    }

    /// The content of a file; `None` if there is none.
    pub fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self.dir.read(self.resolve_inside(path)?) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails if a file is there that its owner protects from being written.
    fn check_unprotected(&self, path: &Path) -> io::Result<()> {
        match self.dir.metadata(self.resolve_inside(path)?) {
            Ok(it) if it.permissions().readonly() => Err(read_only()),
            _ => Ok(()),
        }
    }

    /// Undoes what a killed run left half made in this folder, so that what is read next is whole.
    /// Returns whether there was something.
    pub fn recover(&self) -> io::Result<bool> {
        match journal::recover(&self.dir)? {
            None => Ok(false),
            Some(edited) if edited.is_empty() => Ok(true),
            Some(edited) => {
                let names = edited
                    .iter()
                    .map(|it| format!("`{}`", escape_unprintable(&it.to_string_lossy())));
                Err(io::Error::other(format!(
                    "an earlier run was interrupted while it wrote, and what it did was undone, but \
                     not in what was edited since: look at {}, and run the command again",
                    names.collect::<Vec<_>>().join(", ")
                )))
            }
        }
    }

    /// Makes all of these changes in their order, or none of them: if one fails, or if somebody
    /// edited its file in the meantime, those before it are undone. What a killed run leaves of
    /// them is undone by [`OpenFolder::recover`].
    ///
    /// A link keeps pointing at the file that is written, and so do its other names; one that is
    /// read-only is refused.
    pub fn apply(&self, changes: &[FileStep<'_>]) -> Result<(), UnmadeChange> {
        let changes = changes.iter().filter(|it| it.old != it.new);
        let steps = changes.map(|it| self.step(it)).collect::<Result<Vec<_>, _>>()?;
        match &*steps {
            [] => return Ok(()),
            // Renaming over a file is one step, and a journal would make it many.
            [only] if only.new.is_some() && !only.in_place => return self.take(only),
            _ => {}
        }
        let journal =
            Journal::begin(&self.dir, &steps).map_err(|error| steps[0].build_failure(error))?;
        let Err(why) = steps.iter().try_for_each(|it| self.take(it)) else {
            return journal.close().map_err(|error| steps[0].build_failure(error));
        };
        match (journal.undo(), why) {
            (Ok(more), UnmadeChange::Edited(mut edited)) => {
                edited.extend(more);
                edited.sort();
                edited.dedup();
                Err(UnmadeChange::Edited(edited))
            }
            (Ok(more), _) if !more.is_empty() => Err(UnmadeChange::Edited(more)),
            (Ok(_), why) => Err(why),
            (Err(undone), why) => Err(why.and_stays(&undone)),
        }
    }

    /// A change, once it was compared with its file.
    fn step<'a>(&self, change: &FileStep<'a>) -> Result<WriteStep<'a>, UnmadeChange> {
        let mut step = WriteStep {
            name: change.path,
            path: change.path.to_owned(),
            old: change.old,
            new: change.new,
            in_place: false,
        };
        step.path = self.resolve_inside(change.path).map_err(|error| step.build_failure(error))?;
        self.check_unprotected(&step.path).map_err(|error| step.build_failure(error))?;
        self.check_unedited(&step)?;
        let there = self.dir.metadata(&step.path);
        step.in_place = step.new.is_some() && there.is_ok_and(|it| has_other_names(&it));
        Ok(step)
    }

    /// Fails if the file of a step does not hold what it held when it was read.
    fn check_unedited(&self, step: &WriteStep<'_>) -> Result<(), UnmadeChange> {
        let now = match self.dir.read(&step.path) {
            Ok(now) => Some(now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(step.build_failure(error)),
        };
        match now.as_deref() == step.old {
            true => Ok(()),
            false => Err(UnmadeChange::Edited(vec![step.name.to_owned()])),
        }
    }

    /// Makes a change, if its file is still what it was. A signal finds it made or not begun.
    fn take(&self, step: &WriteStep<'_>) -> Result<(), UnmadeChange> {
        let failed = |error| step.build_failure(error);
        let Some(text) = step.new else {
            stop_before("a file is removed");
            {
                let _all = leftovers::lock_leftovers();
                self.check_unedited(step)?;
                self.dir.remove_file(&step.path).map_err(failed)?;
            }
            stop_before("folders without files go");
            let _all = leftovers::lock_leftovers();
            for above in step.path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
                // Fails at the first folder that is not empty.
                if self.dir.remove_dir(above).is_err() {
                    break;
                }
            }
            return Ok(());
        };
        if step.in_place {
            stop_before("a file with several names is written in place");
            let _all = leftovers::lock_leftovers();
            self.check_unedited(step)?;
            return journal::write_in_place(&self.dir, &step.path, text).map_err(failed);
        }
        let temp =
            self.write_temp_file(&step.path, &mut |out| out.write_all(text)).map_err(failed)?.0;
        let allows = || self.check_unedited(step).map_err(StopReason::Unmade);
        temp.keep_as(&step.path, allows).map_err(|it| match it {
            StopReason::Unmade(unmade) => unmade,
            StopReason::Io(error) => step.build_failure(error),
        })
    }

    /// Replaces a file, or creates it with the folders on the way. A link keeps pointing at the
    /// file that is written, and so do its other names; one that is read-only is refused.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(path, &mut |out| out.write_all(bytes))
    }

    /// Replaces a file with what `fill` writes. If that fails, the file keeps its old content.
    pub(super) fn replace_with(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<()> {
        let real = self.resolve_inside(path)?;
        let has_others = match self.dir.symlink_metadata(&real) {
            Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(old) if old.permissions().readonly() => return Err(read_only()),
            Ok(old) if old.is_file() => has_other_names(&old),
            Ok(_) => return Err(io::Error::other("it is not a regular file")),
            Err(_) => false,
        };
        let (temp, mut file) = self.write_temp_file(&real, fill)?;
        if !has_others {
            return temp.keep_as(&real, || Ok::<(), io::Error>(()));
        }
        // Renaming over it would leave the old content under the other names.
        let mut new = Vec::new();
        file.seek(io::SeekFrom::Start(0))?;
        file.read_to_end(&mut new)?;
        self.recover()?;
        let old = self.read(path)?;
        let written = self.apply(&[FileStep { path, old: old.as_deref(), new: Some(&new) }]);
        written.map_err(|why| match why {
            UnmadeChange::Failed { error, .. } => error,
            UnmadeChange::Edited(_) => io::Error::other("it was edited in the meantime"),
        })
    }

    /// A temporary file beside `path` with what `fill` writes, and all else of the file there.
    fn write_temp_file(
        &self,
        path: &Path,
        fill: &mut Fill<'_>,
    ) -> io::Result<(TempFiles, fs::File)> {
        let folder = path.parent().unwrap_or(Path::new(""));
        if self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
            temp_files::remove_abandoned(&self.dir, folder);
        }
        let (temp, mut file) = temp_files::create_temp_file(&self.dir, folder)?;
        stop_before("a temporary file is filled");
        #[cfg(unix)]
        if self.private.contains(path) {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
            fill(&mut file)?;
            return Ok((temp, file));
        }
        fill(&mut file)?;
        match self.dir.open(path) {
            Ok(old) => attributes::take_over(&old.into_std(), &file)?,
            // It cannot be read, or there is none.
            Err(_) => {
                if let Ok(old) = self.dir.metadata(path) {
                    file.set_permissions(old.permissions().into_std(&file)?)?;
                }
            }
        }
        Ok((temp, file))
    }
}

/// A change of one file: what it has to hold still, and what it holds then. Nothing stands for no
/// file.
#[derive(Clone, Copy, Debug)]
pub struct FileStep<'a> {
    /// Its path from the folder.
    pub path: &'a Path,
    /// The content when it was read.
    pub old: Option<&'a [u8]>,
    /// The new content.
    pub new: Option<&'a [u8]>,
}

/// A change of a file in its place.
pub(super) struct WriteStep<'a> {
    /// Its path for people.
    name: &'a Path,
    /// Its path without links.
    pub(super) path: PathBuf,
    pub(super) old: Option<&'a [u8]>,
    pub(super) new: Option<&'a [u8]>,
    /// True if the file keeps its place, since it has other names.
    pub(super) in_place: bool,
}

impl WriteStep<'_> {
    fn build_failure(&self, error: io::Error) -> UnmadeChange {
        UnmadeChange::Failed { path: self.name.to_owned(), is_removal: self.new.is_none(), error }
    }
}

/// The reason for changes that were not made.
#[derive(Debug)]
pub enum UnmadeChange {
    /// Somebody edited these files since they were read. They were left as they are.
    Edited(Vec<PathBuf>),
    /// A file could not be written or deleted.
    Failed {
        /// Its path from the folder.
        path: PathBuf,
        /// True if it was to be deleted.
        is_removal: bool,
        /// The error of the system.
        error: io::Error,
    },
}

impl UnmadeChange {
    /// The same, where what was changed before could not be undone either.
    fn and_stays(self, undone: &io::Error) -> UnmadeChange {
        let (path, is_removal, error) = match self {
            UnmadeChange::Failed { path, is_removal, error } => (path, is_removal, error),
            UnmadeChange::Edited(edited) => {
                let error = io::Error::other("it was edited in the meantime");
                (edited.into_iter().next().unwrap_or_default(), false, error)
            }
        };
        let error = io::Error::other(format!(
            "{error}; what was written before it cannot be undone now ({undone}): the next command \
             that writes here undoes it"
        ));
        UnmadeChange::Failed { path, is_removal, error }
    }
}

/// The reason that keeps a temporary file from its place.
enum StopReason {
    Unmade(UnmadeChange),
    Io(io::Error),
}

impl From<io::Error> for StopReason {
    fn from(error: io::Error) -> StopReason {
        StopReason::Io(error)
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only")
}

/// Returns true if a file has more than one name, by hard links.
#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    cap_std::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}
