//! Generates candidates, with the conversion of their values.

mod candidate_sources;
mod comment_links;
mod conversion;
mod generate;
mod mapping;
mod rewrite;
mod shortest_name;
mod versions_in_names;

pub use candidate_sources::CandidateSources;
pub(crate) use comment_links::Links;
pub(crate) use conversion::{Conversion, lossy};
pub(crate) use generate::generate;
pub use generate::{Generated, StaleCandidate, Upgrade, essence, is_made, upgrade};
pub use mapping::{Mapping, mapping};
pub(crate) use rewrite::{repointed, stabilised};
