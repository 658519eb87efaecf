//! Finds what is wrong with the candidates of a tree.

mod impossible_additions;
mod name_clashes;
mod stale_candidates;
mod unconverted;

pub use impossible_additions::{AdditionFault, ImpossibleAddition, find_impossible_additions};
pub use name_clashes::{NameClash, find_name_clashes};
pub use stale_candidates::{StaleReason, find_stale_candidates};
pub(crate) use stale_candidates::{find_at_path, regenerate};
pub use unconverted::{UnconvertedElement, find_unconverted};
