//! Runs the rules over a tree and applies the policy to the findings.

mod accepted_findings;
mod candidate_findings;
mod changed_scope;
mod fixing;
mod frozen_changes;
mod imported_types;
mod instance_releases;
mod instances;
mod last_release;
mod linker_findings;
mod linker_fixes;
mod made_versions;
mod missing_imports;
mod new_errors;
mod old_elements;
mod order;
mod pipeline;
mod removals;
mod repeated_roots;
mod rule_scope;
mod severity;
mod translations;
mod unknown_options;
mod upgrade_blockers;
mod version_plan;
mod walk;
mod work_in_progress;

pub use fixing::{FixRequest, FixResult, RefusedFix, find_objections, fix};
pub use instance_releases::join_releases;
pub use instances::check_instances;
pub use made_versions::record_made_versions;
pub use new_errors::new_errors;
pub use pipeline::check;
pub use translations::{CarriedFile, check_translations};
pub use upgrade_blockers::{check_early_release, check_lossy_release, find_upgrade_blockers};
pub use version_plan::plan_versions;
