//! How far packages and elements are in their lives: versions of one API, frozen
//! packages, deprecated elements.

use std::collections::BTreeMap;

use abide_schema::{
    Element, File, Package, PackageVersionStatus, Stability, Tree, format_api_name,
};
use jiff::civil::Date;

use crate::calendar::{Calendar, parse_date};
use crate::lock::Lock;

/// The versioned packages of a tree by API, in the order of their versions.
pub(crate) fn apis(tree: &Tree) -> BTreeMap<String, Vec<Package<'_>>> {
    let mut apis: BTreeMap<String, Vec<Package<'_>>> = BTreeMap::new();
    for package in tree.packages() {
        if let Some(api) = format_api_name(package.name()) {
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

/// Returns true if a package is frozen: the first of its files with a status decides.
pub(crate) fn is_frozen(package: Package<'_>) -> bool {
    let status = package.files().find_map(File::package_version_status);
    status.is_some_and(|(status, _)| status == PackageVersionStatus::Frozen)
}

/// Where the days of packages are known from.
#[derive(Clone, Copy)]
pub(crate) struct PackageDays<'a> {
    pub(crate) calendar: &'a Calendar,
    pub(crate) lock: Option<&'a Lock>,
}

impl PackageDays<'_> {
    /// The day since which a package exists: by the policy, by an annotation, or
    /// by what is recorded.
    pub(crate) fn introduced(self, package: Package<'_>) -> Option<Date> {
        let recorded = || self.lock?.introduced(package.name());
        self.calendar.introduced(package).or_else(recorded)
    }

    /// The day since which a package exists, if a person wrote it: one that equals
    /// what is recorded was written from there.
    pub(crate) fn by_hand(self, package: Package<'_>) -> Option<Date> {
        let recorded = self.lock.and_then(|it| it.introduced(package.name()));
        self.calendar.introduced(package).filter(|day| Some(*day) != recorded)
    }

    /// The day since which a package is frozen: by an annotation, or by what is
    /// recorded.
    pub(crate) fn frozen(self, package: Package<'_>) -> Option<Date> {
        let recorded = || Some(self.lock?.frozen(package.name())?.day);
        package.files().filter_map(|it| parse_date(it.frozen()?.0)).min().or_else(recorded)
    }

    /// Returns true if a package is frozen: by the status of its files, or by what is
    /// recorded.
    pub(crate) fn is_frozen(self, package: Package<'_>) -> bool {
        is_frozen(package) || self.lock.is_some_and(|it| it.frozen(package.name()).is_some())
    }
}

/// Returns true if the element or an enclosing one is deprecated.
pub(crate) fn is_deprecated(element: Element<'_>) -> bool {
    element.deprecated().is_some() || element.parent().is_some_and(is_deprecated)
}

/// Returns true if an element counts as deprecated when it is removed, and since when, by its
/// annotation. A oneof has no such option: it is deprecated if its fields are.
pub(crate) fn deprecation(element: Element<'_>) -> (bool, Option<String>) {
    let deprecated = match element {
        Element::Oneof(oneof) => oneof.fields().all(|it| is_deprecated(Element::Field(it))),
        _ => is_deprecated(element),
    };
    (deprecated, element.deprecated_since().map(|(text, _)| text.to_owned()))
}

/// Returns true if an element is the value that an upgrade puts where a zero value was: it was
/// never in use.
pub(crate) fn is_placeholder(element: Element<'_>) -> bool {
    element.name() == abide_upgrade::UNAVAILABLE
}

/// Returns true if a component of a package name that is not a version looks like one:
/// `v` and a digit, then anything.
pub(crate) fn version_like(component: &str) -> bool {
    let rest = component.strip_prefix(['v', 'V']);
    rest.is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
}
