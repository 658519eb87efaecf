//! The plan of an upgrade: which files get a candidate, and the new names of the
//! elements in them.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{Element, File, FileId, Package, PackageId, PackageVersion, Tree};
use fixedbitset::FixedBitSet;

use super::additions::CandidateAdditions;
use super::dependents::{
    find_dependents_by_package, find_dependents_by_type, find_pinned_by_extensions,
};
use super::file_elements::iter_upgradable;
use super::file_role::{FileRole, FileRoles};
use super::hand_maintained::HandMaintained;
use super::interrupted_release::find_interrupted_files;
use super::next_name::resolve_next_name;
use super::next_version::{NextVersion, ReleaseStage, find_candidate_package, has_successor};
use super::reasons::{UpgradeNeed, has_file_reason};
use super::refusal::UpgradeRefusal;
use super::removal::{is_removed, is_removed_with_parent};
use super::upgrade_inputs::{PackageSelection, UpgradeInputs};
use super::upgrade_policy::{UpgradeClosure, UpgradePolicy, UpgradeSettings};

/// The files that get a candidate, and their names there.
#[derive(Debug)]
pub(crate) struct UpgradePlan<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) stage: ReleaseStage,
    pub(crate) policy: &'t UpgradePolicy,
    /// By file: its next version, for every file of an upgraded package.
    next: Vec<Option<NextVersion>>,
    /// By file: whether a candidate is generated from it.
    generated: FixedBitSet,
    /// By file: whether it is released as it is, without migrations.
    kept: FixedBitSet,
    pub(crate) hand_maintained: HandMaintained,
    /// True if versions that people maintain replace the stable ones already, although
    /// nothing is released.
    assumes_release: bool,
    /// The candidates in the tree, by root and path.
    candidates: BTreeMap<(u32, &'t str), FileId>,
    /// Files whose candidate has no place, and the file in that place.
    pub(crate) conflicts: Vec<PathConflict>,
    /// Packages that need an upgrade but stay, because they extend messages that
    /// stay: an extension number can only be used once.
    pub(crate) pinned_by_extensions: BTreeSet<PackageId>,
    /// Files that an interrupted release has already frozen.
    pub(crate) resumed: BTreeSet<FileId>,
}

/// A file whose candidate has no place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathConflict {
    pub(crate) file: FileId,
    /// The file in that place, or the one whose candidate goes there.
    pub(crate) other: FileId,
    /// True if that one is there already.
    pub(crate) exists: bool,
}

impl<'t> UpgradePlan<'t> {
    pub(crate) fn build(
        basis: UpgradeInputs<'_, 't>,
        choice: PackageSelection<'_>,
        stage: ReleaseStage,
    ) -> Result<UpgradePlan<'t>, UpgradeRefusal> {
        let UpgradeInputs { tree, settings, graph, .. } = basis;
        let mut standings = Cow::Borrowed(basis.roles);
        let interrupted = find_interrupted_files(basis);
        for it in &interrupted {
            standings.to_mut().set_active(it.frozen);
        }
        let by_hand = HandMaintained::find(tree, &standings);
        if stage == ReleaseStage::Stable {
            // An interrupted release has already frozen them.
            for file in by_hand.iter_replaced().flat_map(|(before, _)| tree.package(before).files())
            {
                standings.to_mut().set_active(file.id);
            }
        }
        let policy = settings.policy;
        let of = |file: File<'_>| standings.get(file);
        let active =
            |package: Package<'t>| package.files().any(|file| of(file) == FileRole::Active);
        // A release makes no alpha or beta stable that has no candidate of its own.
        let is_asked = |package: Package<'t>| match choice {
            PackageSelection::Requested(options) => options.packages.contains(&package.full_name()),
            PackageSelection::Present(_) | PackageSelection::Nothing => false,
        };
        let rises = |package: Package<'t>| {
            let is_replaced = by_hand.find_replacement(package.id).is_some();
            active(package)
                && (stage == ReleaseStage::Stable || !is_replaced)
                && (policy.unstable && (stage == ReleaseStage::Candidate || is_asked(package))
                    || policy.packages.contains_key(package.name())
                    || policy.always.iter().any(|it| it.matches(package.name()))
                    || package.version().is_some_and(PackageVersion::is_stable)
                    || package.version().is_none()
                        && package.files().any(|it| it.move_to_package().is_some()))
        };
        let by_type = |needs: &dyn Fn(File<'t>) -> UpgradeNeed| {
            let apart = |it: &File<'_>| it.is_judged() && of(*it) == FileRole::Excluded;
            let relevant = |file: &File<'t>| match of(*file) {
                FileRole::Active => rises(file.package()),
                it => it == FileRole::Frozen,
            };
            let mut packages = find_dependents_by_type(tree, &relevant, policy, needs);
            packages.retain(|id| !tree.package(*id).files().any(|file| apart(&file)));
            packages
        };
        let added_to: BTreeSet<&str> = tree
            .files()
            .filter(|it| of(*it) == FileRole::Candidate)
            .filter(|it| CandidateAdditions::find(policy, *it).is_some())
            .map(|it| it.package().name())
            .collect();
        let has_additions = |file: File<'t>| {
            !added_to.is_empty()
                && find_candidate_package(policy, file)
                    .is_some_and(|it| added_to.contains(it.as_str()))
        };
        let reason = |file: File<'t>| match has_file_reason(policy, file) || has_additions(file) {
            true => UpgradeNeed::All,
            false => UpgradeNeed::WithReason,
        };
        let by_reason = LazyCell::new(|| by_type(&reason));
        let mut upgraded: BTreeSet<PackageId> = match choice {
            PackageSelection::Nothing => BTreeSet::new(),
            PackageSelection::Present(displaced) => {
                let candidates: BTreeSet<&str> = tree
                    .files()
                    .filter(|it| of(*it) == FileRole::Candidate)
                    .map(|it| it.package().name())
                    .collect();
                let present = |file: File<'t>| {
                    of(file) == FileRole::Active
                        && find_candidate_package(policy, file)
                            .is_some_and(|it| candidates.contains(it.as_str()))
                };
                let packages = tree.packages().filter(|it| {
                    rises(*it) && (displaced.contains(&it.id) || it.files().any(present))
                });
                packages.map(|it| it.id).collect()
            }
            PackageSelection::Requested(options) => {
                let wanted = check_requested_packages(tree, &standings, options.packages)?;
                // A package that is asked for is upgraded, whatever is in it.
                let needs = |file: File<'t>| match &wanted {
                    Some(wanted) if wanted.contains(file.package().name()) => UpgradeNeed::All,
                    Some(_) => UpgradeNeed::None,
                    None => reason(file),
                };
                match options.closure.unwrap_or(policy.closure) {
                    UpgradeClosure::All => {
                        tree.packages().filter(|it| rises(*it)).map(|it| it.id).collect()
                    }
                    UpgradeClosure::Package => {
                        let seeds = tree.packages().filter(|package| {
                            rises(*package)
                                && package.files().any(|file| {
                                    of(file) == FileRole::Active
                                        && iter_upgradable(policy, file)
                                            .any(|it| needs(file).contains(policy, it))
                                })
                        });
                        find_dependents_by_package(
                            tree,
                            seeds.map(|it| it.id).collect(),
                            rises,
                            graph,
                        )
                    }
                    UpgradeClosure::Type if wanted.is_none() => by_reason.clone(),
                    UpgradeClosure::Type => by_type(&needs),
                }
            }
        };
        let staying = find_pinned_by_extensions(tree, &upgraded);
        if let PackageSelection::Requested(options) = choice
            && let Some(name) = options
                .packages
                .iter()
                .find(|name| tree.package_named(name).is_some_and(|it| staying.contains(&it.id)))
        {
            return Err(UpgradeRefusal::ExtendsOthers(name.clone()));
        }
        upgraded.retain(|id| !staying.contains(id));
        if policy.closure == UpgradeClosure::Type {
            // As Envoy's generator did: a reference to a frozen type becomes one
            // to its successor.
            upgraded.extend(by_reason.iter().filter(|id| !active(tree.package(**id))));
        }
        if interrupted.iter().any(|it| it.in_place) {
            // Some files of the release already exist.
            let done = |file: &File<'t>| {
                let path = |stage: ReleaseStage| {
                    NextVersion::find(settings, *file, stage).map(|it| it.path)
                };
                of(*file) == FileRole::Frozen
                    && path(ReleaseStage::Stable) == path(ReleaseStage::Candidate)
            };
            upgraded.extend(tree.files().filter(done).map(|it| it.package().id));
        }
        let mut next = vec![None; tree.files().len()];
        let mut generated = FixedBitSet::with_capacity(next.len());
        let mut frozen = Vec::new();
        for package in upgraded {
            for file in tree.package(package).files().filter(|it| has_successor(policy, *it)) {
                match of(file) {
                    FileRole::Active => {
                        let becomes = NextVersion::find(settings, file, stage);
                        generated.set(file.id.0 as usize, becomes.is_some());
                        next[file.id.0 as usize] = becomes;
                    }
                    FileRole::Frozen => frozen.push(file),
                    _ => {}
                }
            }
        }
        let successors = find_frozen_successors(tree, settings, stage, &frozen, &next);
        for (file, becomes) in frozen.iter().zip(successors) {
            next[file.id.0 as usize] = becomes;
        }
        let kept = FixedBitSet::with_capacity(next.len());
        if stage == ReleaseStage::Stable {
            for (before, after) in by_hand.iter_replaced() {
                let becomes = |file: File<'_>| NextVersion::find_stable(settings, file);
                set_replacements(tree.package(before), tree.package(after), &mut next, becomes);
                tree.package(before).files().for_each(|it| generated.set(it.id.0 as usize, false));
            }
        }
        let is_candidate = |file: &File<'t>| of(*file) == FileRole::Candidate;
        let candidates = tree
            .files()
            .filter(is_candidate)
            .map(|file| (get_rooted_path(file), file.id))
            .collect();
        let mut plan = UpgradePlan {
            tree,
            stage,
            candidates,
            policy,
            next,
            generated,
            kept,
            hand_maintained: by_hand,
            assumes_release: false,
            conflicts: Vec::new(),
            pinned_by_extensions: staying,
            resumed: interrupted.iter().map(|it| it.frozen).collect(),
        };
        if stage == ReleaseStage::Stable {
            let by_hand: Vec<PackageId> = plan.hand_maintained.iter_packages().collect();
            for file in by_hand.into_iter().flat_map(|it| tree.package(it).files()) {
                plan.set_released(file.id, NextVersion::find_stable(settings, file));
            }
        }
        plan.resolve_path_conflicts(&standings, settings);
        Ok(plan)
    }

    /// Gives way to existing files that are not candidates: they were written by
    /// hand. That holds for the path of the candidate and for the path it gets in
    /// a release. Of two candidates with the same path in one root, the first is generated.
    fn resolve_path_conflicts(&mut self, standings: &FileRoles, settings: UpgradeSettings<'_>) {
        let written = |file: &File<'_>| standings.get(*file) != FileRole::Candidate;
        let mut taken: BTreeMap<(u32, &str), (FileId, bool)> = self
            .tree
            .files()
            .filter(written)
            .map(|file| (get_rooted_path(file), (file.id, true)))
            .collect();
        for (at, next) in self.next.iter().enumerate() {
            let Some(next) = next.as_ref().filter(|_| self.generated.contains(at)) else {
                continue;
            };
            let file = FileId(at as u32);
            let root = self.tree.file(file).decl().root;
            let released = NextVersion::find(settings, self.tree.file(file), ReleaseStage::Stable)
                .filter(|_| !self.kept.contains(at));
            let there = released.as_ref().and_then(|it| taken.get(&(root, it.path.as_str())));
            let there = there.filter(|(_, exists)| *exists);
            match taken.get(&(root, next.path.as_str())).or(there) {
                Some((other, exists)) => {
                    // An interrupted release has already written some.
                    let resumed = self.stage == ReleaseStage::Stable
                        || self.candidates.contains_key(&(root, next.path.as_str()));
                    self.generated.set(at, *exists && resumed);
                    self.conflicts.push(PathConflict { file, other: *other, exists: *exists });
                }
                None => drop(taken.insert((root, &next.path), (file, false))),
            }
        }
    }

    /// Redirects references into `file` to the successor of `source`.
    pub(crate) fn redirect_to_successor(&mut self, file: FileId, source: FileId) {
        self.next[file.0 as usize] = self.next[source.0 as usize].clone();
        self.kept.insert(file.0 as usize);
    }

    /// Releases a file as it is.
    pub(crate) fn set_released(&mut self, file: FileId, next: Option<NextVersion>) {
        let at = file.0 as usize;
        self.generated.set(at, next.is_some());
        self.next[at] = next;
        self.kept.insert(at);
    }

    /// The next version of a file, if its package is upgraded.
    pub(crate) fn next(&self, file: FileId) -> Option<&NextVersion> {
        self.next[file.0 as usize].as_ref()
    }

    /// Returns true if a candidate is generated from a file.
    pub(crate) fn is_source(&self, file: FileId) -> bool {
        self.generated.contains(file.0 as usize)
    }

    /// The files whose candidates have no place, since what people wrote is there.
    pub(crate) fn iter_displaced(&self) -> impl Iterator<Item = PathConflict> + '_ {
        self.conflicts.iter().copied().filter(|it| it.exists)
    }

    /// The candidate in the tree at this path in the root of `file`.
    pub(crate) fn find_candidate(&self, file: File<'t>, path: &str) -> Option<File<'t>> {
        self.candidates.get(&(file.decl().root, path)).map(|id| self.tree.file(*id))
    }

    /// The full name of a type, or of a member of one, in the next version; `None`
    /// if it stays.
    pub(crate) fn find_next_name(&self, element: Element<'t>) -> Option<String> {
        let next = self.next(element.file().id)?;
        if self.is_replaced(element.file()) {
            return self
                .hand_maintained
                .find_successor(element)
                .map(|it| self.resolve_full_name(it));
        }
        let mut names = vec![self.resolve_simple_name(element)];
        let mut parent = element.parent();
        while let Some(element) = parent {
            names.push(self.resolve_simple_name(element));
            parent = element.parent();
        }
        names.push(&next.package);
        names.retain(|name| !name.is_empty());
        names.reverse();
        Some(names.join("."))
    }

    /// Returns true if a file is released as it is, without migrations.
    pub(crate) fn is_kept(&self, file: File<'t>) -> bool {
        self.kept.contains(file.id.0 as usize)
    }

    /// Redirects references to the versions that people maintain, before a release too.
    pub(crate) fn assume_release(&mut self) {
        for (before, after) in self.hand_maintained.iter_replaced() {
            let (before, after) = (self.tree.package(before), self.tree.package(after));
            set_replacements(before, after, &mut self.next, |file| {
                let (package, path) = (file.package().full_name(), file.path().to_owned());
                Some(NextVersion { package, path })
            });
        }
        self.assumes_release = true;
    }

    /// Returns true if a package that people maintain replaces a file.
    pub(crate) fn is_replaced(&self, file: File<'t>) -> bool {
        let asks = self.stage == ReleaseStage::Stable || self.assumes_release;
        asks && self.hand_maintained.find_replacement(file.package().id).is_some()
    }

    /// The name of an element in the next version.
    pub(crate) fn resolve_simple_name(&self, element: Element<'t>) -> &'t str {
        if self.is_replaced(element.file()) {
            return self.hand_maintained.find_successor(element).unwrap_or(element).name();
        }
        if self.is_kept(element.file()) { element.name() } else { resolve_next_name(element) }
    }

    /// Returns true if the next version does not have an element.
    pub(crate) fn is_removed(&self, element: Element<'t>) -> bool {
        if self.is_replaced(element.file()) {
            return self.hand_maintained.find_successor(element).is_none();
        }
        !self.is_kept(element.file()) && is_removed(element)
    }

    /// Returns true if the next version does not have an element or an enclosing one.
    pub(crate) fn is_removed_with_parent(&self, element: Element<'t>) -> bool {
        if self.is_replaced(element.file()) {
            return self.hand_maintained.find_successor(element).is_none();
        }
        !self.is_kept(element.file()) && is_removed_with_parent(element)
    }

    /// The file that declares an element after the upgrade.
    pub(crate) fn resolve_file(&self, element: Element<'t>) -> File<'t> {
        let successor = || self.hand_maintained.find_successor(element);
        let successor = self.is_replaced(element.file()).then(successor).flatten();
        successor.unwrap_or(element).file()
    }

    /// The full name of a type after the upgrade.
    pub(crate) fn resolve_full_name(&self, element: Element<'t>) -> String {
        self.find_next_name(element).unwrap_or_else(|| element.full_name())
    }

    /// The path of a file after the upgrade.
    pub(crate) fn resolve_path(&self, file: File<'t>) -> &str {
        self.next(file.id).map_or(file.path(), |next| &next.path)
    }
}

/// Sets the files of a package that people maintain as the next version of those of
/// a stable one. What is imported is found by name; the path is that of a file with
/// the same base name, or else of the first file.
fn set_replacements<'t>(
    before: Package<'t>,
    after: Package<'t>,
    next: &mut [Option<NextVersion>],
    becomes: impl Fn(File<'t>) -> Option<NextVersion>,
) {
    fn get_base_name<'t>(file: File<'t>) -> &'t str {
        file.path().rsplit('/').next().unwrap_or_default()
    }
    for file in before.files() {
        let same = after.files().find(|it| get_base_name(*it) == get_base_name(file));
        let same = same.or_else(|| after.files().next());
        next[file.id.0 as usize] = same.and_then(&becomes);
    }
}

/// Names of frozen files: references to them follow to the version after theirs, where that is in
/// the tree with all that they declare, or is made.
fn find_frozen_successors<'t>(
    tree: &'t Tree,
    settings: UpgradeSettings<'_>,
    stage: ReleaseStage,
    frozen: &[File<'t>],
    next: &[Option<NextVersion>],
) -> Vec<Option<NextVersion>> {
    if frozen.is_empty() {
        return Vec::new();
    }
    let root = |id: FileId| tree.file(id).decl().root;
    let ids = (0..).map(FileId);
    let made = ids.zip(next).filter_map(|(id, it)| Some((root(id), it.as_ref()?.path.as_str())));
    let made: BTreeSet<(u32, &str)> = made.collect();
    let there: BTreeMap<(u32, &str), File<'t>> =
        tree.files().map(|it| (get_rooted_path(it), it)).collect();
    let becomes = |file: &File<'t>| {
        let declares_all = |other: &File<'t>| {
            let named: BTreeSet<String> = other.elements().map(Element::relative_name).collect();
            let types = file.elements().filter(|it| {
                matches!(it, Element::Message(_) | Element::Enum(_)) && !is_removed_with_parent(*it)
            });
            { types }.all(|it| named.contains(&it.relative_name()))
        };
        let is_there = |next: &NextVersion| {
            let at = (file.decl().root, next.path.as_str());
            made.contains(&at) || there.get(&at).is_some_and(declares_all)
        };
        let next = |stage| NextVersion::find(settings, *file, stage).filter(is_there);
        // What is released comes before a candidate that it left behind.
        next(ReleaseStage::Stable).or_else(|| next(stage))
    };
    frozen.iter().map(becomes).collect()
}

/// The packages that the user asks for, if any; refuses those that cannot be
/// upgraded.
fn check_requested_packages<'o>(
    tree: &Tree,
    standings: &FileRoles,
    packages: &'o [String],
) -> Result<Option<BTreeSet<&'o str>>, UpgradeRefusal> {
    for name in packages {
        let Some(package) = tree.package_named(name).filter(|it| it.is_judged()) else {
            return Err(UpgradeRefusal::UnknownPackage(name.clone()));
        };
        let is = |wanted: FileRole| package.files().any(|it| standings.get(it) == wanted);
        if is(FileRole::Candidate) {
            return Err(UpgradeRefusal::Candidate(name.clone()));
        }
        if !is(FileRole::Active) {
            return Err(match (is(FileRole::Frozen), package.version()) {
                (true, _) => UpgradeRefusal::Frozen(name.clone()),
                (false, Some(_)) => UpgradeRefusal::Unstable(name.clone()),
                (false, None) => UpgradeRefusal::Unversioned(name.clone()),
            });
        }
    }
    Ok((!packages.is_empty()).then(|| packages.iter().map(String::as_str).collect()))
}

/// The root and path of a file. Each root is a world of its own, so two may have one path.
fn get_rooted_path(file: File<'_>) -> (u32, &str) {
    (file.decl().root, file.path())
}
