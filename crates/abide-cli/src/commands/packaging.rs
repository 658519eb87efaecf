//! `abide completions` and `abide man`.

use std::path::Path;

use abide_lint::{Group, RULES};
use abide_source::CONFIG;
use abide_source::write::OpenFolder;
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};

use super::explain::WAIVERS;
use super::outcome::CommandOutcome;
use crate::args::{Cli, ManArgs};
use crate::error::Error;
use crate::render::ManPage;

/// Writes what makes a shell complete commands, options, their values and rules.
pub(super) fn completions(shell: Shell) -> CommandOutcome {
    // The command takes names of other tools as well, and suggests what is near to a typo.
    let groups = || Group::ALL.iter().map(|it| it.name());
    let rules = || RULES.iter().map(|rule| rule.id).chain(groups());
    let pages = PossibleValuesParser::new(rules().chain([WAIVERS, CONFIG]));
    let mut abide = Cli::build_documented().mut_subcommand("explain", |explain| {
        explain.mut_arg("rule", |rule| rule.value_parser(pages))
    });
    for command in ["check", "lint", "breaking"] {
        abide = abide.mut_subcommand(command, |command| {
            ["select", "ignore"].into_iter().fold(command, |command, option| {
                let names = PossibleValuesParser::new(rules());
                // The help would list all of them.
                command.mut_arg(option, |it| it.value_parser(names).hide_possible_values(true))
            })
        });
    }
    let mut script = Vec::new();
    generate(shell, &mut abide, "abide", &mut script);
    CommandOutcome::of(script)
}

/// Writes one manual page as the report, or all of them to a folder.
pub(super) fn man(args: &ManArgs) -> Result<CommandOutcome, Error> {
    let mut abide = Cli::build_documented().disable_help_subcommand(true);
    // Only this gives the commands their full names, and the options of every command.
    abide.build();
    match &args.out {
        Some(folder) => write_pages(&abide, folder),
        None => {
            let mut command = &abide;
            for name in &args.command {
                command = command.find_subcommand(name).ok_or_else(|| {
                    let whole = args.command.join(" ");
                    Error::Usage(format!("there is no command `{whole}` (see `abide --help`)"))
                })?;
            }
            Ok(CommandOutcome::of(ManPage::build(command).text))
        }
    }
}

fn write_pages(abide: &Command, folder: &Path) -> Result<CommandOutcome, Error> {
    let made = OpenFolder::make(folder).map_err(fail_to_write(folder, ""))?;
    let mut report = String::new();
    let mut rest = vec![abide];
    while let Some(command) = rest.pop() {
        let page = ManPage::build(command);
        made.replace(page.name.as_ref(), &page.text).map_err(fail_to_write(folder, &page.name))?;
        report.push_str(&format!("wrote {}\n", folder.join(&page.name).display()));
        let mut below: Vec<&Command> = command.get_subcommands().collect();
        below.reverse();
        rest.extend(below);
    }
    Ok(CommandOutcome::of(report))
}

fn fail_to_write(folder: &Path, name: &str) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("cannot write `{}`", folder.join(name).display());
    move |error| Error::File { what, error }
}
