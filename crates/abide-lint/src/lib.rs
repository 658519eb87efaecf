//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod accepted;
mod aip;
mod aliases;
mod behaviors;
mod buf_lint;
mod bump;
mod bump_level;
mod calendar;
mod calendar_status;
mod case;
mod clock;
mod code_owners;
mod code_span;
mod comment_scope;
mod config;
mod config_error;
mod constraints;
mod conversions;
mod copies;
mod counted;
mod dates;
mod dependencies;
mod dependents;
mod deprecated_uses;
mod deprecation_list;
mod deprecation_policy;
mod drawing;
mod element_life;
mod engine;
mod features;
mod finding;
mod fix;
mod frozen;
mod full_names;
mod group;
mod instance_majors;
mod instance_overrides;
mod instance_past;
mod instance_path;
mod instance_references;
mod instance_set;
mod instance_use;
mod instance_waivers;
mod lifecycle;
mod lint_groups;
mod lint_policy;
mod location;
mod lock;
mod marks;
mod merged_records;
mod nested_spans;
mod options;
mod overrides;
mod phases;
mod places;
mod policy;
mod preset;
#[cfg(test)]
#[path = "../../abide-schema/tests/protos/mod.rs"]
#[allow(clippy::disallowed_methods, reason = "tests read the protos that pages import")]
mod protos;
mod records;
mod replacement_words;
mod report;
mod reserved;
mod reuse;
mod rule;
mod rule_names;
mod rules;
mod security_fixes;
mod semantic_version;
mod sentences;
mod severities;
mod simulation;
mod stamps;
mod suggestion;
mod target_index;
mod type_uses;
mod waiver;
mod weight;

pub use accepted::Accepted;
pub use buf_lint::{BufVersion, buf_lint_rule, buf_lint_rules};
pub use bump::changes::rises;
pub use bump::{PackagePlan, Plan, Reason, Rewritten, Verdict};
pub use bump_level::Bump;
pub use calendar::{Calendar, Window};
pub use calendar_status::{Deprecation, Retirement, Status};
pub use clock::Clock;
pub use code_owners::packages::{PackageFiles, PackageOwners, all_files, touched_files};
pub use code_owners::{CodeOwners, Forge, Ownership};
pub use code_span::code;
pub use config::{Config, ConfigApi, ConfigInstances};
pub use config_error::ConfigError;
pub use copies::{CopyApart, copies_apart};
pub use counted::counted;
pub use dependents::{Dependent, find_dependents};
pub use deprecated_uses::{UsableDeprecation, usable_deprecations};
pub use deprecation_list::{Deprecated, DeprecationList, Unknown};
pub use deprecation_policy::{DeprecationPolicy, Removal};
pub use drawing::view::GraphView;
pub use element_life::{
    ElementFacts, ElementId, ElementLife, ElementLives, FileElements, Moment, elements,
};
pub use engine::fixing::{FixRequest, Fixed, RefusedFix, fix, objections};
pub use engine::hindrances::{early_release, hindrances, lossy_release};
pub use engine::instance_releases::join_releases;
pub use engine::instances::check_instances;
pub use engine::judging::check;
pub use engine::new_errors::new_errors;
pub use engine::translations::{CarriedFile, check_translations};
pub use engine::version_plan::plan;
pub use features::FeatureFile;
pub use finding::{ChangeFacts, Finding, FindingLabel, Gone, Severity};
pub use fix::{Applied, Fix, FixEdit};
pub use group::{Group, RuleDefaults};
pub use instance_set::{ApiRelease, InstanceFile, InstanceOptions, InstanceSet};
pub use lint_groups::{PROTOLINT_RULES, ProtolintRule};
pub use lint_policy::LintPolicy;
pub use location::{Location, Origin};
pub use lock::{Freeze, Lock, Record};
pub use merged_records::without_record_conflicts;
pub use options::{Options, RuleScope};
pub use overrides::{Overrides, RuntimeSetting, declared_layers};
pub use phases::{Phase, PhaseFreeze, Phases, Replacement};
pub use policy::{
    BreakingPolicy, ConfigFiles, ConfigPattern, ConfigWaiver, DependencyPolicy, Edge, OptionOrder,
    PackagePolicy, Policy, SecurityFix, WaiverTarget,
};
pub use preset::Preset;
pub use records::{PackagePast, Records, VersionIn};
pub use report::Report;
pub use rule::{ChangeCheck, Check, Context, Rule, Sink};
pub use rule_names::{RuleFamily, nearest_rule, rule_family, rules_named};
pub use rules::{
    ALPHA_TOO_OLD, DEPRECATED_USES, OLDER_MAJOR_USED, OVERRIDE_USED, REMEDIES, RULES, Remedy,
    find_rule,
};
pub use semantic_version::{first as first_version, fits as version_fits, next as next_version};
pub use severities::{FindingScope, RuleSettings};
pub use simulation::bounds::Bound;
pub use simulation::fleet::Fleet;
pub use simulation::life::{Event, Lane, Life, State, Stretch, Subject};
pub use simulation::{Scenario, Simulation, Step};
pub use stamps::{record_made, stamp_release, stamp_upgrade};
pub use suggestion::nearest;
pub use waiver::waiver_of;
pub use weight::Weight;
