//! Upgrades vN to v(N+1)alpha: removes deprecated elements, applies declared
//! migrations, and updates all references. And v(N+1)alpha to v(N+1).
//!
//! Candidates are made by editing the source text, so comments, order and
//! layout of unchanged parts stay the same. Nothing here writes a
//! file: texts and edits are values.

mod additions;
mod basis;
mod build_file;
mod by_hand;
mod candidate;
mod candidate_sources;
mod canonical_layout;
mod conversion;
mod dependents;
mod drift;
mod edit;
mod file_elements;
mod file_policy;
mod impossible_additions;
mod interrupted;
mod lines;
mod links;
mod mapping;
mod name_clashes;
mod newest_stable;
mod next_name;
mod next_version;
mod outline;
mod promotion;
mod public_imports;
mod reasons;
mod recorded;
mod refusal;
mod release;
mod removal;
mod rewrite;
mod shortest_name;
mod standing;
mod taken_paths;
mod upgrade_plan;
mod upgrade_policy;
mod versioned;

pub use basis::{Basis, UpgradeOptions};
pub use build_file::{BUILD_MARK, BuildFile, build_files, version_build_file};
pub use by_hand::{DECLARE_BY_HAND, undeclared_alphas};
pub use candidate::{Generated, StaleCandidate, Upgrade, essence, is_made, upgrade};
pub use candidate_sources::CandidateSources;
pub use canonical_layout::canonical_layout;
pub use conversion::{Unconverted, unconverted};
pub use drift::{Drift, drifts};
pub use edit::{Edit, Overlap, apply};
pub use file_policy::{STATUS_PROTO, record_edits};
pub use impossible_additions::{AdditionFault, ImpossibleAddition, impossible_additions};
pub use mapping::{Mapping, mapping};
pub use name_clashes::{Clash, clashes};
pub use next_name::UNAVAILABLE;
pub use next_version::{candidate_packages, names_in_paths};
pub use promotion::promotion_fault;
pub use refusal::Refusal;
pub use release::{Release, Risen, release};
pub use standing::{Standing, Standings};
pub use taken_paths::{Taken, taken};
pub use upgrade_policy::{
    CandidateLayout, Closure, ImportOrder, LinkPolicy, UpgradePolicy, UpgradeReason,
    UpgradeSettings,
};
