//! The place of every dependency that `abide.toml` names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use abide_lint::{Config, ConfigDependency, DependencyOrigin, Lock, PackageKind};

use super::machine::Machine;
use super::package::{FoundPackage, TreePlace};
use super::vendored::vendored_folder;
use super::well_known::find_module_repository;
use super::{bazel_external, buf_cache, cargo_sources, go_modules, node_modules, site_packages};
use crate::source::{ImportMount, MountedFiles};

/// A dependency, and where it is on this disk.
#[derive(Clone, Debug)]
pub struct ResolvedDependency {
    /// Its name.
    pub name: String,
    /// The place that it comes from, as `abide.toml` writes it.
    pub from: String,
    /// Its version or commit, if it is known.
    pub version: Option<String>,
    /// True if `abide deps vendor` brought it.
    pub is_vendored: bool,
    /// Its files.
    pub mount: ImportMount,
}

/// Finds the packages of a kind that the tree wants, by the files of other tools around it. `only`
/// is the one that is wanted, if not all are.
pub fn list_packages(
    kind: PackageKind,
    place: &TreePlace<'_>,
    machine: &Machine,
    only: Option<&str>,
) -> Vec<FoundPackage> {
    match kind {
        PackageKind::Buf => buf_cache::list_modules(place, machine),
        PackageKind::Go => go_modules::list_modules(place, machine),
        PackageKind::Cargo => cargo_sources::list_crates(place, machine),
        PackageKind::Python => site_packages::list_distributions(place, machine, only),
        PackageKind::Npm => node_modules::list_packages(place),
        PackageKind::Bazel => bazel_external::list_repositories(place),
    }
}

/// Finds the dependencies of a configuration on this disk. What `abide deps vendor` brought wins.
pub fn resolve_dependencies(
    config: &Config,
    lock: Option<&Lock>,
    place: &TreePlace<'_>,
    machine: &Machine,
) -> Vec<ResolvedDependency> {
    let mut known: BTreeMap<PackageKind, Vec<FoundPackage>> = BTreeMap::new();
    let mut resolved = Vec::new();
    for dependency in &config.dependencies {
        let folder = vendored_folder(config, &dependency.name);
        let on_disk = place.folder().join(&folder);
        let pin = lock.and_then(|it| it.dependency(&dependency.name));
        let mount = |name: String, files| ImportMount {
            name,
            prefix: dependency.import_prefix.clone(),
            files,
        };
        let (name, from) = (dependency.name.clone(), dependency.origin.written());
        if on_disk.is_dir() {
            let version = pin.map(|it| it.commit.clone());
            let mount = mount(folder, MountedFiles::Folder(on_disk));
            resolved.push(ResolvedDependency { name, from, version, is_vendored: true, mount });
            continue;
        }
        let (version, files) = match &dependency.origin {
            DependencyOrigin::Git(_) => {
                (pin.map(|it| it.commit.clone()), MountedFiles::Missing(advise(dependency)))
            }
            DependencyOrigin::Package(kind, package) => {
                let only = (*kind == PackageKind::Python).then_some(package.as_str());
                let all = || list_packages(*kind, place, machine, only);
                // Distributions are looked up one by one: their lists of files are long.
                let found = match only {
                    Some(_) => find_package(*kind, package, &all()),
                    None => find_package(*kind, package, known.entry(*kind).or_insert_with(all)),
                };
                match found {
                    Some(found) => (Some(found.version), narrow(found.files, &dependency.subdir)),
                    None => (None, MountedFiles::Missing(advise(dependency))),
                }
            }
        };
        let shown = match &files {
            MountedFiles::Folder(found) => show_folder(place, found, &from),
            MountedFiles::Listed(_) | MountedFiles::Missing(_) => from.clone(),
        };
        let mount = mount(shown, files);
        resolved.push(ResolvedDependency { name, from, version, is_vendored: false, mount });
    }
    resolved
}

fn find_package(kind: PackageKind, name: &str, all: &[FoundPackage]) -> Option<FoundPackage> {
    let name = match kind {
        PackageKind::Python => site_packages::normalize_name(name),
        _ => name.to_owned(),
    };
    all.iter().find(|it| it.name == name).cloned()
}

/// The name of a folder in messages: its path if it is in the tree, else the package.
fn show_folder(place: &TreePlace<'_>, found: &Path, from: &str) -> String {
    let below = found.strip_prefix(place.folder()).ok().and_then(|it| it.to_str());
    below.map_or_else(|| from.to_owned(), |it| it.replace(std::path::MAIN_SEPARATOR, "/"))
}

/// The files of a package below a folder of it.
fn narrow(files: MountedFiles, subdir: &str) -> MountedFiles {
    match files {
        files if subdir.is_empty() => files,
        MountedFiles::Folder(folder) => MountedFiles::Folder(folder.join(subdir)),
        MountedFiles::Listed(files) => {
            let below = |(path, file): (String, PathBuf)| {
                Some((path.strip_prefix(subdir)?.strip_prefix('/')?.to_owned(), file))
            };
            MountedFiles::Listed(files.into_iter().filter_map(below).collect())
        }
        MountedFiles::Missing(reason) => MountedFiles::Missing(reason),
    }
}

/// Describes what to do about a dependency that is not on this disk.
fn advise(dependency: &ConfigDependency) -> String {
    let name = &dependency.name;
    match &dependency.origin {
        DependencyOrigin::Package(PackageKind::Buf, module)
            if find_module_repository(module).is_none() =>
        {
            format!(
                "the dependency `{name}` is not here: run `buf dep update`, or set `git` to the \
                 repository of `{module}` instead of `from`, and run `abide deps vendor`"
            )
        }
        DependencyOrigin::Git(_) | DependencyOrigin::Package(PackageKind::Buf, _) => {
            format!("the dependency `{name}` is not here: run `abide deps vendor`")
        }
        DependencyOrigin::Package(kind, package) => {
            let what = match kind {
                PackageKind::Buf => "no `buf.lock` records it",
                PackageKind::Go => "no `go.mod` here requires it",
                PackageKind::Cargo => "no `Cargo.lock` here records it",
                PackageKind::Python => "no virtual environment here has it",
                PackageKind::Npm => "no `node_modules` here has it: run `npm install`",
                PackageKind::Bazel => "Bazel has not fetched it: run `bazel fetch`",
            };
            let kind = kind.word();
            format!("the dependency `{name}` (`{kind}:{package}`) is not on this disk: {what}")
        }
    }
}
