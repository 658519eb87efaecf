//! The files of a source, found but not read.

use abide_schema::{FileText, SourceFile};
use gix::ObjectId;

use super::contents::Gathered;
use super::failure::ReadProblem;
use super::roots::RootLayout;

/// A file that reading the source would read.
#[derive(Clone, Debug)]
pub struct ListedFile {
    /// The root that it is in.
    pub root: u32,
    /// Its path in the root.
    pub path: String,
    /// The blob that it consists of; `None` where that takes a look into the file.
    pub blob: Option<ObjectId>,
    /// Its size on disk, where git's index has it on record. Git may store a text with other line
    /// ends, and then with another size.
    pub size: Option<u32>,
}

impl ListedFile {
    /// The file with its text.
    pub(super) fn file(&self, layout: &RootLayout, text: FileText) -> SourceFile {
        SourceFile {
            path: self.path.as_str().into(),
            display: layout.display(self.root as usize, &self.path).into(),
            root: self.root,
            imported: false,
            text,
        }
    }
}

/// The files that a walk of a source found, before any is read.
#[derive(Default)]
pub struct FileListing {
    /// The files, in the order of roots and paths.
    pub files: Vec<ListedFile>,
    /// The files that could not be listed.
    pub problems: Vec<ReadProblem>,
    /// Notes for the user about the listing of the tree, one phrase each.
    pub notes: Vec<String>,
}

impl FileListing {
    /// These files, and what else a walk gathered.
    pub(super) fn of(files: Vec<ListedFile>, gathered: Gathered) -> FileListing {
        let Gathered { problems, notes, .. } = gathered;
        FileListing { files, problems, notes }
    }
}
