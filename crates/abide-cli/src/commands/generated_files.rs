//! The record of generated files in `abide.lock`: with it, a later run knows which files it may
//! replace.

use std::path::Path;

use abide_lint::Lock;
use abide_source::write::{FileStep, OpenFolder};
use abide_source::{LOCK, Source};

use crate::args::Global;
use crate::error::Error;
use crate::settings::read_lock;
use crate::terminal::use_error_color;

use super::file_changes::{Changes, ContentAuthor};

/// `abide.lock` as it was read.
pub(super) struct GeneratedFiles {
    text: Option<Vec<u8>>,
    pub(super) lock: Option<Lock>,
}

impl GeneratedFiles {
    pub(super) fn read(global: &Global, source: &Source) -> Result<GeneratedFiles, Error> {
        let text = source.lock()?.map(|text| text.to_vec());
        Ok(GeneratedFiles { text, lock: read_lock(source, "", use_error_color(global))? })
    }

    /// Returns the author of the content of a file.
    pub(super) fn author(&self, path: &str, essence: &[u8]) -> ContentAuthor {
        ContentAuthor::of(self.lock.as_ref(), path, essence)
    }

    /// The lock as `edit` makes it beside these changes of files; nothing if that changes nothing.
    pub(super) fn edit_lock(
        &self,
        folder: &OpenFolder,
        changes: &Changes<'_>,
        edit: impl FnOnce(&mut Lock),
    ) -> Option<EditedLock> {
        let mut lock = self.lock.clone().unwrap_or_default();
        edit(&mut lock);
        // A file that is gone can be anybody's when it comes back.
        let gone: Vec<String> = lock
            .made_paths()
            .filter(|path: &&str| match changes.get(*path) {
                Some(change) => change.new.is_none(),
                None => !folder.path().join(path).exists(),
            })
            .map(str::to_owned)
            .collect();
        gone.iter().for_each(|path| lock.forget_made(path));
        if self.lock.as_ref().map_or(lock == Lock::default(), |it| *it == lock) {
            return None;
        }
        // A lock that only recorded what is gone now would say that versions are wanted.
        let new = (lock != Lock::default()).then(|| lock.to_string().into_bytes());
        Some(EditedLock { old: self.text.clone(), new })
    }
}

/// `abide.lock` as it was read, and as it is to be.
pub(super) struct EditedLock {
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

impl EditedLock {
    pub(super) fn step(&self) -> FileStep<'_> {
        FileStep { path: Path::new(LOCK), old: self.old.as_deref(), new: self.new.as_deref() }
    }
}
