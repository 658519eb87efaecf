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

pub(crate) use additions::{Additions, is_added, without};
pub(crate) use file_elements::{extensions, field_target, is_own};
pub use file_role::{Standing, Standings};
pub(crate) use file_role::{mark, mark_of, status_edit};
pub(crate) use hand_maintained::ByHand;
pub use hand_maintained::{DECLARE_BY_HAND, undeclared_alphas};
pub(crate) use interrupted_release::left_behind;
pub(crate) use newest_stable::NewestStable;
pub use next_name::UNAVAILABLE;
pub(crate) use next_name::name_after;
pub(crate) use next_version::{Next, Stage};
pub use next_version::{candidate_packages, names_in_paths};
pub(crate) use promotion::oneof_after;
pub use promotion::promotion_fault;
pub(crate) use public_imports::{is_imported, provided, seen_through};
pub use refusal::Refusal;
pub(crate) use refusal::{check_source, overlap};
pub(crate) use removal::{deprecated, gone, removed};
pub(crate) use taken_paths::taken_in;
pub use taken_paths::{Taken, taken};
pub(crate) use upgrade_inputs::Choice;
pub use upgrade_inputs::{Basis, UpgradeOptions};
pub(crate) use upgrade_plan::{Conflict, UpgradePlan};
pub use upgrade_policy::{
    CandidateLayout, Closure, ImportOrder, LinkPolicy, UpgradePolicy, UpgradeReason,
    UpgradeSettings,
};
