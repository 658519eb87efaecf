//! What each command does.

mod build;
mod bump;
mod check;
mod explain;
mod graph;
mod hash;
mod history;
mod init;
mod release;
mod upgrade;

use std::fs::{File, TryLockError};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::{Cli, Color, Command, Global};
use crate::error::Error;
use crate::printable::shown;
use crate::write;

/// What a command that did its work says.
struct Outcome {
    /// What is written; `None` leaves everything as it is.
    report: Option<Vec<u8>>,
    /// Where it is written, if the command itself says so: else the file that `--output` names, or
    /// standard output.
    target: Option<PathBuf>,
    /// Whether it found something at error level.
    failed: bool,
    /// Parts of the work that could not be done, one phrase each: exit status 2.
    troubles: Vec<String>,
}

impl Outcome {
    fn of(report: impl Into<Vec<u8>>) -> Outcome {
        Outcome { report: Some(report.into()), ..Outcome::nothing(false) }
    }

    fn nothing(failed: bool) -> Outcome {
        Outcome { report: None, target: None, failed, troubles: Vec::new() }
    }
}

/// Keeps every other command that writes to a tree out of its folder while the file lives. The
/// folder itself is what is locked: it is there before the first record, and nothing is left
/// behind.
fn exclusive(folder: &Path, global: &Global) -> Result<Option<File>, Error> {
    let failed = |error| Error::File { what: format!("cannot lock `{}`", folder.display()), error };
    // Where a folder cannot be opened, or locked, what is written is still compared before.
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            if !global.quiet {
                say("note: waiting for another command that writes to this tree");
            }
            file.lock().map_err(failed)?;
            Ok(Some(file))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Runs a command and gives the exit status of the contract: 0, 1 or 2.
pub(crate) fn run(cli: &Cli) -> ExitCode {
    let color = report_color(&cli.global);
    if let Some(jobs) = cli.global.jobs {
        // Fails only where a pool exists already, and this is the first use.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global();
    }
    let result = match &cli.command {
        Command::Check { judge, compare, accept } => {
            check::check(&cli.global, judge, compare, *accept, color)
        }
        Command::Breaking { judge, compare, surface } => {
            check::breaking(&cli.global, judge, compare, surface, color)
        }
        Command::Lint { judge } => check::lint(&cli.global, judge, color),
        Command::Upgrade { tree, package, closure, mapping, target } => {
            let closure = closure.as_deref();
            upgrade::upgrade(&cli.global, tree, package, closure, mapping, target)
        }
        Command::Release { tree, target } => release::release(&cli.global, tree, target),
        Command::Bump { tree, against, action, format } => {
            bump::bump(&cli.global, tree, against.as_deref(), *action, *format, color)
        }
        Command::Graph { tree, format, imports } => {
            graph::graph(&cli.global, tree, *format, *imports)
        }
        Command::Build { tree, out, exclude_imports, exclude_source_info } => {
            let out = out.as_deref();
            build::build(&cli.global, tree, out, *exclude_imports, *exclude_source_info)
        }
        Command::Hash { tree, package, facts, format } => {
            hash::hash(&cli.global, tree, package.as_deref(), facts.as_deref(), *format)
        }
        Command::History { args } => history::history(&cli.global, args, color),
        Command::Explain { rule } => explain::explain(rule),
        Command::Rules { format } => explain::rules(*format),
        Command::Init { dir, from } => init::init(&cli.global, dir.as_deref(), from.as_deref()),
    };
    match result.and_then(|outcome| finish(&cli.global, outcome)) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

fn finish(global: &Global, outcome: Outcome) -> Result<ExitCode, Error> {
    let target = outcome.target.as_ref().or(global.output.as_ref());
    if let Some(report) = &outcome.report {
        write::write(target.map(PathBuf::as_path), report).map_err(|error| Error::File {
            what: match target {
                Some(path) => format!("cannot write `{}`", path.display()),
                None => "cannot write to standard output".to_owned(),
            },
            error,
        })?;
    }
    for trouble in &outcome.troubles {
        say(&format!("error: {}", shown(trouble)));
    }
    Ok(match (outcome.troubles.is_empty(), outcome.failed) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::from(1),
        (true, false) => ExitCode::SUCCESS,
    })
}

/// A line on standard error. Where nobody reads it, the exit status is left.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// An error of the tool itself.
fn complain(error: &Error) {
    match error {
        // They come rendered, line by line.
        Error::Config(text) => say(text.trim_end()),
        error => say(&format!("error: {}", shown(&error.to_string()))),
    }
}

fn report_color(global: &Global) -> bool {
    use_color(global, global.output.is_none() && std::io::stdout().is_terminal())
}

/// Whether the errors of the tool itself are coloured.
fn error_color(global: &Global) -> bool {
    use_color(global, std::io::stderr().is_terminal())
}

fn use_color(global: &Global, terminal: bool) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
