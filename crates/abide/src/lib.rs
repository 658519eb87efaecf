//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod accepted;
mod bump;
mod calendar;
mod case;
mod change;
mod check;
mod config;
mod constraint;
mod dependencies;
mod edit;
mod finding;
mod graph;
mod hash;
mod lock;
mod marks;
mod named;
mod option;
mod peer;
mod policy;
mod preset;
#[cfg(test)]
#[path = "../tests/protos/mod.rs"]
#[allow(clippy::disallowed_methods, reason = "tests read the protos that pages import")]
mod protos;
mod reserved;
mod reuse;
mod rule;
mod rules;
mod source;
mod surface;
mod symbols;
mod upgrade;
mod waiver;
mod witness;

pub use accepted::Accepted;
pub use bump::version::fits as version_fits;
pub use bump::{
    PackagePlan, Plan, Reason, Records, Rewritten, STATUS_PROTO, Verdict, first_version,
    next_version, plan, rises,
};
pub use calendar::{
    Calendar, Clock, Deprecation, Phase, Phases, Replacement, Retirement, Status, Window,
};
pub use change::{Change, Diff};
pub use check::{Options, Report, Scope, check, hindrances};
pub use config::{Config, ConfigError, VersionIn, nearest};
pub use constraint::{Judgement, Violation, judge};
pub use finding::{ChangeFacts, Finding, Gone, Label, Location, Severity};
pub use graph::GraphView;
pub use hash::{
    HashError, Hashes, Meaning, PackageStep, RollingHashes, SemanticHash, TreeHashes, facts,
};
pub use lock::{Lock, Record};
pub use option::Holder;
pub use policy::{
    BreakingPolicy, Closure, ConfigWaiver, DependencyPolicy, DeprecationPolicy, Edge, Glob,
    ImportOrder, Layout, LinkPolicy, OptionOrder, PackagePolicy, Policy, Removal, SecurityFix,
    UpgradePolicy, UpgradeReason, WaiverTarget,
};
pub use preset::Preset;
pub use rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
pub use rules::{RULES, nearest_rule};
pub use source::LostSymbol;
pub use surface::{Bump, Direction, Effects, Surface};
pub use symbols::{Language, Symbol, symbols, symbols_of_file};
pub use upgrade::{
    BUILD_MARK, BuildFile, Generated, Mapping, Refusal, Release, Risen, Upgrade, UpgradeOptions,
    build_files, canonical_layout, is_made, mapping, release, upgrade, version_build_file,
};
pub use witness::{Proof, Witness};
