//! Finds the elements of the old tree that findings are about.

use abide_schema::{Element, FileId, Part, Place, Tree};
use rustc_hash::FxHashMap;

use crate::exceptions::NestedSpans;

/// The elements of a tree by place, computed on first use.
pub(super) struct OldElements<'t> {
    tree: &'t Tree,
    by_file: FxHashMap<FileId, NestedSpans<Element<'t>>>,
}

impl<'t> OldElements<'t> {
    pub(super) fn of(tree: &'t Tree) -> OldElements<'t> {
        OldElements { tree, by_file: FxHashMap::default() }
    }

    /// The innermost element around a place; `None` if only its file is.
    pub(super) fn at(&mut self, place: Place) -> Option<Element<'t>> {
        let file = self.tree.file(place.file);
        let elements = self.by_file.entry(place.file).or_insert_with(|| {
            let extent =
                |it: Element<'t>| file.decl().widen_to_comments(it.place(Part::Whole).span);
            NestedSpans::of(file.elements().map(|it| (extent(it), it)))
        });
        elements.find_around(file.decl().widen_to_comments(place.span)).next().copied()
    }
}
