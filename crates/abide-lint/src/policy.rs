//! The policy of a tree, as values: all that `abide.toml` can set.

mod check_plugin;
mod compatibility;
mod deprecation_policy;
mod idle_settings;
mod lint_policy;
mod policy;
mod preset;
mod severities;

pub use check_plugin::{CheckPlugin, PluginValue};
pub use compatibility::Compatibility;
pub(crate) use deprecation_policy::LastUse;
pub use deprecation_policy::{DeprecationPolicy, Removal};
pub(crate) use idle_settings::IdleReason;
pub(crate) use lint_policy::LintPart;
pub use lint_policy::LintPolicy;
pub use policy::{
    BreakingPolicy, ConfigFiles, ConfigPattern, ConfigWaiver, DependencyPolicy, Edge, OptionOrder,
    PackagePolicy, Policy, SecurityFix, WaiverTarget,
};
pub use preset::Preset;
pub use severities::{FindingScope, RuleSetting, RuleSettings};
pub(crate) use severities::{JudgedChange, Layer, Levels, Override, is_at};
