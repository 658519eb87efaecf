//! The commands, one module each.

mod blocked_packages;
mod build;
mod build_files;
mod bump;
mod calendar;
mod changed;
mod check;
pub(crate) mod config;
mod deprecate;
mod deprecations;
mod deps;
mod drift;
mod edited_tree;
mod edition;
mod explain;
mod file_changes;
mod fix;
mod folder_lock;
mod format;
mod generated_files;
mod graph;
mod hash;
mod history;
mod history_dates;
mod init;
mod instance_diff;
mod instance_files;
mod instances;
mod lsp;
mod outcome;
mod outputs;
mod owners;
mod packaging;
mod plugin;
mod preconditions;
mod predicted_tree;
mod release;
mod rule_tests;
mod runtime;
mod selection;
mod serve;
mod session;
mod upgrade;
mod usage;
mod waive;

use std::process::ExitCode;

use abide_source::write;
use clap::ArgMatches;

use self::outcome::CommandOutcome;
use self::release::ReleaseOverrides;
use self::session::CheckAction;
use crate::args::{Cli, Command, Global, RulesCommand};
use crate::error::Error;
use crate::terminal::{eprint_block, eprint_line};

/// Runs a command and returns its exit status: 0, 1 or 2.
pub(crate) fn run(cli: &Cli, matches: &ArgMatches) -> ExitCode {
    if let Err(error) = outputs::check_outputs(cli, matches) {
        print_error(&error);
        return ExitCode::from(2);
    }
    let mut pool =
        rayon::ThreadPoolBuilder::new().num_threads(cli.global.jobs.map_or(0, usize::from));
    // This thread works, too, and what one step frees, the next one uses again. An editor's server
    // waits in this thread for others.
    if !matches!(cli.command, Command::Lsp(_)) {
        pool = pool.use_current_thread();
    }
    // Fails only if a pool exists already, and this is the first use.
    let _ = pool.build_global();
    let result = match &cli.command {
        Command::Check { judge, compare, accept, fix } => {
            let action = match accept {
                true => CheckAction::Accept,
                false => CheckAction::from_args(*fix),
            };
            check::check(&cli.global, judge, compare, action)
        }
        Command::Breaking { judge, compare, surface } => {
            check::breaking(&cli.global, judge, compare, surface)
        }
        Command::Drift(args) => drift::drift(&cli.global, args),
        Command::Lint { judge, fix } => check::lint(&cli.global, judge, *fix),
        Command::Upgrade { tree, package, closure, mapping, target, overwrite } => {
            let closure = closure.as_deref();
            upgrade::upgrade(&cli.global, tree, package, closure, mapping, target, *overwrite)
        }
        Command::Release { tree, target, outside_window, overwrite } => {
            let permits =
                ReleaseOverrides { outside_window: *outside_window, overwrite: *overwrite };
            release::release(&cli.global, tree, target, permits)
        }
        Command::Bump { tree, against, action, from_history, format } => {
            let since = (against.as_deref(), *from_history);
            bump::bump(&cli.global, tree, since, *action, format)
        }
        Command::Deprecate(args) => deprecate::deprecate(&cli.global, args),
        Command::Waive(args) => waive::waive(&cli.global, args),
        Command::Deprecations(args) => deprecations::deprecations(&cli.global, args),
        Command::Usage(args) => usage::usage(&cli.global, args),
        Command::Edition(args) => edition::edition(&cli.global, args),
        Command::Calendar(args) => calendar::calendar(&cli.global, args),
        Command::Config(args) => config::config(&cli.global, args),
        Command::Runtime(args) => runtime::runtime(&cli.global, args),
        Command::Deps(args) => deps::deps(&cli.global, args),
        Command::Owners(args) => owners::owners(&cli.global, args),
        Command::Format(args) => format::format(&cli.global, args),
        Command::Lsp(args) => Ok(lsp::lsp(&cli.global, args)),
        Command::Plugin(args) => return plugin::plugin(args),
        Command::Serve { args } => serve::serve(args),
        Command::Graph { tree, format, imports } => {
            graph::graph(&cli.global, tree, *format, *imports)
        }
        Command::Build { tree, out, exclude_imports, exclude_source_info } => {
            let out = out.as_deref();
            build::build(&cli.global, tree, out, *exclude_imports, *exclude_source_info)
        }
        Command::Hash { tree, package, facts, fields, format } => {
            let what = match facts {
                Some(name) => hash::HashTarget::Facts(name),
                None if *fields => hash::HashTarget::Fields,
                None => hash::HashTarget::Hashes,
            };
            hash::hash(&cli.global, tree, package.as_deref(), &what, format)
        }
        Command::History { args } => history::history(&cli.global, args),
        Command::Explain { rule, all, format } => match all {
            true => Ok(explain::explain_all(&cli.global, format)),
            false => explain::explain(&cli.global, rule.as_deref(), format),
        },
        Command::Rules { format, command: None } => explain::list_rules(&cli.global, format),
        Command::Rules { command: Some(RulesCommand::Test { format }), .. } => {
            rule_tests::test_rules(&cli.global, format)
        }
        Command::Init { annotations: Some(folder), .. } => init::write_annotations(folder),
        Command::Init { dir, from, strict, annotations: None } => {
            init::init(&cli.global, dir.as_deref(), from.as_deref(), *strict)
        }
        Command::Completions(args) => Ok(packaging::completions(args.shell)),
        Command::Man(args) => packaging::man(args),
    };
    match result.and_then(|outcome| write_outcome(&cli.global, outcome)) {
        Ok(code) => code,
        Err(error) => {
            print_error(&error);
            ExitCode::from(2)
        }
    }
}

fn write_outcome(global: &Global, outcome: CommandOutcome) -> Result<ExitCode, Error> {
    if let Some(report) = &outcome.report {
        let target = global.output.as_deref();
        write::write(target, report).map_err(|error| Error::unwritten(target, error))?;
    }
    for (path, report) in &outcome.files {
        write::write(Some(path), report).map_err(|error| Error::unwritten(Some(path), error))?;
    }
    for trouble in &outcome.troubles {
        eprint_line(&format!("error: {trouble}"));
    }
    Ok(match (outcome.troubles.is_empty(), outcome.failed) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::from(1),
        (true, false) => ExitCode::SUCCESS,
    })
}

/// Prints an error of the tool itself.
fn print_error(error: &Error) {
    match error {
        // These are already rendered.
        Error::Config(text) => eprint_block(text.trim_end()),
        error => eprint_line(&format!("error: {error}")),
    }
}
