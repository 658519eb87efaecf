//! The handle for values of the messages of one tree.

use crate::tree::Tree;

/// Reads and writes values of the messages of a tree, on the wire, in JSON and
/// in text format.
///
/// A handle costs nothing to make or to copy: what is looked up by name or
/// number is gathered once for each tree, when it is first asked for.
#[derive(Clone, Copy, Debug)]
pub struct Codec<'t> {
    pub(super) tree: &'t Tree,
}

impl<'t> Codec<'t> {
    /// The handle for values of the messages of `tree`.
    pub fn new(tree: &'t Tree) -> Codec<'t> {
        Codec { tree }
    }

    /// The tree that declares the messages.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }
}
