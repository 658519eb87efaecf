//! What protos mean, as facts and as a hash. `hash.md` beside this file is the
//! specification, which a second implementation can be written from.
//!
//! There are two stages: [`Meaning`] is what one file means, and [`TreeHashes`]
//! are the hashes of everything, with all dependencies. Nothing here judges.

mod closure;
mod facts;
mod hash;
mod languages;
mod meaning;
mod meaning_builder;
mod option_facts;
mod rolling;
mod scratch;
mod shown_facts;

pub use closure::TreeHashes;
pub use hash::{HashError, Hashes, SemanticHash};
pub use meaning::Meaning;
pub use rolling::{PackageStep, RollingHashes};
pub use shown_facts::{element_facts, facts, package_facts};
