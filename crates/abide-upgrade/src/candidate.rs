//! Generates candidates, with the conversion of their values.

mod candidate_sources;
mod comment_links;
mod conversion;
mod generate;
mod mapping;
mod named_replacement;
mod rewrite;
mod shortest_name;
mod versions_in_names;

pub use candidate_sources::CandidateSources;
pub(crate) use comment_links::CommentLinks;
pub(crate) use conversion::{ValueConversion, find_lossy_reason};
pub(crate) use generate::generate;
pub use generate::{
    GeneratedFile, StaleCandidate, UpgradeResult, extract_comparable_text, matches_generated,
    upgrade,
};
pub use mapping::{UpgradeMapping, build_mapping};
pub(crate) use named_replacement::find_replacement;
pub(crate) use rewrite::{rewrite_as_stable, rewrite_references};
