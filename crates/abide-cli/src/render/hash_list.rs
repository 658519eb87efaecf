//! The hashes of files, messages and packages.

use std::fmt::Write;

use abide_hash::{Hashes, TreeHashes};
use abide_lint::ElementHistory;
use abide_schema::File;
use abide_source::printable::escape_unprintable;
use rayon::prelude::*;
use serde_json::json;

use super::context::Style;
use super::element_lives;

/// The name of a package, and its files by path.
pub(crate) type PrintedPackage<'t> = (&'t str, Vec<(&'t str, File<'t>)>);

/// The report of `abide hash`.
pub(crate) enum HashList<'t> {
    /// The hashes of packages and files.
    Hashes {
        /// The packages, and the files of each.
        packages: &'t [PrintedPackage<'t>],
        /// The hashes of all.
        hashes: &'t TreeHashes,
        /// True if people see the messages too.
        with_messages: bool,
    },
    /// The elements of the packages.
    Elements(&'t [ElementHistory]),
}

pub(super) fn render_human(list: &HashList<'_>, style: Style) -> String {
    let (packages, hashes, with_messages) = match list {
        HashList::Hashes { packages, hashes, with_messages } => (packages, hashes, with_messages),
        HashList::Elements(elements) => return element_lives::render_human(elements, "", style),
    };
    let told = packages.par_iter().map(|(package, files)| {
        let mut out = String::new();
        let roots = list_roots_if_several(files.iter().map(|(_, file)| *file));
        let together = match &roots[..] {
            [_, ..] => format!(" (in {} together)", roots.join(" and ")),
            [] => String::new(),
        };
        let title = match *package {
            "" => "files without a package".to_owned(),
            name => format!("package {}{together}", escape_unprintable(name)),
        };
        write_hashes(&mut out, title, hashes.package(package));
        for (path, _) in files {
            write_hashes(&mut out, format!("file {}", escape_unprintable(path)), hashes.file(path));
        }
        let names = if *with_messages { collect_messages(files) } else { Vec::new() };
        for name in names {
            write_hashes(&mut out, format!("message {name}{together}"), hashes.message(&name));
        }
        out
    });
    told.collect::<Vec<_>>().concat()
}

pub(super) fn render_json(list: &HashList<'_>, _: Style) -> String {
    let (packages, hashes) = match list {
        HashList::Hashes { packages, hashes, .. } => (packages, hashes),
        HashList::Elements(elements) => return element_lives::render_json(elements),
    };
    let files = packages.iter().flat_map(|(_, files)| files);
    let mut paths: Vec<&str> = files.map(|(path, _)| *path).collect();
    paths.sort_unstable();
    let mut names: Vec<String> =
        packages.par_iter().flat_map(|(_, files)| collect_messages(files)).collect();
    names.par_sort_unstable();
    let files = paths.par_iter().map(|path| format_json_line("file", path, hashes.file(path)));
    let messages =
        names.par_iter().map(|name| format_json_line("message", name, hashes.message(name)));
    let packages = packages
        .par_iter()
        .map(|(name, _)| format_json_line("package", name, hashes.package(name)));
    let told: Vec<String> = files.chain(messages).chain(packages).collect();
    told.concat()
}

fn write_hashes(out: &mut String, title: String, hashes: Option<Hashes>) {
    if let Some(Hashes { own, closure }) = hashes {
        let _ = writeln!(out, "{title}\n  own      {own}\n  closure  {closure}");
    }
}

/// An entry as JSON. Written by hand for speed: a large tree has tens of thousands. Hashes need no
/// escape.
fn format_json_line(kind: &str, name: &str, hashes: Option<Hashes>) -> String {
    let Some(Hashes { own, closure }) = hashes else { return String::new() };
    let name = json!(name);
    format!("{{\"kind\":\"{kind}\",\"name\":{name},\"own\":\"{own}\",\"closure\":\"{closure}\"}}\n")
}

/// The roots that have copies of a package: none if only one has files of it.
fn list_roots_if_several<'t>(files: impl Iterator<Item = File<'t>>) -> Vec<&'t str> {
    let mut roots: Vec<(u32, &str)> = files
        .map(|file| {
            let decl = file.decl();
            let root = decl.display.strip_suffix(&*decl.path).unwrap_or(&decl.display);
            (decl.root, root.trim_end_matches('/'))
        })
        .collect();
    roots.sort_unstable();
    roots.dedup_by_key(|(root, _)| *root);
    if roots.len() == 1 {
        roots.clear();
    }
    roots.into_iter().map(|(_, root)| if root.is_empty() { "." } else { root }).collect()
}

/// The full names of the messages of files, sorted and without duplicates.
fn collect_messages(files: &[(&str, File<'_>)]) -> Vec<String> {
    let all = files.iter().flat_map(|(_, file)| file.all_messages());
    let mut names: Vec<String> =
        all.filter(|it| !it.is_map_entry()).map(|it| it.full_name()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
