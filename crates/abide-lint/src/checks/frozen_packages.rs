//! Which packages `abide.lock` records as frozen, and which of them are unchanged.

use std::collections::BTreeSet;

use abide_hash::TreeHashes;
use abide_schema::{Package, Tree};

use crate::lock::Freeze;
use crate::rule::Context;

/// The packages of a tree that mean what they meant when they were frozen.
pub(crate) fn find_unchanged(context: &Context<'_>, tree: &Tree) -> BTreeSet<String> {
    let frozen: Vec<(&str, &Freeze)> =
        tree.packages().filter_map(|it| Some((it.name(), find_freeze(context, it)?))).collect();
    if frozen.is_empty() {
        return BTreeSet::new();
    }
    let hashes = TreeHashes::of(tree);
    let is_as_frozen = |(name, freeze): &(&str, &Freeze)| {
        hashes.package(name).is_none_or(|it| it.own == freeze.own)
    };
    frozen.into_iter().filter(is_as_frozen).map(|(name, _)| name.to_owned()).collect()
}

/// Returns what is recorded about a frozen package.
pub(crate) fn find_freeze<'t>(context: &Context<'t>, package: Package<'_>) -> Option<&'t Freeze> {
    context.records().lock?.frozen(package.name())
}
