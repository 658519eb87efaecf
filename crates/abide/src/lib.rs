//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod accepted;
mod check;
mod config;
#[expect(dead_code, reason = "the rules on constraints are to use it")]
mod constraint;
mod dependencies;
mod finding;
mod graph;
mod policy;
mod preset;
mod rule;
mod rules;
mod waiver;

pub use accepted::Accepted;
pub use check::{Options, Report, check};
pub use config::{Config, ConfigError, VersionIn};
pub use constraint::{Judgement, Violation, judge};
pub use finding::{Finding, Label, Location, Severity};
pub use graph::GraphView;
pub use policy::{
    Calendar, Closure, ConfigWaiver, DependencyPolicy, Edge, Glob, PackagePolicy, Policy,
    UpgradePolicy, WaiverTarget,
};
pub use preset::Preset;
pub use rule::{Check, Context, Group, Rule, Sink};
pub use rules::{RULES, nearest_rule};
