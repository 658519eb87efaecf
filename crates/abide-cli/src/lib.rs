//! The command line of Abide: reads trees, renders reports and writes files.
#![allow(clippy::disallowed_methods)] // The command line touches the world.

mod args;
mod code_files;
mod commands;
mod diff;
mod error;
mod history;
mod lsp;
mod managed_section;
mod matching_files;
mod owners_file;
mod plugin;
mod render;
mod settings;
mod terminal;
mod usage_files;

use std::process::ExitCode;

use clap::FromArgMatches;

pub use plugin::launch;

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    if let Some(plugin) = plugin::Plugin::from_program_name() {
        return plugin.run(&std::env::args().skip(1).collect::<Vec<_>>());
    }
    // clap prints help and usage errors itself, and exits with status 0 or 2.
    let matches = args::Cli::build_documented().get_matches();
    let cli = args::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    commands::run(&cli, &matches)
}
