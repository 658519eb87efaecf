//! Candidates that have no place to go.

use std::borrow::Cow;

use abide_schema::{File, FileId, Package, Tree};
use rustc_hash::FxHashSet;

use super::file_elements::iter_upgradable;
use super::file_role::FileRole;
use super::hand_maintained::HAND_MAINTAINED_HELP;
use super::next_version::{NextVersion, ReleaseStage};
use super::reasons::{has_file_reason, has_reason};
use super::upgrade_inputs::{PackageSelection, UpgradeInputs, UpgradeOptions};
use super::upgrade_plan::{PathConflict, UpgradePlan};
use super::upgrade_policy::UpgradeClosure;

/// A file whose candidate has no place.
#[derive(Clone, Debug)]
pub struct TakenPath {
    /// The file.
    pub file: FileId,
    /// The path of its candidate.
    pub path: String,
    /// The file in that place, or the one whose candidate goes there.
    pub other: FileId,
    /// True if that one is there already.
    pub exists: bool,
}

impl TakenPath {
    /// The problem: one lower-case phrase.
    pub fn describe(&self, tree: &Tree) -> String {
        let (own, other) = (tree.file(self.file).path(), tree.file(self.other).path());
        if !self.exists {
            let path = &self.path;
            return format!("the candidates of `{own}` and `{other}` have the same path `{path}`");
        }
        let verb = if self.path == other { "written to" } else { "released as" };
        format!("the candidate of `{own}` cannot be {verb} `{other}`, which no upgrade made")
    }

    /// The remedy.
    pub fn suggest_fix(&self) -> String {
        match self.exists {
            true => format!("delete that file; or, {HAND_MAINTAINED_HELP}"),
            false => "move one of them to another package".to_owned(),
        }
    }
}

/// The files whose candidates have no place to go.
pub fn find_taken_paths(basis: UpgradeInputs<'_, '_>) -> Vec<TakenPath> {
    if !can_collide(basis) {
        return Vec::new();
    }
    let options = UpgradeOptions::default();
    let Ok(plan) =
        UpgradePlan::build(basis, PackageSelection::Requested(&options), ReleaseStage::Candidate)
    else {
        return Vec::new();
    };
    find_taken_in_plan(&plan)
}

/// The files of a plan whose candidates have no place to go.
pub(crate) fn find_taken_in_plan(plan: &UpgradePlan<'_>) -> Vec<TakenPath> {
    let taken = |it: &PathConflict| {
        let path = plan.next(it.file)?.path.clone();
        Some(TakenPath { file: it.file, path, other: it.other, exists: it.exists })
    };
    plan.conflicts.iter().filter_map(taken).collect()
}

/// Returns true if two files may want the same path. A cheap check that usually says no.
fn can_collide(basis: UpgradeInputs<'_, '_>) -> bool {
    let UpgradeInputs { tree, settings, roles: standings, .. } = basis;
    let mut taken: FxHashSet<Cow<'_, str>> = tree
        .files()
        .filter(|it| !matches!(standings.get(*it), FileRole::Candidate | FileRole::HandMaintained))
        .map(|it| it.path().into())
        .collect();
    let relevant =
        |it: &File<'_>| matches!(standings.get(*it), FileRole::Active | FileRole::Frozen);
    // Because of itself or of an import.
    let may_rise = |package: Package<'_>| {
        settings.policy.closure == UpgradeClosure::All
            || package.files().any(|file| {
                iter_upgradable(settings.policy, file).any(|it| has_reason(settings.policy, it))
                    || has_file_reason(settings.policy, file)
                    || file.imports().filter_map(|it| it.file).any(|it| relevant(&it))
            })
    };
    // Many files of one package may collide, and its answer is the same for each.
    let mut asked: FxHashSet<&str> = FxHashSet::default();
    tree.files().filter(|it| standings.get(*it) == FileRole::Active).any(|file| {
        let package = file.package();
        let path = |stage: ReleaseStage| NextVersion::find(settings, file, stage).map(|it| it.path);
        let there = path(ReleaseStage::Stable).is_some_and(|it| taken.contains(it.as_str()));
        let twice = path(ReleaseStage::Candidate).is_some_and(|it| !taken.insert(it.into()));
        (there || twice) && asked.insert(package.name()) && may_rise(package)
    })
}
