//! A tree whose files a command edits as people do.

use std::fs::File;

use abide_source::{LoadedTree, Progress, Source, load};

use super::file_changes::{Changes, expect_folder, open_folder, write_changes};
use super::folder_lock::lock_exclusively;
use super::outcome::CommandOutcome;
use super::preconditions::refuse_unparsed;
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::use_error_color;

/// The tree, as it is before the edits.
pub(super) struct EditedTree {
    pub(super) settings: Settings,
    pub(super) source: Source,
    pub(super) loaded: LoadedTree,
    pub(super) progress: Progress,
    /// Held from the first look at the tree until everything is written.
    _guard: Option<File>,
}

impl EditedTree {
    /// Reads the tree. One that is written to has to be on disk, and is locked.
    pub(super) fn open(
        global: &Global,
        args: &TreeArgs,
        writes: bool,
    ) -> Result<EditedTree, Error> {
        let settings = Settings::read(global, args.source.as_deref(), use_error_color(global))?;
        let progress = Progress::new(global.quiet);
        let source = settings.open_source(args)?;
        let guard = match writes {
            true => lock_exclusively(expect_folder(source.folder())?, global)?,
            false => None,
        };
        let loaded = load(&source, &progress)?;
        Ok(EditedTree { settings, source, loaded, progress, _guard: guard })
    }

    /// Reports files that do not parse; `None` if there are none.
    pub(super) fn refuse_unparsed(&self, global: &Global) -> Option<CommandOutcome> {
        refuse_unparsed(global, &self.settings, &self.loaded, &self.progress)
    }

    /// Writes all edits, or none of them.
    pub(super) fn write(&self, changes: &Changes<'_>) -> Result<(), Error> {
        write_changes(&open_folder(expect_folder(self.source.folder())?)?, changes, None)
    }
}
