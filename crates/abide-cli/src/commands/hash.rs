//! `abide hash`.

use abide_hash::TreeHashes;
use abide_schema::Tree;
use abide_source::{Progress, load};
use rayon::prelude::*;

use super::outcome::CommandOutcome;
use super::preconditions::{
    describe_unknown_hashes, find_link_errors, find_unjudged_packages, read_errors,
};
use super::session::leave_to_exit;
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::render::{HashFormat, HashList, PrintedPackage};
use crate::settings::Settings;
use crate::terminal::{eprint_block, eprint_line, style, use_error_color};

/// The kind of list.
pub(super) enum HashTarget<'a> {
    /// Hashes.
    Hashes,
    /// The elements.
    Fields,
    /// The hashed facts of this element.
    Facts(&'a str),
}

pub(super) fn hash(
    global: &Global,
    args: &TreeArgs,
    package: Option<&str>,
    what: &HashTarget<'_>,
    format: &HashFormat,
) -> Result<CommandOutcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), use_error_color(global))?;
    let loaded = load(&settings.open_source(args)?, &progress)?;
    let tree = &loaded.tree;
    progress.begin_step("checking");
    let errors = find_link_errors(global, &settings, tree);
    progress.begin_step("hashing");
    let text = match what {
        HashTarget::Facts(name) => {
            abide_hash::print_facts(tree, name).ok_or_else(|| unknown_name_error(tree, name))?
        }
        HashTarget::Fields => {
            let packages = select_packages(tree, package)?;
            let files = packages.iter().flat_map(|(_, files)| files).map(|(_, file)| *file);
            let elements = abide_lint::elements(files, &settings.config.policy.calendar);
            (format.write)(&HashList::Elements(&elements), style(global, format.is_styled))
        }
        HashTarget::Hashes => {
            let hashes = TreeHashes::of(tree);
            progress.begin_step("writing the hashes");
            let packages = select_packages(tree, package)?;
            let with_messages = package.is_some();
            let list = HashList::Hashes { packages: &packages, hashes: &hashes, with_messages };
            let text = (format.write)(&list, style(global, format.is_styled));
            leave_to_exit(hashes);
            text
        }
    };
    progress.finish();
    if let Some(errors) = &errors {
        eprint_block(errors);
        eprint_line("note: the tree is not valid, so its hashes may change once it is");
    }
    let unknown = describe_unknown_hashes(tree).filter(|_| errors.is_none());
    for note in unknown.into_iter().chain(find_unjudged_packages(tree)).filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    let timings = if global.verbose { progress.format_timings() } else { Vec::new() };
    for note in timings.iter().chain(&loaded.notes).filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    let outcome = CommandOutcome {
        failed: errors.is_some(),
        troubles: read_errors(&loaded),
        ..CommandOutcome::of(text)
    };
    leave_to_exit(loaded);
    Ok(outcome)
}

/// The files to show, by package: the judged ones, or all files of the wanted package.
fn select_packages<'t>(
    tree: &'t Tree,
    wanted: Option<&str>,
) -> Result<Vec<PrintedPackage<'t>>, Error> {
    // What a file means that cannot be read, or leads to one that cannot, nobody knows.
    let is_unknown = tree.find_unknown_files();
    let packages: Vec<_> = tree
        .packages()
        .filter(|package| wanted.is_none_or(|wanted| wanted == package.name()))
        .filter(|package| !package.is_unknown())
        .filter(|package| package.files().all(|file| !is_unknown[file.id.0 as usize]))
        .collect();
    let told = packages.par_iter().map(|package| {
        let files = package.files().filter(|it| wanted.is_some() || it.is_judged());
        let mut files: Vec<_> = files.map(|file| (&*file.decl().display, file)).collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        (package.name(), files)
    });
    let packages: Vec<PrintedPackage<'_>> = told.filter(|(_, files)| !files.is_empty()).collect();
    match wanted {
        Some(name) if packages.is_empty() && tree.package_named(name).is_some() => {
            Err(Error::Usage(format!("what `{name}` means is not known: a file does not parse")))
        }
        Some(name) if packages.is_empty() => {
            let known = tree.packages().filter(|it| it.is_judged());
            let near = suggest_nearest(name, known.map(|it| it.full_name()));
            Err(Error::Usage(format!("there is no package `{name}`{near}")))
        }
        _ => Ok(packages),
    }
}

fn suggest_nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let known: Vec<String> = known.collect();
    abide_lint::find_nearest(name, known.iter().map(String::as_str))
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn unknown_name_error(tree: &Tree, name: &str) -> Error {
    let files = tree.files().filter(|file| file.is_judged());
    let known = files.flat_map(|file| {
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        let paths = [file.package().full_name(), file.decl().display.to_string()];
        paths
            .into_iter()
            .chain(messages.map(|it| it.full_name()))
            .chain(file.all_enums().map(|it| it.full_name()))
            .chain(file.services().map(|it| it.full_name()))
            .chain(file.extensions().map(|it| it.full_name()))
    });
    Error::Usage(format!(
        "there is no package, file, message, enum, service or extension `{name}`{}",
        suggest_nearest(name, known)
    ))
}
