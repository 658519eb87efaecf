//! Reads `abide.toml` and reports every error with its place.

mod config;
mod dependency_tables;
mod exceptions;
mod instance_tables;
mod own_rules;
mod policy_tables;
mod rule_levels;
mod settings_list;
mod toml_reader;
mod toml_strings;

pub use config::Config;
pub use dependency_tables::{ConfigDependency, DependencyOrigin, PackageKind};
pub use instance_tables::{ConfigApi, ConfigInstances};
pub use settings_list::{
    Setting, SettingValue, level_names, list_settings, own_rule_form, severity_words,
};
