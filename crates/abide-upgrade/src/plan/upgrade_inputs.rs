//! What an upgrade is planned from, and what is asked of it.

use abide_schema::{DependencyGraph, PackageId, Tree};

use super::file_role::Standings;
use super::upgrade_policy::{Closure, UpgradeSettings};

/// The inputs of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a, 't> {
    /// The tree that is upgraded.
    pub tree: &'t Tree,
    /// How.
    pub settings: UpgradeSettings<'t>,
    /// What each of its files is to the upgrade.
    pub standings: &'a Standings,
    /// The graph, if it is already computed.
    pub graph: Option<&'a DependencyGraph<'t>>,
}

/// The options of an upgrade.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpgradeOptions<'a> {
    /// The packages to upgrade, with those that their closure adds; if empty, all
    /// that need it.
    pub packages: &'a [String],
    /// What is upgraded together with a package; `None` to follow the policy.
    pub closure: Option<Closure>,
}

/// Which packages a plan covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'o> {
    /// Those that are asked for, or that need it, with those that their closure
    /// adds.
    Asked(&'o UpgradeOptions<'o>),
    /// Those whose candidates are in the tree, whatever the reason, and these, for
    /// whose candidates there is no place.
    Present(&'o [PackageId]),
    /// None, besides those that people maintain.
    Nothing,
}
