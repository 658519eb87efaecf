//! Candidates that have no place to go.

use std::borrow::Cow;

use abide_schema::{File, Package};
use rustc_hash::FxHashSet;

use crate::basis::{Basis, Choice, UpgradeOptions};
use crate::file_elements::upgradable;
use crate::next_version::{Next, Stage};
use crate::reasons::{file_has_reason, has_reason};
use crate::standing::Standing;
use crate::upgrade_plan::{Conflict, UpgradePlan};
use crate::upgrade_policy::Closure;

/// A file whose candidate has no place.
pub struct Taken<'t> {
    /// The file.
    pub file: File<'t>,
    /// Where its candidate would go.
    pub path: String,
    /// The file in that place, or the one whose candidate goes there.
    pub other: File<'t>,
    /// Whether that one is there already.
    pub exists: bool,
}

/// The files whose candidates have no place to go.
pub fn taken<'t>(basis: Basis<'_, 't>) -> Vec<Taken<'t>> {
    if !may_collide(basis) {
        return Vec::new();
    }
    let options = UpgradeOptions::default();
    let Ok(plan) = UpgradePlan::of(basis, Choice::Asked(&options), Stage::Candidate) else {
        return Vec::new();
    };
    let conflict = |it: &Conflict| {
        let path = plan.next(it.file)?.path.clone();
        let (file, other) = (basis.tree.file(it.file), basis.tree.file(it.other));
        Some(Taken { file, path, other, exists: it.exists })
    };
    plan.conflicts.iter().filter_map(conflict).collect()
}

/// Whether two files may want the same path. A cheap check that usually says no.
fn may_collide(basis: Basis<'_, '_>) -> bool {
    let Basis { tree, settings, standings, .. } = basis;
    let mut taken: FxHashSet<Cow<'_, str>> = tree
        .files()
        .filter(|it| !matches!(standings.file(*it), Standing::Candidate | Standing::ByHand))
        .map(|it| it.path().into())
        .collect();
    let relevant =
        |it: &File<'_>| matches!(standings.file(*it), Standing::Active | Standing::Frozen);
    // Because of itself or of an import.
    let may_rise = |package: Package<'_>| {
        settings.policy.closure == Closure::All
            || package.files().any(|file| {
                upgradable(settings.policy, file).any(|it| has_reason(settings.policy, it))
                    || file_has_reason(settings.policy, file)
                    || file.imports().filter_map(|it| it.file).any(|it| relevant(&it))
            })
    };
    tree.files().filter(|it| standings.file(*it) == Standing::Active).any(|file| {
        let path = |stage: Stage| Next::of(settings, file, stage).map(|it| it.path);
        let there = path(Stage::Stable).is_some_and(|it| taken.contains(it.as_str()));
        let twice = path(Stage::Candidate).is_some_and(|it| !taken.insert(it.into()));
        (there || twice) && may_rise(file.package())
    })
}
