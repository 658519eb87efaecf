//! Starts `abide` under another name: some tools find plugins by the name of a program.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::terminal::eprint_line;

/// Runs `abide plugin TOOL` with the arguments of this process: the `abide` in the folder of this
/// program, else the one on the PATH.
pub fn launch(tool: &str) -> ExitCode {
    let abide = find_beside().unwrap_or_else(|| "abide".into());
    let mut command = Command::new(&abide);
    command.args(["plugin", tool]).args(std::env::args_os().skip(1));
    let error = match run(&mut command) {
        Ok(code) => return code,
        Err(error) => error,
    };
    eprint_line(&format!("error: cannot start `{}`: {error}", abide.display()));
    ExitCode::from(2)
}

fn find_beside() -> Option<PathBuf> {
    let name = format!("abide{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}

/// Becomes the program, where the system can do that.
#[cfg(unix)]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Waits for the program and ends as it did.
#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}
