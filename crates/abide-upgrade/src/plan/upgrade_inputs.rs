//! Inputs of the plan of an upgrade.

use abide_schema::{DependencyGraph, PackageId, Tree};

use super::file_role::FileRoles;
use super::upgrade_policy::{UpgradeClosure, UpgradeSettings};

/// The inputs of a plan.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeInputs<'a, 't> {
    /// The tree that is upgraded.
    pub tree: &'t Tree,
    /// The policy.
    pub settings: UpgradeSettings<'t>,
    /// The role of each of its files.
    pub roles: &'a FileRoles,
    /// The graph, if it is already computed.
    pub graph: Option<&'a DependencyGraph<'t>>,
}

/// The options of an upgrade.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpgradeOptions<'a> {
    /// The packages to upgrade, with those that their closure adds; if empty, all
    /// that need it.
    pub packages: &'a [String],
    /// The packages upgraded together with a package; `None` to follow the policy.
    pub closure: Option<UpgradeClosure>,
}

/// The packages that a plan covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PackageSelection<'o> {
    /// Those that are asked for, or that need it, with those that their closure
    /// adds.
    Requested(&'o UpgradeOptions<'o>),
    /// Those whose candidates are in the tree, whatever the reason, and these, for
    /// whose candidates there is no place.
    Present(&'o [PackageId]),
    /// None, besides those that people maintain.
    Nothing,
}
