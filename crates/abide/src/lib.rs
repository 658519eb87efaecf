//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod accepted;
mod check;
mod config;
mod dependencies;
mod finding;
mod graph;
mod policy;
mod preset;
mod rule;
mod rules;
#[cfg_attr(not(test), expect(dead_code, reason = "what is lost waits for the rules that name it"))]
mod symbols;
mod waiver;

pub use accepted::Accepted;
pub use check::{Options, Report, check};
pub use config::{Config, ConfigError, VersionIn};
pub use finding::{Finding, Label, Location, Severity};
pub use graph::GraphView;
pub use policy::{
    Calendar, Closure, ConfigWaiver, DependencyPolicy, Edge, Glob, PackagePolicy, Policy,
    UpgradePolicy, WaiverTarget,
};
pub use preset::Preset;
pub use rule::{Check, Context, Group, Rule, Sink};
pub use rules::{RULES, nearest_rule};
pub use symbols::{Language, Symbol, symbols, symbols_of_file};
