//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod calendar;
mod checks;
mod code_owners;
mod config;
mod drawing;
mod engine;
mod exceptions;
mod finding;
mod inputs;
mod instances;
mod lifecycle;
mod lock;
mod other_linters;
mod policy;
#[cfg(test)]
#[path = "../../abide-schema/tests/protos/mod.rs"]
#[allow(clippy::disallowed_methods, reason = "tests read the protos that pages import")]
mod protos;
mod rule;
mod rules;
mod versions;
mod wording;

pub use calendar::{
    Calendar, Clock, Phase, PhaseFreeze, Phases, Replacement, Window, first as first_version,
    fits as version_fits, next as next_version,
};
pub use checks::{BufVersion, buf_lint_rule, buf_lint_rules};
pub use code_owners::packages::{PackageFiles, PackageOwners, all_files, touched_files};
pub use code_owners::{CodeOwners, Forge, Ownership};
pub use config::{Config, ConfigApi, ConfigInstances};
pub use drawing::view::GraphView;
pub use engine::{
    CarriedFile, FixRequest, Fixed, RefusedFix, check, check_instances, check_translations,
    early_release, fix, hindrances, join_releases, lossy_release, new_errors, objections, plan,
    record_made,
};
pub use exceptions::waiver_of;
pub use finding::{
    Applied, Bump, ChangeFacts, ConfigError, Dependent, Finding, FindingLabel, Fix, FixEdit, Gone,
    Group, Location, Origin, RuleDefaults, Severity, Weight,
};
pub use inputs::{
    Accepted, ApiRelease, FeatureFile, InstanceFile, InstanceOptions, InstanceSet, Options,
    Overrides, RuleScope, RuntimeSetting, declared_layers,
};
pub use instances::{UsableDeprecation, usable_deprecations};
pub use lifecycle::{
    Bound, Deprecated, Deprecation, DeprecationList, ElementFacts, ElementId, ElementLife,
    ElementLives, Event, FileElements, Fleet, Lane, Life, Moment, Retirement, Scenario, Simulation,
    State, Status, Step, Stretch, Subject, Unknown, elements,
};
pub use lock::{Freeze, Lock, PackagePast, Record, Records, VersionIn, without_record_conflicts};
pub use other_linters::{
    PROTOLINT_RULES, ProtolintRule, RuleFamily, nearest_rule, rule_family, rules_named,
};
pub use policy::{
    BreakingPolicy, ConfigFiles, ConfigPattern, ConfigWaiver, DependencyPolicy, DeprecationPolicy,
    Edge, FindingScope, LintPolicy, OptionOrder, PackagePolicy, Policy, Preset, Removal,
    RuleSettings, SecurityFix, WaiverTarget,
};
pub use rule::{ChangeCheck, Check, Context, Report, Rule, Sink};
pub use rules::{
    ALPHA_TOO_OLD, DEPRECATED_USES, OLDER_MAJOR_USED, OVERRIDE_USED, REMEDIES, RULES, Remedy,
    find_rule,
};
pub use versions::{
    CopyApart, PackagePlan, Plan, Reason, Rewritten, Verdict, copies_apart, find_dependents, rises,
    stamp_release, stamp_upgrade,
};
pub use wording::{code, counted, nearest};
