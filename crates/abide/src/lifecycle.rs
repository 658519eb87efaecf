//! How far packages and elements are in their lives: versions of one API, frozen
//! packages, deprecated elements.

use std::collections::BTreeMap;

use abide_schema::{Element, File, Package, PackageVersionStatus, Stability, Tree, api_name};

/// The versioned packages of a tree by API, in the order of their versions.
pub(crate) fn apis(tree: &Tree) -> BTreeMap<String, Vec<Package<'_>>> {
    let mut apis: BTreeMap<String, Vec<Package<'_>>> = BTreeMap::new();
    for package in tree.packages() {
        if let Some(api) = api_name(package.name()) {
            apis.entry(api).or_default().push(package);
        }
    }
    for versions in apis.values_mut() {
        versions.sort_by_key(|package| (package.version(), package.id));
    }
    apis
}

/// The major version of a stable package.
pub(crate) fn stable_major(package: Package<'_>) -> Option<u32> {
    let version = package.version()?;
    (version.stability == Stability::Stable).then_some(version.major)
}

/// Whether a package is frozen: the first of its files with a status decides.
pub(crate) fn is_frozen(package: Package<'_>) -> bool {
    let status = package.files().find_map(File::package_version_status);
    status.is_some_and(|(status, _)| status == PackageVersionStatus::Frozen)
}

/// Whether the element or an enclosing one is deprecated.
pub(crate) fn is_deprecated(element: Element<'_>) -> bool {
    element.deprecated().is_some() || element.parent().is_some_and(is_deprecated)
}

/// Whether a component of a package name that is not a version looks like one:
/// `v` and a digit, then anything.
pub(crate) fn version_like(component: &str) -> bool {
    let rest = component.strip_prefix(['v', 'V']);
    rest.is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
}
