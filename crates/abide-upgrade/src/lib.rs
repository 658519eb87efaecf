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
    CandidateSources, GeneratedFile, StaleCandidate, UpgradeMapping, UpgradeResult, build_mapping,
    extract_comparable_text, matches_generated, upgrade,
};
pub use edit::{Edit, Overlap, STATUS_PROTO, apply, build_record_edits};
pub use findings::{
    AdditionFault, ImpossibleAddition, NameClash, StaleReason, UnconvertedElement,
    find_impossible_additions, find_name_clashes, find_stale_candidates, find_unconverted,
};
pub use layout::format_canonically;
pub use plan::{
    CandidateLayout, FileRole, FileRoles, HAND_MAINTAINED_HELP, ImportOrder, LinkPolicy, TakenPath,
    UNAVAILABLE, UpgradeClosure, UpgradeInputs, UpgradeOptions, UpgradePolicy, UpgradeReason,
    UpgradeRefusal, UpgradeSettings, collect_names_in_paths, find_candidate_packages,
    find_promotion_fault, find_taken_paths, find_undeclared_alphas,
};
pub use release::{
    BUILD_MARK, BuildFile, PromotedPackage, ReleaseResult, build_files, build_version_file, release,
};
