//! `abide serve`: runs `abide-serve` from the PATH, as git and cargo run what belongs to them.

use std::ffi::OsString;
use std::process::Command;

use super::outcome::CommandOutcome;
use crate::error::Error;

const PROGRAM: &str = "abide-serve";

/// Becomes `abide-serve`, where the system can do that; else waits for it.
pub(super) fn serve(args: &[OsString]) -> Result<CommandOutcome, Error> {
    let mut command = Command::new(PROGRAM);
    command.args(args);
    Err(match run_and_exit(&mut command) {
        error if error.kind() == std::io::ErrorKind::NotFound => Error::Usage(format!(
            "`{PROGRAM}` is not on the PATH: it is a program of its own, which `cargo install --path \
             crates/abide-serve` builds"
        )),
        error => Error::File { what: format!("cannot run `{PROGRAM}`"), error },
    })
}

#[cfg(unix)]
fn run_and_exit(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}
