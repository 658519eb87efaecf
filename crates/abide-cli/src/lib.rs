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

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::FromArgMatches;

pub use plugin::launch;

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    if let Some(plugin) = plugin::Plugin::from_program_name() {
        return plugin.run(&std::env::args().skip(1).collect::<Vec<_>>());
    }
    let matches = match args::Cli::build_documented().try_get_matches() {
        Ok(matches) => matches,
        Err(answer) => return print_answer(&answer),
    };
    match args::Cli::from_arg_matches(&matches) {
        Ok(cli) => commands::run(&cli, &matches),
        Err(error) => print_answer(&error),
    }
}

/// Prints help, a version or a usage error, which clap has written.
fn print_answer(answer: &clap::Error) -> ExitCode {
    let printed = answer.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(error) if !answer.use_stderr() && error.kind() != ErrorKind::BrokenPipe => {
            terminal::eprint_line(&format!("error: cannot write to standard output: {error}"));
            ExitCode::from(2)
        }
        _ => u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}
