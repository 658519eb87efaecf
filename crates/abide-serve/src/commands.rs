//! The commands, one module each.

mod check;
mod serve;

use std::process::ExitCode;

use crate::args::{Args, Command, Inputs};
use crate::judge::Judge;

/// Runs a command.
///
/// # Errors
/// Why it could not do its work, one phrase.
pub(crate) fn run(args: Args) -> Result<ExitCode, String> {
    match (args.command, args.serve) {
        (Some(Command::Check(inputs)), _) => check::check(&inputs),
        (None, Some(serve)) => serve::serve(serve),
        (None, None) => Err("nothing to serve: see `abide-serve --help`".to_owned()),
    }
}

/// What resources are judged by, and what the operator should know about it.
fn judge_of(inputs: &Inputs) -> Result<(Judge, Vec<String>), String> {
    let api = abide_cli::Api::read(&inputs.api, &inputs.import_path)?;
    let judge = Judge {
        tree: api.tree,
        policy: abide::Config::of_preset(abide::Preset::default()).policy,
        static_clusters: inputs.static_cluster.iter().cloned().collect(),
    };
    Ok((judge, api.notes))
}

/// Today, where this machine is.
fn today() -> jiff::civil::Date {
    jiff::Zoned::now().date()
}
