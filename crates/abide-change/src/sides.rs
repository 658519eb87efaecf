//! Two trees as both of their origins can show them.

use abide_schema::Tree;

/// Two trees to compare by what both can know: what the writer of a descriptor set leaves out of
/// one side did not change, and is left out of the other as well; features that an edition leaves
/// to what nobody here knows did not change, either.
#[derive(Debug)]
pub struct Sides<'t> {
    old: Side<'t>,
    new: Side<'t>,
}

#[derive(Debug)]
struct Side<'t> {
    given: &'t Tree,
    /// The tree with fewer options, if the other side cannot know them. Its ids and places are the
    /// same.
    reduced: Option<Tree>,
}

impl Side<'_> {
    fn tree(&self) -> &Tree {
        self.reduced.as_ref().unwrap_or(self.given)
    }
}

impl<'t> Sides<'t> {
    /// Reduces each side to what the other can know.
    pub fn of(old: &'t Tree, new: &'t Tree) -> Sides<'t> {
        let is_stripped = old.is_stripped() || new.is_stripped();
        let side = |given: &'t Tree, other: &Tree| {
            let stripped = is_stripped.then(|| given.without_source_options(other)).flatten();
            let common = stripped.as_ref().unwrap_or(given).with_common_features(other);
            Side { given, reduced: common.or(stripped) }
        };
        Sides { old: side(old, new), new: side(new, old) }
    }

    /// The old tree.
    pub fn old_tree(&self) -> &Tree {
        self.old.tree()
    }

    /// The new tree.
    pub fn new_tree(&self) -> &Tree {
        self.new.tree()
    }

    /// Returns true if one of them is not the tree that was given.
    pub fn are_reduced(&self) -> bool {
        self.old.reduced.is_some() || self.new.reduced.is_some()
    }
}
