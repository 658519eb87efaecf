//! Old trees besides the newest one that a run compares with.

use abide_schema::{File, FileId, Tree};

/// An old tree that a run compares with besides the newest one.
#[derive(Debug)]
pub struct OldTree {
    /// The source that names it.
    pub name: String,
    /// The tree.
    pub tree: Tree,
}

/// Finds a file of an old tree. The files of all old trees are numbered one after the other, those
/// of the newest one first.
pub fn find_old_file<'t>(
    newest: Option<&'t Tree>,
    older: &'t [OldTree],
    FileId(mut number): FileId,
) -> Option<File<'t>> {
    for tree in newest.into_iter().chain(older.iter().map(|it| &it.tree)) {
        let count = tree.files().count() as u32;
        if number < count {
            return Some(tree.file(FileId(number)));
        }
        number -= count;
    }
    None
}
