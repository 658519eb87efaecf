//! The versions of packages: which bump each needs, and the records in `abide.lock`.

mod bump;
mod dependents;
mod diverged_copies;
pub(crate) mod number_reuse;
mod records;
mod type_uses;

pub(crate) use bump::Released;
pub(crate) use bump::changes::required;
pub use bump::changes::rises;
pub(crate) use bump::planner::plan_since;
pub(crate) use bump::unrecorded;
pub use bump::{PackagePlan, Plan, Reason, Rewritten, Verdict};
pub use dependents::find_dependents;
pub use diverged_copies::{CopyApart, copies_apart};
pub use records::{stamp_release, stamp_upgrade};
