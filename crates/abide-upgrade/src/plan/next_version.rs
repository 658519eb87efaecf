//! The place of a file in the next major version: its package there, and its path.

use std::collections::BTreeSet;

use abide_schema::{File, Package, PackageVersion, Stability, format_api_name};

use super::file_elements::iter_upgradable;
use super::file_role::{FileRole, FileRoles};
use super::upgrade_policy::{UpgradePolicy, UpgradeSettings};

/// The package and path of a file in the next major version.
#[derive(Clone, Debug)]
pub(crate) struct NextVersion {
    pub(crate) package: String,
    pub(crate) path: String,
}

impl NextVersion {
    /// The next version of a file; `None` if it is not known.
    pub(crate) fn find(
        settings: UpgradeSettings<'_>,
        file: File<'_>,
        stage: ReleaseStage,
    ) -> Option<NextVersion> {
        let package = find_next_package(settings.policy, file, stage)?;
        let path = build_next_path(settings, file, &package);
        Some(NextVersion { package, path })
    }

    /// The stable version of a file of an alpha or a beta.
    pub(crate) fn find_stable(
        settings: UpgradeSettings<'_>,
        file: File<'_>,
    ) -> Option<NextVersion> {
        let version = file.package().version()?;
        let text = match version.minor {
            Some(minor) => format!("v{}p{minor}", version.major),
            None => format!("v{}", version.major),
        };
        let mut components: Vec<&str> = file.package().name().split('.').collect();
        *components.get_mut(version.position)? = &text;
        let package = components.join(".");
        let path = build_next_path(settings, file, &package);
        Some(NextVersion { package, path })
    }
}

/// The stage of the next major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleaseStage {
    /// An alpha that may change.
    Candidate,
    /// The stable version that replaces the active one.
    Stable,
}

/// The packages that the candidates of a package are part of: more than one
/// where its files move apart, none where an upgrade makes none. A frozen
/// package has those of the active versions of its API.
pub fn find_candidate_packages(
    policy: &UpgradePolicy,
    standings: &FileRoles,
    package: Package<'_>,
) -> BTreeSet<String> {
    let of = |package: Package<'_>| -> BTreeSet<String> {
        package
            .files()
            .filter(|it| standings.get(*it) == FileRole::Active && has_successor(policy, *it))
            .filter_map(|it| find_candidate_package(policy, it))
            .collect()
    };
    let own = of(package);
    let is_frozen = package.files().any(|it| standings.get(it) == FileRole::Frozen);
    let Some(api) = format_api_name(package.name()).filter(|_| own.is_empty() && is_frozen) else {
        return own;
    };
    let versions =
        package.tree.packages().filter(|it| format_api_name(it.name()).as_ref() == Some(&api));
    versions.flat_map(of).collect()
}

/// Returns true if a file has anything that could be upgraded.
pub(crate) fn has_successor(policy: &UpgradePolicy, file: File<'_>) -> bool {
    iter_upgradable(policy, file).next().is_some()
}

/// The package of a file in the next major version.
pub(crate) fn find_next_package(
    policy: &UpgradePolicy,
    file: File<'_>,
    stage: ReleaseStage,
) -> Option<String> {
    let name = find_candidate_package(policy, file)?;
    let version = PackageVersion::from_package(&name);
    let Some(version) = version.filter(|_| stage == ReleaseStage::Stable) else {
        return Some(name);
    };
    let mut components: Vec<&str> = name.split('.').collect();
    let component = components.get_mut(version.position)?;
    *component = component.strip_suffix("alpha").unwrap_or(component);
    Some(components.join("."))
}

/// The package that the candidate of a file is part of: the one place that
/// says what the next major version is called.
pub(crate) fn find_candidate_package(policy: &UpgradePolicy, file: File<'_>) -> Option<String> {
    let package = file.package();
    if let Some((name, _)) = file.move_to_package() {
        let version = PackageVersion::from_package(name);
        let Some(version) = version.filter(|it| it.is_stable() && !policy.stable_moves) else {
            return Some(name.to_owned());
        };
        let mut components: Vec<&str> = name.split('.').collect();
        let alpha = format!("{}alpha", version.text);
        *components.get_mut(version.position)? = &alpha;
        return Some(components.join("."));
    }
    if let Some(name) = policy.packages.get(package.name()) {
        return Some(name.clone());
    }
    let version = package.version()?;
    let text = match policy.majors.get(&version.major) {
        Some(text) => text.clone(),
        None if version.stability == Stability::Beta => return None,
        None => format!("v{}alpha", version.major.checked_add(1)?),
    };
    let mut components: Vec<&str> = package.name().split('.').collect();
    *components.get_mut(version.position)? = &text;
    Some(components.join("."))
}

/// The names that the folder of a package may follow: the whole one, and before it, the shortest
/// first, those without one of the prefixes that folders leave out.
pub fn collect_names_in_paths<'n>(path_prefixes: &[String], package: &'n str) -> Vec<&'n str> {
    let rest = |prefix: &String| match package.strip_prefix(prefix.as_str())? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    };
    let mut names: Vec<&str> = path_prefixes.iter().filter_map(rest).chain([package]).collect();
    names.sort_unstable_by_key(|name| name.len());
    names.dedup();
    names
}

/// The path of a file in another package. If the file is in the folder of its
/// package, the path is in the folder of the other package. Otherwise it is the
/// same folder with the next version.
fn build_next_path(settings: UpgradeSettings<'_>, file: File<'_>, package: &str) -> String {
    let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
    let whole = file.package().name();
    for own in collect_names_in_paths(settings.path_prefixes, whole) {
        // What the folder leaves out of the name, that of the other package leaves out as well.
        let left_out = whole.strip_suffix(own).unwrap_or_default();
        let next = package.strip_prefix(left_out).unwrap_or(package).replace('.', "/");
        let own = own.replace('.', "/");
        if folder == own {
            return format!("{next}/{name}");
        }
        for prefix in settings.folder_prefixes {
            let below = folder.strip_prefix(prefix.as_str()).and_then(|it| it.strip_prefix('/'));
            if below == Some(&own) {
                return format!("{prefix}/{next}/{name}");
            }
        }
    }
    let version = |package: &str| PackageVersion::from_package(package).map(|it| it.text);
    if let (Some(old), Some(new)) = (version(whole), version(package)) {
        let mut folders: Vec<&str> = folder.split('/').collect();
        if let Some(found) = folders.iter_mut().rfind(|it| **it == old) {
            *found = &new;
            return format!("{}/{name}", folders.join("/"));
        }
    }
    let shortest = collect_names_in_paths(settings.path_prefixes, package)[0].replace('.', "/");
    format!("{shortest}/{name}")
}
