//! Reads `abide.toml` and reports every error with its place.

mod config;
mod exceptions;
mod instance_tables;
mod policy_tables;
mod rule_levels;
mod toml_reader;

pub use config::Config;
pub use instance_tables::{ConfigApi, ConfigInstances};
