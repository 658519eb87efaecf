//! Reads `abide.toml` and reports every error with its place.

mod config;
mod config_texts;
mod dependency_tables;
mod exceptions;
mod floors;
mod instance_tables;
mod own_rules;
mod plugin_tables;
mod policy_tables;
mod rule_levels;
mod settings_list;
mod toml_reader;
mod toml_strings;

pub use config::{Config, ConfigValue};
pub use config_texts::{ConfigText, ConfigTexts};
pub use dependency_tables::{ConfigDependency, DependencyOrigin, PackageKind};
pub use instance_tables::{ConfigApi, ConfigInstances};
pub use settings_list::{
    Setting, SettingValue, level_names, list_settings, own_rule_form, severity_words,
};
pub use toml_reader::is_server;
