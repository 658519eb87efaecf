//! The commands, one module each.

mod args;
mod ask;
mod check;
mod conformance;
mod follow;
mod logs;
mod serve;
mod usage;
mod versions;

use std::process::ExitCode;
use std::sync::Arc;

pub(crate) use self::args::Args;
use self::args::{Command, Inputs};
pub(crate) use self::logs::say;
use crate::error::Error;
use crate::resources::{Apis, Judge, Leniency};
use crate::tools::{bootstrap, manage, restart, shutdown};

/// Runs a command.
///
/// # Errors
/// Anything that kept it from its work.
pub(crate) fn run(args: Args) -> Result<ExitCode, Error> {
    match args.command {
        Some(Command::Check(inputs)) => check::check(&inputs),
        Some(Command::Conformance(args)) => conformance::conformance(&args),
        Some(Command::Ask(args)) => block_on_one_thread(ask::ask(&args))?,
        Some(Command::Versions(args)) => block_on_one_thread(versions::versions(&args))?,
        Some(Command::Usage(args)) => block_on_one_thread(usage::usage(&args))?,
        Some(Command::Bootstrap(args)) => {
            logs::start("text");
            Ok(bootstrap(&args))
        }
        Some(Command::Restarter(args)) => run_sidecar(restart(&args)),
        Some(Command::ShutdownManager(args)) => run_sidecar(manage(&args)),
        Some(Command::Shutdown(args)) => run_sidecar(shutdown(&args)),
        None => serve::serve(args.serve),
    }
}

/// Runs one of the commands that stand beside a server or a proxy: they wait, on one thread.
fn run_sidecar(command: impl Future<Output = ExitCode>) -> Result<ExitCode, Error> {
    logs::start("text");
    block_on_one_thread(command)
}

fn block_on_one_thread<T>(command: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Error::Start)?;
    Ok(runtime.block_on(command))
}

/// Reads what resources are judged by. Returns also what the operator should know about it.
fn read_judge(inputs: &Inputs) -> Result<(Judge, Vec<String>), Error> {
    let (apis, notes) = Apis::read(&inputs.api)?;
    let policy = abide_lint::Config::of_preset(abide_lint::Preset::default()).policy;
    let leniency = Leniency::from(&inputs.judge);
    Ok((Judge::new(Arc::new(apis), policy, leniency), notes))
}

/// Today, where this machine is.
fn today() -> jiff::civil::Date {
    jiff::Zoned::now().date()
}
