//! Who is behind, where what runs differs from a tree.

/// The side of a drift that lacks what the other one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behind {
    /// What runs: the tree is to be deployed.
    Target,
    /// The tree: something newer runs.
    Tree,
}

impl Behind {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Behind::Target => "target",
            Behind::Tree => "tree",
        }
    }
}
