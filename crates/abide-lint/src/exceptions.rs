//! Exceptions from the policy: waivers and security fixes.

mod allowance;
mod descriptor_comments;
mod instance_waivers;
mod linter_comments;
mod nested_spans;
mod security_fixes;
mod source_comments;
mod target_index;
mod waiver;
mod waiver_comment;
mod waiver_defect;
mod waiver_scopes;
mod waivers;

pub use allowance::{format_waiver, is_waivable};
pub(crate) use instance_waivers::InstanceWaivers;
pub(crate) use nested_spans::NestedSpans;
pub(crate) use security_fixes::SecurityFixes;
pub use waiver_comment::waive_in_comment;
pub(crate) use waivers::{Waivers, describe_merged};
