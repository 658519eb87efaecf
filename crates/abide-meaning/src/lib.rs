//! What protos mean, as facts and as a hash. `hash.md` beside this file is the
//! specification, which a second implementation can be written from.
//!
//! Two stages: [`Meaning`] is what one file means, [`TreeHashes`] what follows
//! for all that refers to it. Nothing here judges.

mod closure;
mod explain;
mod facts;
mod hash;
mod languages;
mod meaning;
mod options;
mod rolling;

pub use closure::TreeHashes;
pub use explain::{element_facts, facts, package_facts};
pub use hash::{HashError, Hashes, SemanticHash};
pub use meaning::Meaning;
pub use rolling::{PackageStep, RollingHashes};
