//! `abide deps`: where imports come from, and bringing what is missing.

mod added_tables;
mod import_origins;
mod problems;
mod vendor;

use self::import_origins::collect_report;
pub(super) use self::import_origins::load_tree;
use self::vendor::VendorRequest;
use super::outcome::CommandOutcome;
use crate::args::{DepsArgs, DepsCommand, Global};
use crate::error::Error;
use crate::render::{DEPENDENCY_LISTS, DependencyListFormat};
use crate::settings::Settings;
use crate::terminal::use_error_color;
pub(super) use added_tables::{choose_name, name_repositories, render_dependency};

pub(super) fn deps(global: &Global, args: &DepsArgs) -> Result<CommandOutcome, Error> {
    match &args.command {
        None => list(global, &DEPENDENCY_LISTS[0]),
        Some(DepsCommand::List { format }) => list(global, format),
        Some(DepsCommand::Vendor { names, into }) => {
            let request = VendorRequest { names, is_update: false, into: into.as_deref() };
            vendor::vendor(global, &request)
        }
        Some(DepsCommand::Update { names }) => {
            let request = VendorRequest { names, is_update: true, into: None };
            vendor::vendor(global, &request)
        }
        Some(DepsCommand::Check) => check(global),
    }
}

fn list(global: &Global, format: &DependencyListFormat) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, None, use_error_color(global))?;
    let report = collect_report(global, &settings)?;
    Ok(CommandOutcome::of((format.write)(&report)))
}

fn check(global: &Global) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, None, use_error_color(global))?;
    let report = collect_report(global, &settings)?;
    let problems = problems::find_problems(&settings, &report)?;
    let lines = problems.iter().map(|it| format!("{it}\n")).collect::<String>();
    Ok(CommandOutcome { failed: !problems.is_empty(), ..CommandOutcome::of(lines) })
}
