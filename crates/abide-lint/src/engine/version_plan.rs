//! The versions that packages need, by a run since the last release.

use abide_schema::Tree;

use super::pipeline::{check_since_release, find_blocking};
use crate::inputs::Options;
use crate::policy::Policy;
use crate::versions::{Plan, ReleasedState, plan_since};

/// The version that each package of a tree needs since the last release: the
/// baseline of the bump, or else the baseline. Without either, this only
/// compares the tree with the record.
pub fn plan_versions<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Plan {
    let released = options.bump_baseline.or(options.baseline);
    let since = released.map(|old| (old, check_since_release(tree, policy, options, old)));
    let blocking = find_blocking(tree, policy, options, released);
    let released = since.as_ref().map(|(old, since)| ReleasedState {
        tree: old,
        changes: &since.findings,
        spared: &since.exempted,
        accepted: options.accepted,
    });
    plan_since(tree, policy, (options.records, options.as_of), released, &blocking)
}
