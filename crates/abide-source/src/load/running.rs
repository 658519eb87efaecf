//! APIs that run, of which only a part is shown: reflection has the files that services use, and no
//! others. What one side does not show is not known there, so it is named and not compared.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use abide_schema::FileDecl;

use crate::printable::escape_unprintable;

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

/// Leaves out what only one of two sides knows: of an old side that runs the packages that the new one
/// does not have, and of each side the files that the other one does not show. Each side comes with
/// whether it runs. Returns what is left out because of the old side, and because of the new one.
pub(super) fn leave_out_unknown(
    (old, is_old_running): (&mut [Arc<FileDecl>], bool),
    (new, is_new_running): (&mut [Arc<FileDecl>], bool),
) -> [LeftOut; 2] {
    let known = [Known::of(old), Known::of(new)];
    let mut left_out = [LeftOut::default(), LeftOut::default()];
    if is_old_running {
        left_out[0] = leave_out_of_old(old, new);
        // Services are all shown, so one that is not does not run.
        let is_hidden = |file: &FileDecl| {
            !known[0].packages.contains(package_of(file))
                || !known[0].paths.contains(&file.path) && file.services.is_empty()
        };
        let hidden = mark_as_imported(new, is_hidden);
        left_out[0].hidden_packages = list_packages(&hidden, &known[0]);
    }
    if is_new_running {
        let hidden = mark_as_imported(old, |it| !known[1].paths.contains(&it.path));
        left_out[1].hidden_packages = list_packages(&hidden, &known[1]);
    }
    left_out
}

/// Leaves out of an old side that runs what a new one knows nothing of.
pub(super) fn leave_out_of_old(old: &mut [Arc<FileDecl>], new: &[Arc<FileDecl>]) -> LeftOut {
    let known = Known::of(new);
    let is_unknown = |it: &FileDecl| !known.packages.contains(package_of(it));
    let unknown = mark_as_imported(old, is_unknown);
    let services = unknown.iter().flat_map(|file| {
        let package = package_of(file);
        let names = file.services.iter().map(|it| file.strings.get(it.name));
        names.map(move |it| if package.is_empty() { it.into() } else { format!("{package}.{it}") })
    });
    let services: BTreeSet<String> = services.collect();
    LeftOut { unknown_services: services.into_iter().collect(), hidden_packages: Vec::new() }
}

impl LeftOut {
    /// Notes about what is not compared with the API of this name.
    pub(super) fn describe(&self, name: &str) -> Vec<String> {
        let name = escape_unprintable(name);
        let LeftOut { unknown_services, hidden_packages } = self;
        let lists = [
            (unknown_services, "also serves what this tree has no package for"),
            (hidden_packages, "shows nothing of some packages of this tree"),
        ];
        let told = lists.into_iter().filter(|it| !it.0.is_empty());
        told.map(|(names, what)| {
            format!("`{name}` {what}, so it is not compared: {}", list_names(names))
        })
        .collect()
    }
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

fn list_names(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|it| format!("`{}`", escape_unprintable(it)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
