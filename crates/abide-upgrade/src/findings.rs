//! Finds what is wrong with the candidates of a tree.

mod impossible_additions;
mod name_clashes;
mod stale_candidates;
mod unconverted;

pub use impossible_additions::{AdditionFault, ImpossibleAddition, impossible_additions};
pub use name_clashes::{Clash, clashes};
pub use stale_candidates::{Drift, drifts};
pub(crate) use stale_candidates::{made_at, remake};
pub use unconverted::{Unconverted, unconverted};
