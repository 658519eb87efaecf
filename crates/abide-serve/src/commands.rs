//! The commands, one module each.

mod args;
mod ask;
mod check;
mod conformance;
mod follow;
mod logs;
mod serve;
mod versions;

use std::process::ExitCode;
use std::sync::Arc;

pub(crate) use self::args::Args;
use self::args::{Command, Inputs};
pub(crate) use self::logs::say;
use crate::resources::{Apis, Judge, Leniency};
use crate::tools::{bootstrap, manage, restart, shutdown};

/// Runs a command.
///
/// # Errors
/// Why it could not do its work, one phrase.
pub(crate) fn run(args: Args) -> Result<ExitCode, String> {
    match args.command {
        Some(Command::Check(inputs)) => check::check(&inputs),
        Some(Command::Conformance(args)) => conformance::conformance(&args),
        Some(Command::Ask(args)) => on_one_thread(ask::ask(&args))?,
        Some(Command::Versions(args)) => on_one_thread(versions::versions(&args))?,
        Some(Command::Bootstrap(args)) => {
            logs::start("text");
            Ok(bootstrap(&args))
        }
        Some(Command::Restarter(args)) => beside(restart(&args)),
        Some(Command::ShutdownManager(args)) => beside(manage(&args)),
        Some(Command::Shutdown(args)) => beside(shutdown(&args)),
        None => serve::serve(args.serve),
    }
}

/// Runs one of the commands that stand beside a server or a proxy: they wait, on one thread.
fn beside(command: impl Future<Output = ExitCode>) -> Result<ExitCode, String> {
    logs::start("text");
    on_one_thread(command)
}

fn on_one_thread<T>(command: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    Ok(runtime.block_on(command))
}

/// What resources are judged by, and what the operator should know about it.
fn judge_of(inputs: &Inputs) -> Result<(Judge, Vec<String>), String> {
    let (apis, notes) = Apis::read(&inputs.api)?;
    let policy = abide_lint::Config::of_preset(abide_lint::Preset::default()).policy;
    let leniency = Leniency::from(&inputs.judge);
    Ok((Judge::new(Arc::new(apis), policy, leniency), notes))
}

/// Today, where this machine is.
fn today() -> jiff::civil::Date {
    jiff::Zoned::now().date()
}
