//! Temporary files and folders without a file, which go unless they are kept. Every temporary file
//! is locked by the process that writes it, so one that can be locked belongs to nobody.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cap_std::fs::{Dir, File, OpenOptions};

use super::leftovers::{Leftover, Leftovers, lock_leftovers, remove_leftover, signal_safe};
use super::stop::stop_before;

const PREFIX: &str = ".abide-";
const SUFFIX: &str = ".new";

/// Files and folders that go unless they are kept.
#[derive(Default)]
pub(super) struct TempFiles {
    listed: Option<Arc<TempEntry>>,
}

struct TempEntry {
    dir: Arc<Dir>,
    file: Option<PathBuf>,
    /// Those that were created, the outermost first.
    folders: Vec<PathBuf>,
}

impl Leftover for TempEntry {
    /// Removes what is still there. A folder stays if somebody put something into it.
    fn clear(&self) {
        if let Some(file) = &self.file {
            let _ = self.dir.remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = self.dir.remove_dir(folder);
        }
    }
}

impl TempFiles {
    fn listed(listed: TempEntry, all: &mut Leftovers) -> TempFiles {
        let listed = Arc::new(listed);
        all.push(Arc::clone(&listed) as Arc<dyn Leftover>);
        TempFiles { listed: Some(listed) }
    }

    /// Renames the file to what it is for, if `allows` says so when nothing can come in between.
    pub(super) fn keep_as<E: From<io::Error>>(
        mut self,
        path: &Path,
        allows: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        stop_before("a temporary file takes its place");
        let mut all = lock_leftovers();
        if let Some(listed) = self.listed.take() {
            let kept = allows().and_then(|()| match &listed.file {
                Some(file) => Ok(listed.dir.rename(file, &listed.dir, path)?),
                None => Ok(()),
            });
            if kept.is_err() {
                listed.clear();
            }
            remove_leftover(&mut all, &(listed as Arc<dyn Leftover>));
            return kept;
        }
        Ok(())
    }
}

impl Drop for TempFiles {
    fn drop(&mut self) {
        if let Some(listed) = self.listed.take() {
            let mut all = lock_leftovers();
            listed.clear();
            remove_leftover(&mut all, &(listed as Arc<dyn Leftover>));
        }
    }
}

/// Creates these folders, the outermost first, where they are missing.
pub(super) fn make_folders(dir: &Arc<Dir>, folders: &[PathBuf]) -> io::Result<TempFiles> {
    stop_before("folders are made");
    let mut all = signal_safe();
    let mut listed = TempEntry { dir: Arc::clone(dir), file: None, folders: Vec::new() };
    listed.make(folders.iter().map(PathBuf::as_path))?;
    Ok(TempFiles::listed(listed, &mut all))
}

/// Creates a temporary file in a folder, and the folders on the way.
pub(super) fn create_temp_file(
    dir: &Arc<Dir>,
    folder: &Path,
) -> io::Result<(TempFiles, std::fs::File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    stop_before("a temporary file is made");
    let mut all = signal_safe();
    let mut listed = TempEntry { dir: Arc::clone(dir), file: None, folders: Vec::new() };
    let mut ancestors: Vec<&Path> =
        folder.ancestors().filter(|it| !it.as_os_str().is_empty()).collect();
    ancestors.reverse();
    listed.make(ancestors.into_iter())?;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(build_temp_name(&format!("{}-{number}", std::process::id())));
        match dir.open_with(&path, OpenOptions::new().read(true).write(true).create_new(true)) {
            Ok(file) => {
                let file = file.into_std();
                if !is_ours(&file) {
                    continue;
                }
                listed.file = Some(path);
                return Ok((TempFiles::listed(listed, &mut all), file));
            }
            // Of a process with the same number, dead or in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                listed.clear();
                return Err(error);
            }
        }
    }
}

/// The name of a temporary file, which goes with the next writer if nobody holds its lock.
pub(super) fn build_temp_name(number: &str) -> String {
    format!("{PREFIX}{number}{SUFFIX}")
}

impl TempEntry {
    fn make<'p>(&mut self, folders: impl Iterator<Item = &'p Path>) -> io::Result<()> {
        for folder in folders {
            match self.dir.create_dir(folder) {
                Ok(()) => self.folders.push(folder.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    self.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// Locks a temporary file that was just created. False if another run took it for abandoned in
/// between, and removed it.
fn is_ours(file: &std::fs::File) -> bool {
    // A file system without locks has no sweeping either.
    if file.lock().is_err() {
        return true;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|it| it.nlink() > 0)
    }
    #[cfg(not(unix))]
    true
}

/// Removes the temporary files of dead processes from a folder.
pub(super) fn remove_abandoned(dir: &Dir, folder: &Path) {
    let at = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = dir.read_dir(at) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_temporary =
            name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_temporary || !entry.file_type().is_ok_and(|it| it.is_file()) {
            continue;
        }
        let path = folder.join(&name);
        let is_abandoned = |file: File| file.into_std().try_lock().is_ok();
        if dir.open(&path).is_ok_and(is_abandoned) {
            let _ = dir.remove_file(&path);
        }
    }
}
