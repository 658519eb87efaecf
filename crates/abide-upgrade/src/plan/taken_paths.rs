//! Candidates that have no place to go.

use std::borrow::Cow;

use abide_schema::{File, FileId, Package, Tree};
use rustc_hash::FxHashSet;

use super::file_elements::upgradable;
use super::file_role::Standing;
use super::hand_maintained::DECLARE_BY_HAND;
use super::next_version::{Next, Stage};
use super::reasons::{file_has_reason, has_reason};
use super::upgrade_inputs::{Basis, Choice, UpgradeOptions};
use super::upgrade_plan::{Conflict, UpgradePlan};
use super::upgrade_policy::Closure;

/// A file whose candidate has no place.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The file.
    pub file: FileId,
    /// Where its candidate would go.
    pub path: String,
    /// The file in that place, or the one whose candidate goes there.
    pub other: FileId,
    /// Whether that one is there already.
    pub exists: bool,
}

impl Taken {
    /// What is wrong: one lower-case phrase.
    pub fn message(&self, tree: &Tree) -> String {
        let (own, other) = (tree.file(self.file).path(), tree.file(self.other).path());
        if !self.exists {
            let path = &self.path;
            return format!("the candidates of `{own}` and `{other}` have the same path `{path}`");
        }
        let verb = if self.path == other { "written to" } else { "released as" };
        format!("the candidate of `{own}` cannot be {verb} `{other}`, which no upgrade made")
    }

    /// What helps.
    pub fn help(&self) -> String {
        match self.exists {
            true => format!("delete that file; or, {DECLARE_BY_HAND}"),
            false => "move one of them to another package".to_owned(),
        }
    }
}

/// The files whose candidates have no place to go.
pub fn taken(basis: Basis<'_, '_>) -> Vec<Taken> {
    if !may_collide(basis) {
        return Vec::new();
    }
    let options = UpgradeOptions::default();
    let Ok(plan) = UpgradePlan::of(basis, Choice::Asked(&options), Stage::Candidate) else {
        return Vec::new();
    };
    taken_in(&plan)
}

/// The files of a plan whose candidates have no place to go.
pub(crate) fn taken_in(plan: &UpgradePlan<'_>) -> Vec<Taken> {
    let taken = |it: &Conflict| {
        let path = plan.next(it.file)?.path.clone();
        Some(Taken { file: it.file, path, other: it.other, exists: it.exists })
    };
    plan.conflicts.iter().filter_map(taken).collect()
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
    // Many files of one package may collide, and its answer is the same for each.
    let mut asked: FxHashSet<&str> = FxHashSet::default();
    tree.files().filter(|it| standings.file(*it) == Standing::Active).any(|file| {
        let package = file.package();
        let path = |stage: Stage| Next::of(settings, file, stage).map(|it| it.path);
        let there = path(Stage::Stable).is_some_and(|it| taken.contains(it.as_str()));
        let twice = path(Stage::Candidate).is_some_and(|it| !taken.insert(it.into()));
        (there || twice) && asked.insert(package.name()) && may_rise(package)
    })
}
