//! What files see of each other through public imports.

use abide_schema::{FileId, Tree};
use abide_syntax::ImportKind;
use rustc_hash::FxHashSet;

/// Files, and the files that they import publicly in any number of steps.
pub(crate) fn seen_through(tree: &Tree, files: impl Iterator<Item = FileId>) -> Vec<FileId> {
    let mut found: Vec<FileId> = files.collect();
    let mut known: FxHashSet<FileId> = found.iter().copied().collect();
    let mut at = 0;
    while let Some(id) = found.get(at) {
        for import in tree.file(*id).imports() {
            if let Some(target) = import.file.filter(|_| import.decl.kind == ImportKind::Public)
                && known.insert(target.id)
            {
                found.push(target.id);
            }
        }
        at += 1;
    }
    found
}
