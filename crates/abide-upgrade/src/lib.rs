//! Upgrades vN to v(N+1)alpha: removes deprecated elements, applies declared
//! migrations, and updates all references. And v(N+1)alpha to v(N+1).
//!
//! Candidates are made by editing the source text, so comments, order and
//! layout of unchanged parts stay the same. Nothing here writes a
//! file: texts and edits are values.

mod candidate;
mod edit;
mod findings;
mod layout;
mod plan;
mod release;

pub use candidate::{
    CandidateSources, Generated, Mapping, StaleCandidate, Upgrade, essence, is_made, mapping,
    upgrade,
};
pub use edit::{Edit, Overlap, STATUS_PROTO, apply, record_edits};
pub use findings::{
    AdditionFault, Clash, Drift, ImpossibleAddition, Unconverted, clashes, drifts,
    impossible_additions, unconverted,
};
pub use layout::canonical_layout;
pub use plan::{
    Basis, CandidateLayout, Closure, DECLARE_BY_HAND, ImportOrder, LinkPolicy, Refusal, Standing,
    Standings, Taken, UNAVAILABLE, UpgradeOptions, UpgradePolicy, UpgradeReason, UpgradeSettings,
    candidate_packages, names_in_paths, promotion_fault, taken, undeclared_alphas,
};
pub use release::{
    BUILD_MARK, BuildFile, Release, Risen, build_files, release, version_build_file,
};
