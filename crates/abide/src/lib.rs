//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod accepted;
mod buf;
mod bump;
mod calendar;
mod case;
mod check;
mod config;
mod constraints;
mod dependencies;
mod finding;
mod graph;
mod level;
mod lock;
mod marks;
mod named;
mod policy;
mod preset;
#[cfg(test)]
#[path = "../../abide-schema/tests/protos/mod.rs"]
#[allow(clippy::disallowed_methods, reason = "tests read the protos that pages import")]
mod protos;
mod reserved;
mod reuse;
mod rule;
mod rules;
mod waiver;

pub use accepted::Accepted;
pub use bump::version::fits as version_fits;
pub use bump::{
    PackagePlan, Plan, Reason, Records, Rewritten, Verdict, first_version, next_version, plan,
    rises,
};
pub use calendar::{
    Calendar, Clock, Deprecation, Phase, Phases, Replacement, Retirement, Status, Window,
};
pub use check::{Options, Report, Scope, check, hindrances};
pub use config::{Config, ConfigError, VersionIn, nearest};
pub use finding::{ChangeFacts, Finding, Gone, Label, Location, Severity};
pub use graph::GraphView;
pub use level::Bump;
pub use lock::{Lock, Record};
pub use policy::{
    BreakingPolicy, ConfigWaiver, DependencyPolicy, DeprecationPolicy, Edge, OptionOrder,
    PackagePolicy, Policy, Removal, SecurityFix, WaiverTarget,
};
pub use preset::Preset;
pub use rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
pub use rules::{RULES, nearest_rule};
