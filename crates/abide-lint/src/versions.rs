//! The versions of packages: which bump each needs, and the records in `abide.lock`.

mod bump;
mod dependents;
mod diverged_copies;
pub(crate) mod number_reuse;
mod records;
mod type_uses;

pub(crate) use bump::ReleasedState;
pub use bump::changes::compute_bumps;
pub(crate) use bump::changes::compute_required;
pub(crate) use bump::planner::plan_since;
pub(crate) use bump::unrecorded;
pub use bump::{BumpReason, PackagePlan, Plan, PlanVerdict, RewrittenOption};
pub use dependents::find_dependents;
pub use diverged_copies::{DivergedCopy, find_diverged_copies};
pub use records::{record_release, record_upgrade};
