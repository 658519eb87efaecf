//! The record of generated files in `abide.lock`: with it, a later run knows which files it may
//! replace.

use std::path::Path;

use abide::Lock;

use crate::args::Global;
use crate::error::Error;
use crate::settings::lock;
use crate::source::{LOCK, Source};
use crate::terminal::error_color;
use crate::write::Folder;

use super::file_changes::{Author, failed};

/// `abide.lock` as it was read.
pub(super) struct MadeFiles {
    text: Option<Vec<u8>>,
    pub(super) lock: Option<Lock>,
}

impl MadeFiles {
    pub(super) fn of(global: &Global, source: &Source) -> Result<MadeFiles, Error> {
        let text = source.lock()?.map(|text| text.to_vec());
        Ok(MadeFiles { text, lock: lock(source, "", error_color(global))? })
    }

    /// Who wrote the content of a file.
    pub(super) fn author(&self, path: &str, essence: &[u8]) -> Author {
        Author::of(self.lock.as_ref(), path, essence)
    }

    /// Writes the lock, if `edit` changes it. Generated files are recorded last: a lock that is not
    /// written yet does not keep an interrupted run from being repeated, since files that equal
    /// what is generated count as generated.
    pub(super) fn write(
        &mut self,
        folder: &Folder,
        edit: impl FnOnce(&mut Lock),
    ) -> Result<(), Error> {
        let mut lock = self.lock.clone().unwrap_or_default();
        edit(&mut lock);
        // A file that is gone can be anybody's when it comes back.
        let gone: Vec<String> = lock
            .made_paths()
            .filter(|path| !folder.path().join(path).exists())
            .map(str::to_owned)
            .collect();
        gone.iter().for_each(|path| lock.forget_made(path));
        if self.lock.as_ref().map_or(lock == Lock::default(), |it| *it == lock) {
            return Ok(());
        }
        let path = Path::new(LOCK);
        let is_still = folder.is_still(path, self.text.as_deref());
        if !is_still.map_err(failed("read", folder, path))? {
            return Err(Error::Usage(format!(
                "`{LOCK}` was edited in the meantime: run the command again"
            )));
        }
        // A lock that only recorded what is gone now would say that versions are wanted.
        if lock == Lock::default() {
            (self.text, self.lock) = (None, None);
            return folder.remove(path).map_err(failed("delete", folder, path));
        }
        let text = lock.to_string().into_bytes();
        folder.replace(path, &text).map_err(failed("write", folder, path))?;
        (self.text, self.lock) = (Some(text), Some(lock));
        Ok(())
    }
}
