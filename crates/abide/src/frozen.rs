//! Changes of packages that `abide.lock` records as frozen.

use std::collections::BTreeSet;

use abide_meaning::TreeHashes;
use abide_schema::{Package, Tree};

use crate::finding::Finding;
use crate::location::Location;
use crate::lock::Freeze;
use crate::places::package_place;
use crate::rule::Context;
use crate::rules::FROZEN_CHANGED;

/// The packages of a tree that mean what they meant when they were frozen.
pub(crate) fn unchanged(context: &Context<'_>, tree: &Tree) -> BTreeSet<String> {
    let frozen: Vec<(&str, &Freeze)> =
        tree.packages().filter_map(|it| Some((it.name(), frozen(context, it)?))).collect();
    if frozen.is_empty() {
        return BTreeSet::new();
    }
    let hashes = TreeHashes::of(tree);
    let is_as_frozen = |(name, freeze): &(&str, &Freeze)| {
        hashes.package(name).is_none_or(|it| it.own == freeze.own)
    };
    frozen.into_iter().filter(is_as_frozen).map(|(name, _)| name.to_owned()).collect()
}

fn frozen<'t>(context: &Context<'t>, package: Package<'_>) -> Option<&'t Freeze> {
    context.records().lock?.frozen(package.name())
}

/// The packages whose own hash is no longer that of the day they were frozen on. What
/// the rule found by comparing trees is not reported again.
pub(crate) fn findings(context: &Context<'_>, found: &[Finding]) -> Vec<Finding> {
    // A part of a tree may have only a part of a package.
    if context.partial || context.records().lock.is_none() {
        return Vec::new();
    }
    let unchanged = unchanged(context, context.tree);
    let mut findings = Vec::new();
    for package in context.tree.packages().filter(|it| it.is_judged()) {
        let name = package.name();
        let is_found = || found.iter().any(|it| it.rule == FROZEN_CHANGED.id && it.package == name);
        let Some(freeze) = frozen(context, package).filter(|_| !unchanged.contains(name)) else {
            continue;
        };
        let Some(place) = package_place(package).filter(|_| !is_found()) else { continue };
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
