//! The meaning of protos, as facts and as a hash. `hash.md` beside this file is the
//! specification, which a second implementation can be written from.
//!
//! There are two stages: [`CanonicalFile`] is what one file means, and [`TreeHashes`]
//! are the hashes of everything, with all dependencies. Nothing here judges.

mod buffers;
mod canonical_file;
mod canonicalize;
mod closure;
mod explain;
mod facts;
mod hash;
mod incremental;
mod languages;
mod option_facts;

pub use canonical_file::CanonicalFile;
pub use closure::TreeHashes;
pub use explain::{collect_element_facts, collect_package_facts, print_facts};
pub use hash::{HashError, Hashes, SemanticHash};
pub use incremental::{IncrementalHashes, PackageChange};
