//! The files of a source, found but not read.

use abide_schema::{FileText, SourceFile};
use gix::ObjectId;

use super::contents::Gathered;
use super::failure::ReadProblem;
use super::roots::RootLayout;

/// A file that reading the source would read.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The root that it is in.
    pub root: u32,
    /// Its path in the root.
    pub path: String,
    /// The blob that it consists of; `None` where that takes a look into the file.
    pub blob: Option<ObjectId>,
}

impl Listed {
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
pub struct Listing {
    /// The files, in the order of roots and paths.
    pub files: Vec<Listed>,
    /// The files that could not be listed.
    pub problems: Vec<ReadProblem>,
    /// Notes for the user about the listing of the tree, one phrase each.
    pub notes: Vec<String>,
}

impl Listing {
    /// These files, and what else a walk gathered.
    pub(super) fn of(files: Vec<Listed>, gathered: Gathered) -> Listing {
        let Gathered { problems, notes, .. } = gathered;
        Listing { files, problems, notes }
    }
}
