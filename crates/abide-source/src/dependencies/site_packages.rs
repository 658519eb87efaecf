//! Distributions of Python: those that are installed in a virtual environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::package::{FoundPackage, TreePlace, is_inner_path, list_entries};
use crate::source::{MountedFiles, read_settings};

/// The distributions in the virtual environments around a tree; of two of one name, the first.
/// `only` is the one that is wanted, if not all are.
pub(super) fn list_distributions(
    place: &TreePlace<'_>,
    machine: &Machine,
    only: Option<&str>,
) -> Vec<FoundPackage> {
    let only = only.map(normalize_name);
    let mut found: Vec<FoundPackage> = Vec::new();
    let environments = machine.list_python_environments(place.folders());
    for folder in environments.iter().flat_map(|it| list_package_folders(it)) {
        for (entry, path) in list_entries(&folder) {
            let Some((name, version)) =
                entry.strip_suffix(".dist-info").and_then(|it| it.rsplit_once('-'))
            else {
                continue;
            };
            let name = normalize_name(name);
            let is_wanted = only.as_ref().is_none_or(|it| *it == name);
            if !is_wanted || found.iter().any(|it| it.name == name) {
                continue;
            }
            let files = MountedFiles::Listed(list_protos(&folder, &path));
            found.push(FoundPackage { name, version: version.to_owned(), files });
        }
    }
    found
}

/// The name of a distribution, however it is written.
pub(super) fn normalize_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// The folders in which an environment has packages.
fn list_package_folders(environment: &Path) -> Vec<PathBuf> {
    let versions = ["lib", "lib64"].iter().flat_map(|it| list_entries(&environment.join(it)));
    let unix = versions.map(|(_, path)| path.join("site-packages"));
    let folders = unix.chain([environment.join("Lib").join("site-packages")]);
    folders.filter(|it| it.is_dir()).collect()
}

/// The protos that a distribution installed, by the list of its files.
fn list_protos(folder: &Path, info: &Path) -> BTreeMap<String, PathBuf> {
    let record = read_settings(&info.join("RECORD")).unwrap_or_default();
    let record = String::from_utf8_lossy(&record).into_owned();
    let path = |line: &str| {
        let path = line.split(',').next()?.trim_matches('"');
        let is_proto = path.ends_with(".proto") && is_inner_path(path);
        let file = folder.join(path);
        (is_proto && !file.is_symlink()).then_some((path.to_owned(), file))
    };
    record.lines().filter_map(path).collect()
}
