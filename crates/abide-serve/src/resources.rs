//! Resources: where they come from, whether they may be served, and to whom.

mod apis;
mod groups;
mod judge;
mod runtime_overrides;
mod served;
mod source;
mod types_file;

pub(crate) use self::apis::{ApiArgs, Apis};
pub(crate) use self::groups::{Group, Groups};
pub(crate) use self::judge::{Judge, JudgeArgs, Leniency, Verdict};
pub(crate) use self::runtime_overrides::Overrides;
pub(crate) use self::served::ServedResources;
pub(crate) use self::source::{Audience, Listing, ResourceFile, Source, SourceArgs, open_source};
