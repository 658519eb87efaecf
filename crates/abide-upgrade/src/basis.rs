//! What an upgrade is planned from, and what is asked of it.

use abide_schema::{Graph, Tree};

use crate::standing::Standings;
use crate::upgrade_policy::{Closure, UpgradeSettings};

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a, 't> {
    /// The tree that is upgraded.
    pub tree: &'t Tree,
    /// How.
    pub settings: UpgradeSettings<'t>,
    /// What each of its files is to the upgrade.
    pub standings: &'a Standings,
    /// Where somebody has it already.
    pub graph: Option<&'a Graph<'t>>,
}

/// What is asked of an upgrade.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpgradeOptions<'a> {
    /// The packages that are upgraded, with what their closure drags along;
    /// none: all that need it.
    pub packages: &'a [String],
    /// What is upgraded together with a package; `None`: as the policy says.
    pub closure: Option<Closure>,
}

/// Which packages a plan is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'o> {
    /// Those that are asked for, or need it, with what their closure drags
    /// along.
    Asked(&'o UpgradeOptions<'o>),
    /// Those whose candidates are in the tree, whatever called for them.
    Present,
}
