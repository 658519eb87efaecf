//! Whether the candidates of a tree are what would be made.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, FileId, PackageId, Tree};

use crate::candidate::{Generated, generate, is_made};
use crate::plan::{
    Basis, Choice, Closure, Conflict, Refusal, Stage, UpgradeOptions, UpgradePlan, is_added,
};

/// How a candidate is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// Its source file upgrades to a different text.
    Differs(FileId),
    /// Nothing calls for a candidate of the file that it is made from.
    Uncalled {
        /// That file.
        from: FileId,
        /// Whether the candidate holds what would be made of it.
        as_made: bool,
    },
    /// No file upgrades to it.
    Stale,
    /// Its API has no active version that it could be made from.
    Orphaned,
}

/// The candidates of a tree that differ from what an upgrade generates.
pub fn drifts(basis: Basis<'_, '_>) -> Vec<(FileId, Drift)> {
    let Basis { tree, settings, standings, .. } = basis;
    let candidates: Vec<File<'_>> =
        standings.candidates(tree).filter(|it| it.decl().source_text().is_some()).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(made) = remake(basis, &[Closure::Package, settings.policy.closure]) else {
        return Vec::new();
    };
    let drift = |candidate: File<'_>| {
        if let Some(file) = made_at(&made.called, candidate.path()) {
            return (!is_made(candidate, file)).then_some(Drift::Differs(file.from));
        }
        if let Some(file) = made_at(&made.uncalled, candidate.path()) {
            let as_made = is_made(candidate, file);
            return Some(Drift::Uncalled { from: file.from, as_made });
        }
        if is_added(settings.policy, candidate) {
            return None;
        }
        if standings.have_source(candidate) {
            return Some(Drift::Stale);
        }
        (!standings.may_have_source(candidate)).then_some(Drift::Orphaned)
    };
    candidates.into_iter().filter_map(|it| Some((it.id, drift(it)?))).collect()
}

/// What is made of the sources of the candidates of a tree, in the order of
/// paths.
pub(crate) struct Remade {
    /// What an upgrade calls for.
    pub(crate) called: Vec<Generated>,
    /// What nothing calls for.
    pub(crate) uncalled: Vec<Generated>,
    /// What cannot be made, since what people wrote is there.
    pub(crate) displaced: Vec<Conflict>,
}

impl Remade {
    /// The candidates that no file makes, of packages that others of are called
    /// for.
    pub(crate) fn stale(&self, basis: Basis<'_, '_>) -> Vec<FileId> {
        let packages: BTreeSet<&str> = self.called.iter().map(|it| it.package.as_str()).collect();
        basis
            .standings
            .candidates(basis.tree)
            .filter(|it| packages.contains(it.package().name()))
            .filter(|it| made_at(&self.called, it.path()).is_none())
            .filter(|it| !is_added(basis.settings.policy, *it))
            .map(|it| it.id)
            .collect()
    }

    /// The first of what is called for that would depend on an alpha or a beta in the
    /// place of a candidate, with that.
    pub(crate) fn on_displaced(&self, tree: &Tree) -> Option<(FileId, FileId)> {
        let is_unstable = |it: FileId| {
            let version = tree.file(it).package().version();
            version.is_some_and(|it| !it.is_stable())
        };
        self.called.iter().find_map(|file| {
            let imports = |id: PackageId| {
                let mut imported = tree.file(file.from).imports().filter_map(|it| it.file);
                imported.any(|it| it.package().id == id)
            };
            let mut displaced = self.displaced.iter().filter(|it| is_unstable(it.other));
            let other = displaced.find(|it| imports(tree.file(it.file).package().id))?.other;
            Some((file.from, other))
        })
    }
}

/// What is made at a path.
pub(crate) fn made_at<'m>(files: &'m [Generated], path: &str) -> Option<&'m Generated> {
    files.binary_search_by(|file| (*file.path).cmp(path)).ok().map(|at| &files[at])
}

/// Makes the candidates anew that are in the tree, by whatever closure they got
/// there; those are called for that an upgrade by one of these closures makes.
pub(crate) fn remake(basis: Basis<'_, '_>, closures: &[Closure]) -> Result<Remade, Refusal> {
    let mut plans = BTreeMap::new();
    for closure in closures {
        let options = UpgradeOptions { packages: &[], closure: Some(*closure) };
        if !plans.contains_key(closure) {
            let plan = UpgradePlan::of(basis, Choice::Asked(&options), Stage::Candidate)?;
            plans.insert(*closure, plan);
        }
    }
    let is_called = |file: &Generated| {
        plans.values().any(|it| it.generates(file.from) || it.resumed.contains(&file.from))
    };
    let displaced: Vec<Conflict> = plans.values().flat_map(UpgradePlan::displaced).collect();
    let packages: Vec<PackageId> =
        displaced.iter().map(|it| basis.tree.file(it.file).package().id).collect();
    let present = UpgradePlan::of(basis, Choice::Present(&packages), Stage::Candidate)?;
    let present = generate(&present)?;
    let (called, uncalled) = present.into_iter().partition(is_called);
    Ok(Remade { called, uncalled, displaced })
}
