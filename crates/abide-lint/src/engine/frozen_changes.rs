//! Changes of packages that `abide.lock` records as frozen.

use std::collections::BTreeSet;

use crate::checks::{find_freeze, find_unchanged};
use crate::finding::{Finding, Location, package_place};
use crate::rule::Context;
use crate::rules::FROZEN_CHANGED;

/// The packages whose own hash is no longer that of the day they were frozen on. What
/// the rule found by comparing trees is not reported again.
pub(super) fn check_frozen(context: &Context<'_>, found: &[Finding]) -> Vec<Finding> {
    // A part of a tree may have only a part of a package.
    if context.partial || context.records().lock.is_none() {
        return Vec::new();
    }
    let unchanged = find_unchanged(context, context.tree);
    let found = found.iter().filter(|it| it.rule == FROZEN_CHANGED.id);
    let found: BTreeSet<&str> = found.map(|it| &*it.package).collect();
    let mut findings = Vec::new();
    for package in context.tree.packages().filter(|it| it.is_judged()) {
        let name = package.name();
        let Some(freeze) = find_freeze(context, package).filter(|_| !unchanged.contains(name))
        else {
            continue;
        };
        let Some(place) = package_place(package).filter(|_| !found.contains(name)) else {
            continue;
        };
        let message = format!("package `{name}` changed since it was frozen on {}", freeze.day);
        let location = Location::tree(place);
        let mut finding = Finding::new(FROZEN_CHANGED.id, location, name, name, message);
        finding
            .why("users of a frozen package rely on it never changing")
            .help("undo the change here, and make it in the active major version");
        findings.push(finding);
    }
    findings
}
