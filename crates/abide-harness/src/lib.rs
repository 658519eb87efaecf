//! What comparisons, benchmarks and tasks of this workspace share: programs of others, our own
//! binaries, and real trees to run them on.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it runs programs, and reads and writes files below `target`"
)]

pub mod corpora;
pub mod envoys;
mod external_paths;
pub mod programs;
pub mod repository;
pub mod running_envoy;

use std::process::ExitCode;

pub use external_paths::ExternalPaths;

/// Errors are only for the person at the terminal, so a text is enough.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Turns the outcome of a program into its exit status: 0 if all holds, 1 if something does not,
/// and 2, with the error on standard error, if that could not be found out.
#[expect(clippy::print_stderr, reason = "the last line of a program that failed")]
pub fn exit_code(program: &str, outcome: Result<bool>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::from(2)
        }
    }
}
