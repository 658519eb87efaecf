//! The command-line contract, proven on the built binary.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

mod baseline;
mod book;
mod breaking;
mod bump;
mod cached;
mod changed;
#[path = "../cached/mod.rs"]
mod changing;
mod check_plugins;
mod config;
mod contract;
mod copies;
mod deprecate;
mod deps;
mod determinism;
mod edition;
mod exceptions;
mod extends;
mod first_hour;
mod fix;
mod format;
mod formats;
mod hash;
mod hidden;
#[path = "../hiding/mod.rs"]
mod hiding;
mod history;
mod hostile;
mod init;
mod instance_diff;
mod instances;
mod interrupted;
mod layouts;
mod links;
mod live;
mod lives;
mod lost_objects;
mod majors;
mod moving;
mod old_trees;
mod other_linters;
mod other_tools;
mod outputs;
mod own_rules;
mod packaging;
mod policy;
mod protovalidate;
mod registry_cases;
mod release;
mod remote;
mod repeated_roots;
mod repeated_writes;
mod roots;
mod run;
mod runtime;
mod server_hook;
mod sets;
mod snapshots;
mod sparse;
mod stories;
mod story_table;
mod strict_json;
mod submodules;
mod translation;
mod two_step_breaks;
mod unparsed;
mod unseen;
mod upgrade;
mod uses;
mod verdicts;
#[path = "../version_lives/mod.rs"]
mod version_lives;
mod waive;
#[path = "../writers/mod.rs"]
mod writers;
