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
mod own_rules;
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
    AnnualDates, Calendar, Phase, PhaseFreeze, Phases, Replacement, Window, first as first_version,
    fits as version_fits, next as next_version,
};
pub use checks::{BufVersion, buf_lint_rule, buf_lint_rules};
pub use code_owners::packages::{PackageFiles, PackageOwners, all_files, touched_files};
pub use code_owners::{CodeOwners, Forge, Ownership};
pub use config::{
    Config, ConfigApi, ConfigDependency, ConfigInstances, ConfigText, ConfigTexts, ConfigValue,
    DependencyOrigin, PackageKind, Setting, SettingValue, is_server, level_names, list_settings,
    own_rule_form, severity_words,
};
pub use drawing::view::GraphView;
pub use engine::{
    CarriedFile, DescriptorPlace, EditionRequest, EditionResult, ExampleResult, FixRequest,
    FixResult, NoSuchPlace, PluginAnnotation, RefusedFix, build_plugin_finding, carry_to_edition,
    check, check_early_release, check_instances, check_lossy_release, check_translations,
    find_objections, find_upgrade_blockers, fix, join_releases, new_errors, plan_versions,
    record_made_versions, run_rule_examples,
};
pub use exceptions::{format_waiver, is_waivable, waive_in_comment};
pub use finding::{
    Applied, Behind, BrokenBaseline, Bump, ChangeFacts, ConfigError, Dependent, DeprecationAnswer,
    DeprecationError, DeprecationNotice, EditionObstacle, EditionObstacleReason, ElementUser,
    Exception, ExceptionKind, Finding, FindingLabel, Fix, FixEdit, Gone, Group, Impact, Location,
    Origin, RuleDefaults, Severity, deprecate,
};
pub use inputs::{
    Accepted, ApiRelease, ElementUse, FeatureFile, InstanceFile, InstanceOptions, InstanceSet,
    OldTree, Options, Overrides, RuleScope, RuntimeSetting, Usage, declared_layers, find_old_file,
};
pub use instances::{UsableDeprecation, usable_deprecations};
pub use lifecycle::{
    Deprecated, Deprecation, DeprecationList, DerivationStep, ElementFacts, ElementHistory,
    ElementHistoryBuilder, ElementId, FileElements, FleetMajors, HistoryPoint, LifeState,
    LifetimeBound, MajorTrack, Retirement, Scenario, Simulation, Status, Timeline, TimelineEvent,
    TimelineOf, TimelinePeriod, Unknown, elements,
};
pub use lock::{
    DependencyPin, Freeze, Lock, PackagePast, Record, Records, VersionIn, without_record_conflicts,
};
pub use other_linters::{
    PROTOLINT_RULES, ProtolintRule, RuleFamily, nearest_rule, rule_family, rules_named,
};
pub use own_rules::{
    FactDoc, FactTypeDoc, OwnRule, OwnRuleExample, OwnRuleId, RuleSubject, SubjectKind,
    list_fact_types,
};
pub use policy::{
    BreakingPolicy, CheckPlugin, Compatibility, ConfigFiles, ConfigPattern, ConfigWaiver,
    DependencyPolicy, DeprecationPolicy, Edge, FindingScope, LintPolicy, OptionOrder,
    PackagePolicy, PluginValue, Policy, Preset, Removal, RuleSetting, RuleSettings, SecurityFix,
    WaiverTarget,
};
pub use rule::{ChangeCheck, Check, Context, Report, Rule, Sink};
pub use rules::{
    ALPHA_TOO_OLD, DEPRECATED_USES, FixInfo, MENDED_BY_BREAKS, OF_FOLDERS, OLDER_MAJOR_USED,
    OVERRIDE_USED, REMEDIES, RULES, SERVICE_REMOVED, VERSION_MISSING, find_rule, find_rule_of,
    rules_of,
};
pub use versions::{
    BumpReason, DivergedCopy, PackagePlan, Plan, PlanVerdict, RewrittenOption, compute_bumps,
    find_dependents, find_diverged_copies, record_release, record_upgrade,
};
pub use wording::{backtick, find_nearest, pluralize};
