//! True if the candidates of a tree are what would be made.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, FileId, PackageId, Tree};

use crate::candidate::{GeneratedFile, generate, matches_generated};
use crate::plan::{
    PackageSelection, PathConflict, ReleaseStage, UpgradeClosure, UpgradeInputs, UpgradeOptions,
    UpgradePlan, UpgradeRefusal, is_addition_only,
};

/// The way in which a candidate is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// Its source file upgrades to a different text.
    Differs(FileId),
    /// Nothing calls for a candidate of the file that it is made from.
    Unneeded {
        /// That file.
        from: FileId,
        /// True if the candidate holds what would be made of it.
        is_as_generated: bool,
    },
    /// No file upgrades to it.
    Stale,
    /// Its API has no active version that it could be made from.
    Orphaned,
}

/// The candidates of a tree that differ from what an upgrade generates.
pub fn find_stale_candidates(basis: UpgradeInputs<'_, '_>) -> Vec<(FileId, StaleReason)> {
    let UpgradeInputs { tree, settings, roles: standings, .. } = basis;
    let candidates: Vec<File<'_>> =
        standings.iter_candidates(tree).filter(|it| it.decl().source_text().is_some()).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(made) = regenerate(basis, &[UpgradeClosure::Package, settings.policy.closure]) else {
        return Vec::new();
    };
    let drift = |candidate: File<'_>| {
        if let Some(file) = find_at_path(&made.needed, candidate.path()) {
            return (!matches_generated(candidate, file))
                .then_some(StaleReason::Differs(file.from));
        }
        if let Some(file) = find_at_path(&made.unneeded, candidate.path()) {
            let as_made = matches_generated(candidate, file);
            return Some(StaleReason::Unneeded { from: file.from, is_as_generated: as_made });
        }
        if is_addition_only(settings.policy, candidate) {
            return None;
        }
        if standings.has_active_source(candidate) {
            return Some(StaleReason::Stale);
        }
        (!standings.can_have_imported_source(candidate)).then_some(StaleReason::Orphaned)
    };
    candidates.into_iter().filter_map(|it| Some((it.id, drift(it)?))).collect()
}

/// The files made of the sources of the candidates of a tree, in the order of
/// paths.
pub(crate) struct Regenerated {
    /// The candidates that an upgrade calls for.
    pub(crate) needed: Vec<GeneratedFile>,
    /// The candidates that nothing calls for.
    pub(crate) unneeded: Vec<GeneratedFile>,
    /// The candidates that cannot be made, since people wrote a file there.
    pub(crate) displaced: Vec<PathConflict>,
}

impl Regenerated {
    /// The candidates that no file makes, of packages that others of are called
    /// for.
    pub(crate) fn find_stale(&self, basis: UpgradeInputs<'_, '_>) -> Vec<FileId> {
        let packages: BTreeSet<&str> = self.needed.iter().map(|it| it.package.as_str()).collect();
        basis
            .roles
            .iter_candidates(basis.tree)
            .filter(|it| packages.contains(it.package().name()))
            .filter(|it| find_at_path(&self.needed, it.path()).is_none())
            .filter(|it| !is_addition_only(basis.settings.policy, *it))
            .map(|it| it.id)
            .collect()
    }

    /// The first of what is called for that would depend on an alpha or a beta in the
    /// place of a candidate, with that.
    pub(crate) fn find_use_of_displaced(&self, tree: &Tree) -> Option<(FileId, FileId)> {
        let is_unstable = |it: FileId| {
            let version = tree.file(it).package().version();
            version.is_some_and(|it| !it.is_stable())
        };
        self.needed.iter().find_map(|file| {
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

/// Finds the candidate made at a path.
pub(crate) fn find_at_path<'m>(
    files: &'m [GeneratedFile],
    path: &str,
) -> Option<&'m GeneratedFile> {
    files.binary_search_by(|file| (*file.path).cmp(path)).ok().map(|at| &files[at])
}

/// Makes the candidates anew that are in the tree, by whatever closure they got
/// there; those are called for that an upgrade by one of these closures makes.
pub(crate) fn regenerate(
    basis: UpgradeInputs<'_, '_>,
    closures: &[UpgradeClosure],
) -> Result<Regenerated, UpgradeRefusal> {
    let mut plans = BTreeMap::new();
    for closure in closures {
        let options = UpgradeOptions { packages: &[], closure: Some(*closure) };
        if !plans.contains_key(closure) {
            let plan = UpgradePlan::build(
                basis,
                PackageSelection::Requested(&options),
                ReleaseStage::Candidate,
            )?;
            plans.insert(*closure, plan);
        }
    }
    let is_called = |file: &GeneratedFile| {
        plans.values().any(|it| it.is_source(file.from) || it.resumed.contains(&file.from))
    };
    let displaced: Vec<PathConflict> =
        plans.values().flat_map(UpgradePlan::iter_displaced).collect();
    let packages: Vec<PackageId> =
        displaced.iter().map(|it| basis.tree.file(it.file).package().id).collect();
    let present =
        UpgradePlan::build(basis, PackageSelection::Present(&packages), ReleaseStage::Candidate)?;
    let present = generate(&present)?;
    let (called, uncalled) = present.into_iter().partition(is_called);
    Ok(Regenerated { needed: called, unneeded: uncalled, displaced })
}
