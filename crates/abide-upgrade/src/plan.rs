//! Decides which packages are upgraded, why, and what their next versions are called.

mod additions;
mod dependents;
mod file_elements;
mod file_role;
mod hand_maintained;
mod interrupted_release;
mod newest_stable;
mod next_name;
mod next_version;
mod promotion;
mod public_imports;
mod reasons;
mod refusal;
mod removal;
mod taken_paths;
mod upgrade_inputs;
mod upgrade_plan;
mod upgrade_policy;

pub(crate) use additions::{CandidateAdditions, is_addition_only, remove_statements_at};
pub(crate) use file_elements::{find_field_type, is_declared, iter_extensions};
pub use file_role::{FileRole, FileRoles};
pub(crate) use file_role::{build_status_edit, find_generated_mark, format_generated_mark};
pub(crate) use hand_maintained::HandMaintained;
pub use hand_maintained::{HAND_MAINTAINED_HELP, find_undeclared_alphas};
pub(crate) use interrupted_release::find_leftover_candidates;
pub(crate) use newest_stable::NewestStable;
pub use next_name::UNAVAILABLE;
pub(crate) use next_name::resolve_next_name;
pub(crate) use next_version::{NextVersion, ReleaseStage};
pub use next_version::{collect_names_in_paths, find_candidate_packages};
pub(crate) use promotion::find_oneof_after;
pub use promotion::find_promotion_fault;
pub(crate) use public_imports::{collect_provided_files, collect_visible_files, is_imported};
pub use refusal::UpgradeRefusal;
pub(crate) use refusal::{check_source, refuse_overlap};
pub(crate) use removal::{is_deprecated, is_removed, is_removed_with_parent};
pub(crate) use taken_paths::find_taken_in_plan;
pub use taken_paths::{TakenPath, find_taken_paths};
pub(crate) use upgrade_inputs::PackageSelection;
pub use upgrade_inputs::{UpgradeInputs, UpgradeOptions};
pub(crate) use upgrade_plan::{PathConflict, UpgradePlan};
pub use upgrade_policy::{
    CandidateLayout, ImportOrder, LinkPolicy, UpgradeClosure, UpgradePolicy, UpgradeReason,
    UpgradeSettings,
};
