//! The packages of an upgrade that cannot be made, so that the others can.

use std::collections::{BTreeMap, BTreeSet};

use abide_lint::Report;
use abide_schema::{File, FileId, PackageId, Tree};
use abide_source::printable::escape_unprintable;
use abide_upgrade::UpgradeResult;

use super::file_changes::display_of_generated;

/// The packages whose candidates stay as they are.
pub(super) struct BlockedPackages<'t> {
    tree: &'t Tree,
    why: BTreeMap<PackageId, BlockReason>,
    /// The candidates that an upgrade makes or deletes, by the names that reports use, with the
    /// packages that they are made from.
    candidates: BTreeMap<String, PackageId>,
}

/// The reason why a package gets no candidates.
enum BlockReason {
    /// It has an error itself.
    Errors,
    /// It would use the candidates of this package, which gets none either.
    Uses(PackageId),
    /// This file uses what its candidates would no longer have.
    Breaks(String),
}

impl<'t> BlockedPackages<'t> {
    /// Nothing is blocked yet.
    pub(super) fn new(tree: &'t Tree, made: &UpgradeResult) -> BlockedPackages<'t> {
        let made_here = made.files.iter().map(|it| {
            (display_of_generated(tree.file(it.from), &it.path), package_of(tree, it.from))
        });
        let gone = made.stale.iter().map(|it| {
            let path = tree.file(it.file).decl().display.to_string();
            (path, package_of(tree, it.from.unwrap_or(it.file)))
        });
        BlockedPackages { tree, why: BTreeMap::new(), candidates: made_here.chain(gone).collect() }
    }

    /// Takes out of an upgrade what findings in its sources keep from being made, and everything
    /// that would use it. Returns whether something is left to make.
    pub(super) fn exclude_by_errors(
        &mut self,
        findings: &Report,
        made: &mut UpgradeResult,
    ) -> bool {
        let sources: BTreeSet<PackageId> =
            made.files.iter().map(|it| self.tree.file(it.from).package().id).collect();
        for finding in &findings.findings {
            let Some(place) = finding.location.place() else { return false };
            let file = self.tree.file(place.file);
            let own = self.candidates.get(&*file.decl().display).copied();
            match own.or_else(|| Some(file.package().id).filter(|it| sources.contains(it))) {
                Some(package) => drop(self.why.insert(package, BlockReason::Errors)),
                // Why a candidate is deleted is not known then.
                None => made.stale.clear(),
            }
        }
        self.exclude_dependents(made);
        !made.files.is_empty()
    }

    /// Takes out of an upgrade what would break these files, or be an error itself. Returns whether
    /// something is left to do.
    pub(super) fn exclude_by_harm<'p>(
        &mut self,
        harmed: impl Iterator<Item = Option<&'p str>>,
        made: &mut UpgradeResult,
    ) -> bool {
        let before = self.why.len();
        let harmed: BTreeSet<Option<&str>> = harmed.collect();
        for path in harmed.into_iter().flatten() {
            let mut found = self.find_culprits(path);
            found.retain(|it| !self.why.contains_key(it));
            for package in found {
                let why = match self.candidates.get(path) == Some(&package) {
                    true => BlockReason::Errors,
                    false => BlockReason::Breaks(path.to_owned()),
                };
                self.why.entry(package).or_insert(why);
            }
        }
        if self.why.len() == before {
            // Nobody knows which of them does it.
            return false;
        }
        self.exclude_dependents(made);
        !made.files.is_empty() || !made.stale.is_empty()
    }

    /// The package that a file is a candidate of.
    fn candidate(&self, path: &str) -> Option<PackageId> {
        self.candidates.get(path).copied()
    }

    /// The packages whose candidates a file is, or else uses: as directly as it uses any.
    fn find_culprits(&self, path: &str) -> BTreeSet<PackageId> {
        if let Some(own) = self.candidate(path).filter(|it| !self.why.contains_key(it)) {
            return BTreeSet::from([own]);
        }
        let mut files: Vec<File<'_>> =
            self.tree.files().filter(|it| &*it.decl().display == path).collect();
        let mut seen: BTreeSet<_> = files.iter().map(|it| it.id).collect();
        while !files.is_empty() {
            let imported = files.iter().flat_map(|it| it.imports()).filter_map(|it| it.file);
            files = imported.filter(|it| seen.insert(it.id)).collect();
            let used = files.iter().filter_map(|it| self.candidate(&it.decl().display));
            let used: BTreeSet<PackageId> = used.filter(|it| !self.why.contains_key(it)).collect();
            if !used.is_empty() {
                return used;
            }
        }
        BTreeSet::new()
    }

    /// Returns true if a file is a candidate that stays as it is. Its errors follow from what was
    /// reported about its package.
    pub(super) fn is_kept_candidate(&self, path: &str) -> bool {
        self.candidates.get(path).is_some_and(|it| self.why.contains_key(it))
    }

    /// Blocks whatever would use what is blocked, and takes all of it out of an upgrade.
    fn exclude_dependents(&mut self, made: &mut UpgradeResult) {
        let graph = self.tree.build_graph();
        let packages: BTreeSet<PackageId> =
            made.files.iter().map(|it| package_of(self.tree, it.from)).collect();
        loop {
            let open = packages.iter().filter(|it| !self.why.contains_key(it));
            let found: Vec<_> = open
                .filter_map(|package: &PackageId| {
                    let mut edges =
                        graph.edges_of(self.tree.package(*package)).map(|edge| edge.to.id);
                    edges
                        .find(|to| self.why.contains_key(to))
                        .map(|to| (*package, BlockReason::Uses(to)))
                })
                .collect();
            if found.is_empty() {
                break;
            }
            self.why.extend(found);
        }
        made.files.retain(|it| !self.why.contains_key(&package_of(self.tree, it.from)));
        // Candidates of what is blocked stay as they are.
        made.stale.retain(|it| {
            !self.why.contains_key(&package_of(self.tree, it.from.unwrap_or(it.file)))
        });
    }

    /// Says for each blocked package why it was not upgraded.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.why.iter().map(move |(package, why)| {
            let because = match why {
                BlockReason::Errors => "see its errors above".to_owned(),
                BlockReason::Uses(used) => {
                    format!("it uses `{}`, which was not upgraded", self.tree.package(*used).name())
                }
                BlockReason::Breaks(path) => format!(
                    "`{}` uses what its candidate would no longer have; change that file first",
                    escape_unprintable(path)
                ),
            };
            format!("error: `{}` was not upgraded: {because}", self.tree.package(*package).name())
        })
    }
}

fn package_of(tree: &Tree, file: FileId) -> PackageId {
    tree.file(file).package().id
}
