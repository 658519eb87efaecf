//! What is left of a report if only the packages count that a change reaches.

use std::collections::BTreeSet;

use abide_schema::{FileId, Tree};

use crate::finding::{Finding, Origin};
use crate::inputs::Options;

/// The packages whose findings are reported.
pub(super) struct ChangedScope<'t> {
    tree: &'t Tree,
    old: Option<&'t Tree>,
    /// All, if absent.
    packages: Option<&'t BTreeSet<Box<str>>>,
}

impl<'t> ChangedScope<'t> {
    pub(super) fn new(tree: &'t Tree, options: Options<'t>) -> ChangedScope<'t> {
        ChangedScope { tree, old: options.baseline, packages: options.reached }
    }

    /// Returns true if all packages count.
    pub(super) fn is_everything(&self) -> bool {
        self.packages.is_none()
    }

    /// Returns true if findings in a package count.
    pub(super) fn has_package(&self, name: &str) -> bool {
        self.packages.is_none_or(|it| it.contains(name))
    }

    /// Returns true if a finding counts: whether the file that it is reported in is of such a
    /// package.
    pub(super) fn has(&self, finding: &Finding) -> bool {
        let is_in = |tree: &Tree, id: FileId| self.has_package(tree.file(id).package().name());
        match finding.location.origin {
            Origin::Tree(id) => is_in(self.tree, id),
            Origin::Old(id) => self.old.is_some_and(|old| is_in(old, id)),
            Origin::Config | Origin::Accepted | Origin::Features(_) | Origin::Instance(_) => {
                self.is_everything()
            }
        }
    }
}
