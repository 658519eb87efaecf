//! APIs that run, of which only a part is shown: reflection has the files that services use, and no
//! others. What one side does not show is not known there, so it is named and not compared.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use abide_schema::FileDecl;

use super::ParsedFiles;
use crate::printable::escape_unprintable;
use crate::source::Source;

/// So many names are shown in a note.
const SHOWN: usize = 5;

/// What of a comparison with a running API only one side knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Services that run, of packages that the tree does not have.
    pub unknown_services: Vec<String>,
    /// Packages of the tree of which the running API shows nothing.
    pub hidden_packages: Vec<String>,
}

/// The files of a tree by what they are called and what they are in.
struct Known {
    paths: HashSet<Arc<str>>,
    packages: HashSet<String>,
}

impl Known {
    fn of(files: &[Arc<FileDecl>]) -> Known {
        let judged = || files.iter().filter(|it| !it.imported);
        Known {
            paths: judged().map(|it| Arc::clone(&it.path)).collect(),
            packages: judged().map(|it| package_of(it).to_owned()).collect(),
        }
    }
}

/// Leaves out what only one of two sides knows, and says so: of an old side that runs the packages
/// that the new one does not have, and of each side the files that the other one does not show.
pub(super) fn leave_out_unknown(
    (old, old_source): (&mut ParsedFiles, &Source),
    (new, new_source): (&mut ParsedFiles, &Source),
) {
    let known = [Known::of(&old.files), Known::of(&new.files)];
    if old_source.is_running() {
        leave_out_of_old(old, &new.files);
        // Services are all shown, so one that is not does not run.
        let is_hidden = |file: &FileDecl| {
            !known[0].packages.contains(package_of(file))
                || !known[0].paths.contains(&file.path) && file.services.is_empty()
        };
        let hidden = mark_as_imported(&mut new.files, is_hidden);
        old.left_out.hidden_packages = list_packages(&hidden, &known[0]);
    }
    if new_source.is_running() {
        let hidden = mark_as_imported(&mut old.files, |it| !known[1].paths.contains(&it.path));
        new.left_out.hidden_packages = list_packages(&hidden, &known[1]);
    }
    for side in [old, new] {
        let notes = describe(side);
        side.notes.extend(notes);
    }
}

/// Leaves out of an old side that runs what a new one knows nothing of.
pub(super) fn leave_out_of_old(old: &mut ParsedFiles, new: &[Arc<FileDecl>]) {
    let known = Known::of(new);
    let is_unknown = |it: &FileDecl| !known.packages.contains(package_of(it));
    let unknown = mark_as_imported(&mut old.files, is_unknown);
    let services = unknown.iter().flat_map(|file| {
        let package = package_of(file);
        let names = file.services.iter().map(|it| file.strings.get(it.name));
        names.map(move |it| if package.is_empty() { it.into() } else { format!("{package}.{it}") })
    });
    let services: BTreeSet<String> = services.collect();
    old.left_out.unknown_services = services.into_iter().collect();
}

fn package_of(file: &FileDecl) -> &str {
    file.package.as_ref().map_or("", |it| file.strings.get(it.name))
}

/// Keeps some judged files for those that import them alone. Returns these files.
fn mark_as_imported(
    files: &mut [Arc<FileDecl>],
    is_it: impl Fn(&FileDecl) -> bool,
) -> Vec<Arc<FileDecl>> {
    let mut marked = Vec::new();
    for file in files.iter_mut().filter(|it| !it.imported && is_it(it)) {
        marked.push(Arc::clone(file));
        let mut decl = FileDecl::clone(file);
        decl.imported = true;
        *file = Arc::new(decl);
    }
    marked
}

/// The packages of some files that a running API shows nothing of.
fn list_packages(files: &[Arc<FileDecl>], running: &Known) -> Vec<String> {
    let packages = files.iter().map(|it| package_of(it));
    let packages: BTreeSet<&str> = packages.filter(|it| !running.packages.contains(*it)).collect();
    packages.into_iter().filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Notes about what of a side is not compared.
fn describe(side: &ParsedFiles) -> Vec<String> {
    let name = escape_unprintable(&side.name);
    let LeftOut { unknown_services, hidden_packages } = &side.left_out;
    let lists = [
        (unknown_services, "also serves what this tree has no package for"),
        (hidden_packages, "shows nothing of some packages of this tree"),
    ];
    let told = lists.into_iter().filter(|it| !it.0.is_empty());
    told.map(|(names, what)| format!("`{name}` {what}, so it is not compared: {}", list(names)))
        .collect()
}

fn list(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|it| format!("`{}`", escape_unprintable(it)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
