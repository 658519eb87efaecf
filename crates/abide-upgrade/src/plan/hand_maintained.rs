//! Packages that people maintain by hand as the next major version of an API.

use std::collections::BTreeMap;

use abide_schema::{Element, File, Message, Package, PackageId, Stability, Tree, format_api_name};

use super::file_role::{FileRole, FileRoles};
use super::newest_stable::NewestStable;
use super::upgrade_policy::UpgradePolicy;

/// Decides about a file that people wrote where a candidate belongs.
pub const HAND_MAINTAINED_HELP: &str = "if people maintain this package, set `by_hand = true` in its \
                                   `file_policy`, or name it in `by-hand` of [upgrade]";

/// The alphas of the next major version of an API that no upgrade makes, and that
/// nobody declared to be maintained by hand: a release leaves them alone.
pub fn find_undeclared_alphas<'t>(tree: &'t Tree, policy: &UpgradePolicy) -> Vec<Package<'t>> {
    let standings = FileRoles::from_tree(tree, policy);
    let newest = NewestStable::from_tree(tree);
    let is_next = |package: &Package<'_>| {
        let Some(version) = package.version() else { return false };
        package.files().all(|it| standings.get(it) == FileRole::Excluded)
            && package.is_judged()
            && version.stability == Stability::Alpha
            && newest.find_major(*package) == version.major.checked_sub(1)
    };
    tree.packages().filter(is_next).collect()
}

/// The packages of a tree that people maintain as the next major version.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandMaintained {
    /// The packages, in the order of the tree.
    packages: Vec<PackageId>,
    /// By stable package: the one that replaces it.
    after: BTreeMap<PackageId, PackageId>,
}

impl HandMaintained {
    pub(crate) fn find(tree: &Tree, standings: &FileRoles) -> HandMaintained {
        let is_by_hand = |package: &Package<'_>| {
            package.files().any(|it| standings.get(it) == FileRole::HandMaintained)
        };
        let mut found: Vec<Package<'_>> = tree.packages().filter(is_by_hand).collect();
        let mut by_hand = HandMaintained {
            packages: found.iter().map(|it| it.id).collect(),
            after: BTreeMap::new(),
        };
        // Of two alphas of one major, the newer one replaces the stable version.
        found.sort_by_key(|it| it.version());
        for package in found {
            let Some(version) = package.version() else { continue };
            let api = format_api_name(package.name());
            let is_before = |it: &Package<'_>| {
                let major = it.version().filter(|it| it.is_stable()).map(|it| it.major);
                it.is_judged()
                    && major.is_some_and(|it| it < version.major)
                    && format_api_name(it.name()) == api
            };
            let before = tree.packages().filter(is_before).max_by_key(|it| it.version());
            if let Some(before) = before {
                by_hand.after.insert(before.id, package.id);
            }
        }
        by_hand
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    pub(crate) fn iter_packages(&self) -> impl Iterator<Item = PackageId> {
        self.packages.iter().copied()
    }

    /// The stable packages that are replaced, with what replaces them.
    pub(crate) fn iter_replaced(&self) -> impl Iterator<Item = (PackageId, PackageId)> {
        self.after.iter().map(|(before, after)| (*before, *after))
    }

    /// The package that replaces a stable one.
    pub(crate) fn find_replacement(&self, package: PackageId) -> Option<PackageId> {
        self.after.get(&package).copied()
    }

    /// The element that replaces one of a replaced package: a message that names it
    /// as its previous type, a member with its number, or else what has its name.
    pub(crate) fn find_successor<'t>(&self, element: Element<'t>) -> Option<Element<'t>> {
        let tree = element.file().tree;
        let package = tree.package(self.find_replacement(element.file().package().id)?);
        if let Element::Message(message) = element {
            let name = message.full_name();
            let is_next = |it: &Message<'t>| it.previous_type().is_some_and(|(it, _)| it == name);
            let mut all = package.files().flat_map(File::all_messages);
            if let Some(next) = all.find(is_next) {
                return Some(Element::Message(next));
            }
        }
        let siblings: Vec<Element<'t>> = match element.parent() {
            Some(parent) => self.find_successor(parent)?.members(),
            None => package.files().flat_map(File::members).collect(),
        };
        siblings.into_iter().find(|it| match (element, it) {
            (Element::Field(old), Element::Field(new)) => old.number() == new.number(),
            (Element::EnumValue(old), Element::EnumValue(new)) => old.number() == new.number(),
            (old, new) => old.noun() == new.noun() && old.name() == new.name(),
        })
    }
}
