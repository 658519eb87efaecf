//! `abide calendar`.

use abide_lint::{DeprecationList, Lock, Scenario, Simulation, Status, Timeline, find_nearest};
use abide_schema::{Element, Package, Tree};
use abide_source::{LoadedTree, Progress, load};

use super::outcome::CommandOutcome;
use super::preconditions::{find_link_errors, read_errors};
use crate::args::{CalendarArgs, CalendarCommand, Global, SimulateArgs, TreeArgs};
use crate::error::Error;
use crate::render::SimulationReport;
use crate::settings::{Settings, read_lock, today};
use crate::terminal::{eprint_block, eprint_line, style, use_error_color};

pub(super) fn calendar(global: &Global, args: &CalendarArgs) -> Result<CommandOutcome, Error> {
    if let Some(CalendarCommand::Simulate(simulated)) = &args.simulate {
        if args.tree.source.is_some() || !args.tree.import_path.is_empty() {
            let message = "name the tree after `simulate`: `abide calendar simulate SOURCE`";
            return Err(Error::Usage(message.to_owned()));
        }
        return simulate(global, simulated);
    }
    let settings = Settings::read(global, args.tree.source.as_deref(), use_error_color(global))?;
    let loaded = load_tree(global, &settings, &args.tree)?;
    let as_of = global.as_of.unwrap_or_else(today);
    let recorded = read_tree_lock(&settings, &args.tree)?;
    let status = Status::of(&loaded.tree, &settings.config.policy, recorded.as_ref(), as_of);
    let text = (args.format.write)(&status, style(global, args.format.is_styled));
    let failed = report_link_errors(global, &settings, &loaded);
    Ok(CommandOutcome { failed, troubles: read_errors(&loaded), ..CommandOutcome::of(text) })
}

fn simulate(global: &Global, args: &SimulateArgs) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.tree.source.as_deref(), use_error_color(global))?;
    let policy = &settings.config.policy;
    let as_of = global.as_of.unwrap_or_else(today);
    let scenario = Scenario {
        from: args.from.unwrap_or(as_of),
        years: args.years,
        notice: args.notice,
        major_every: args.major_every,
    };
    let simulation = Simulation::run(policy, scenario).ok_or_else(|| {
        Error::Usage(
            "nothing says when majors appear: pass `--major-every MONTHS`, set `api-releases` in \
             [calendar], or choose the preset `envoy`"
                .to_owned(),
        )
    })?;
    // The policy alone is enough, unless the life of something in a tree is asked for.
    let asked = args.element.as_deref().or(args.package.as_deref());
    let loaded = match asked {
        Some(_) => Some(load_tree(global, &settings, &args.tree)?),
        None => None,
    };
    let recorded = asked.map(|_| read_tree_lock(&settings, &args.tree)).transpose()?.flatten();
    let life = match (&loaded, asked) {
        (Some(loaded), Some(name)) => {
            let status = Status::of(&loaded.tree, policy, recorded.as_ref(), as_of);
            Some(match args.element.is_some() {
                true => {
                    let element = find_element(&loaded.tree, name)?;
                    let list = DeprecationList::of(&loaded.tree, policy, &status);
                    let name = element.full_name();
                    let deprecated = list.entries.iter().find(|it| it.holder.full_name() == name);
                    Timeline::for_element(element, deprecated, policy, &scenario)
                }
                false => {
                    let package = find_package(&loaded.tree, name)?;
                    let introduced = policy
                        .calendar
                        .introduced(package)
                        .or_else(|| recorded.as_ref()?.introduced(package.name()));
                    Timeline::for_package(package, introduced, &status, policy, &scenario)
                }
            })
        }
        _ => None,
    };
    let report = SimulationReport { simulation: &simulation, life: life.as_ref() };
    let text = (args.format.write)(&report, style(global, args.format.is_styled));
    let failed = loaded.as_ref().is_some_and(|it| report_link_errors(global, &settings, it));
    let troubles = loaded.as_ref().map(read_errors).unwrap_or_default();
    Ok(CommandOutcome { failed, troubles, ..CommandOutcome::of(text) })
}

fn load_tree(global: &Global, settings: &Settings, tree: &TreeArgs) -> Result<LoadedTree, Error> {
    let progress = Progress::new(global.quiet);
    let loaded = load(&settings.open_source(tree)?, &progress)?;
    progress.finish();
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    Ok(loaded)
}

/// Reports the link errors of a tree, and says whether there are any.
fn report_link_errors(global: &Global, settings: &Settings, loaded: &LoadedTree) -> bool {
    let errors = find_link_errors(global, settings, &loaded.tree);
    if let Some(errors) = &errors {
        eprint_block(errors);
        eprint_line("note: the tree is not valid, so the calendar may be incomplete");
    }
    errors.is_some()
}

/// The `abide.lock` of the tree.
fn read_tree_lock(settings: &Settings, tree: &TreeArgs) -> Result<Option<Lock>, Error> {
    read_lock(&settings.open_source(tree)?, "", false)
}

fn find_element<'t>(tree: &'t Tree, name: &str) -> Result<Element<'t>, Error> {
    let found = tree.element_named(name).filter(|it| it.file().is_judged());
    found.ok_or_else(|| {
        let elements = tree.files().filter(|it| it.is_judged()).flat_map(|it| it.elements());
        let known: Vec<String> = elements.map(Element::full_name).collect();
        unknown_name_error("element", name, &known)
    })
}

fn find_package<'t>(tree: &'t Tree, name: &str) -> Result<Package<'t>, Error> {
    let found = tree.package_named(name).filter(|it| it.is_judged());
    found.ok_or_else(|| {
        let packages = tree.packages().filter(|it| it.is_judged());
        let known: Vec<String> = packages.map(|it| it.full_name()).collect();
        unknown_name_error("package", name, &known)
    })
}

fn unknown_name_error(noun: &str, name: &str, known: &[String]) -> Error {
    let near = find_nearest(name, known.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Error::Usage(format!("there is no {noun} `{name}`{near}"))
}
