//! `abide hash`.

use std::fmt::Write;

use abide_meaning::{Hashes, TreeHashes};
use abide_schema::{File, Tree};
use rayon::prelude::*;
use serde_json::json;

use super::build::link_errors;
use super::{Outcome, check::troubles, error_color, say};
use crate::args::{Global, ListFormat, TreeArgs};
use crate::error::Error;
use crate::load::load;
use crate::printable::shown;
use crate::progress::Progress;
use crate::settings::Settings;

pub(super) fn hash(
    global: &Global,
    args: &TreeArgs,
    package: Option<&str>,
    facts: Option<&str>,
    format: ListFormat,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), error_color(global))?;
    let loaded = load(&settings.source(args)?, &progress)?;
    let tree = &loaded.tree;
    progress.step("checking");
    let errors = link_errors(global, &settings, tree);
    progress.step("hashing");
    let text = match facts {
        Some(name) => abide_meaning::facts(tree, name).ok_or_else(|| unknown(tree, name))?,
        None => {
            let hashes = TreeHashes::of(tree);
            progress.step("writing the hashes");
            let packages = packages(tree, package)?;
            let text = match format {
                ListFormat::Human => human(&packages, &hashes, package.is_some()),
                ListFormat::Json => lines(&packages, &hashes),
            };
            // The process ends soon; taking this and the tree apart would be for nothing.
            std::mem::forget(hashes);
            text
        }
    };
    progress.finish();
    if let Some(errors) = &errors {
        say(errors);
        say("note: the hashes are those of a tree that is not valid");
    }
    let timings = if global.verbose { progress.timings() } else { Vec::new() };
    for note in timings.iter().chain(&loaded.notes).filter(|_| !global.quiet) {
        say(&format!("note: {}", shown(note)));
    }
    let outcome =
        Outcome { failed: errors.is_some(), troubles: troubles(&loaded), ..Outcome::of(text) };
    std::mem::forget(loaded);
    Ok(outcome)
}

/// The name of a package, and its files by path.
type Told<'t> = (&'t str, Vec<(&'t str, File<'t>)>);

/// The files to tell of, by package: the judged ones, or all of the package that is asked for.
fn packages<'t>(tree: &'t Tree, wanted: Option<&str>) -> Result<Vec<Told<'t>>, Error> {
    let packages: Vec<_> =
        tree.packages().filter(|it| wanted.is_none_or(|wanted| wanted == it.name())).collect();
    let told = packages.par_iter().map(|package| {
        let files = package.files().filter(|it| wanted.is_some() || it.is_judged());
        let mut files: Vec<_> = files.map(|file| (&*file.decl().display, file)).collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        (package.name(), files)
    });
    let packages: Vec<Told<'_>> = told.filter(|(_, files)| !files.is_empty()).collect();
    match wanted {
        Some(name) if packages.is_empty() => {
            let known = tree.packages().filter(|it| it.is_judged());
            let near = nearest(name, known.map(|it| it.full_name()));
            Err(Error::Usage(format!("there is no package `{name}`{near}")))
        }
        _ => Ok(packages),
    }
}

fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let known: Vec<String> = known.collect();
    abide::nearest(name, known.iter().map(String::as_str))
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn unknown(tree: &Tree, name: &str) -> Error {
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
        nearest(name, known)
    ))
}

fn human(packages: &[Told<'_>], hashes: &TreeHashes, with_messages: bool) -> String {
    let tell = |out: &mut String, title: String, hashes: Option<Hashes>| {
        if let Some(Hashes { own, closure }) = hashes {
            let _ = writeln!(out, "{title}\n  own      {own}\n  closure  {closure}");
        }
    };
    let told = packages.par_iter().map(|(package, files)| {
        let mut out = String::new();
        let title = match *package {
            "" => "files without a package".to_owned(),
            name => format!("package {name}"),
        };
        tell(&mut out, title, hashes.package(package));
        for (path, _) in files {
            tell(&mut out, format!("file {path}"), hashes.file(path));
        }
        let names = if with_messages { messages(files) } else { Vec::new() };
        for name in names {
            tell(&mut out, format!("message {name}"), hashes.message(&name));
        }
        out
    });
    told.collect::<Vec<_>>().concat()
}

fn lines(packages: &[Told<'_>], hashes: &TreeHashes) -> String {
    // A large tree has tens of thousands of these; hashes need no escape.
    let line = |kind: &str, name: &str, hashes: Option<Hashes>| {
        let Some(Hashes { own, closure }) = hashes else { return String::new() };
        let name = json!(name);
        format!(
            "{{\"kind\":\"{kind}\",\"name\":{name},\"own\":\"{own}\",\"closure\":\"{closure}\"}}\n"
        )
    };
    let files = packages.iter().flat_map(|(_, files)| files);
    let mut paths: Vec<&str> = files.map(|(path, _)| *path).collect();
    paths.sort_unstable();
    let mut names: Vec<String> =
        packages.par_iter().flat_map(|(_, files)| messages(files)).collect();
    names.par_sort_unstable();
    let files = paths.par_iter().map(|path| line("file", path, hashes.file(path)));
    let messages = names.par_iter().map(|name| line("message", name, hashes.message(name)));
    let packages = packages.par_iter().map(|(name, _)| line("package", name, hashes.package(name)));
    let told: Vec<String> = files.chain(messages).chain(packages).collect();
    told.concat()
}

/// The full names of the messages of files, in their order; none twice.
fn messages(files: &[(&str, File<'_>)]) -> Vec<String> {
    let all = files.iter().flat_map(|(_, file)| file.all_messages());
    let mut names: Vec<String> =
        all.filter(|it| !it.is_map_entry()).map(|it| it.full_name()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
