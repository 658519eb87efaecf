//! Runs the programs that check and measure Abide. They link all of it, and so are built apart.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use abide_harness::{Result, exit_code};

/// Builds a program of this workspace, in the profile of tests, and runs it. Its exit status is ours.
pub(crate) fn run(program: &str, arguments: &[OsString]) -> ExitCode {
    match run_for_status(program, arguments) {
        Ok(status) => ExitCode::from(status),
        Err(error) => exit_code("xtask", Err(error)),
    }
}

fn run_for_status(program: &str, arguments: &[OsString]) -> Result<u8> {
    let package = if program == "abide-soundness" { "abide-oracle" } else { program };
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--locked", "--quiet", "--package", package, "--bin", program, "--"]);
    cargo.args(arguments);
    let status = cargo.status()?;
    let code = status.code().ok_or_else(|| format!("`{program}` was ended: {status}"))?;
    Ok(u8::try_from(code)?)
}
