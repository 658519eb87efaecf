//! The versions that packages need, by a run since the last release.

use abide_schema::Tree;

use super::pipeline::{blocking, since_release};
use crate::inputs::Options;
use crate::policy::Policy;
use crate::versions::{Plan, Released, plan_since};

/// The version that each package of a tree needs since the last release: the
/// baseline of the bump, or else the baseline. Without either, this only
/// compares the tree with the record.
pub fn plan<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Plan {
    let released = options.bump_baseline.or(options.baseline);
    let since = released.map(|old| (old, since_release(tree, policy, options, old)));
    let blocking = blocking(tree, policy, options, released);
    let released = since.as_ref().map(|(old, since)| Released {
        tree: old,
        changes: &since.findings,
        spared: &since.spared,
        accepted: options.accepted,
    });
    plan_since(tree, policy, (options.records, options.as_of), released, &blocking)
}
