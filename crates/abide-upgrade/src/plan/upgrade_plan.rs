//! The plan of an upgrade: which files get a candidate, and the new names of the
//! elements in them.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{Element, File, FileId, Package, PackageId, PackageVersion, Tree};
use fixedbitset::FixedBitSet;

use super::additions::Additions;
use super::dependents::{by_package, by_type, staying};
use super::file_elements::upgradable;
use super::file_role::{Standing, Standings};
use super::hand_maintained::ByHand;
use super::interrupted_release::interrupted;
use super::next_name::name_after;
use super::next_version::{Next, Stage, candidate_package, has_successor};
use super::reasons::{Need, file_has_reason};
use super::refusal::Refusal;
use super::removal::{gone, removed};
use super::upgrade_inputs::{Basis, Choice};
use super::upgrade_policy::{Closure, UpgradePolicy, UpgradeSettings};

/// Which files get a candidate, and under which name.
#[derive(Debug)]
pub(crate) struct UpgradePlan<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) stage: Stage,
    pub(crate) policy: &'t UpgradePolicy,
    /// By file: its next version, for every file of an upgraded package.
    next: Vec<Option<Next>>,
    /// By file: whether a candidate is generated from it.
    generated: FixedBitSet,
    /// By file: whether it is released as it is, without migrations.
    kept: FixedBitSet,
    pub(crate) by_hand: ByHand,
    /// Whether versions that people maintain replace the stable ones already, although
    /// nothing is released.
    looks_ahead: bool,
    /// The candidates in the tree, by root and path.
    candidates: BTreeMap<(u32, &'t str), FileId>,
    /// Files whose candidate has no place, and the file in that place.
    pub(crate) conflicts: Vec<Conflict>,
    /// Packages that need an upgrade but stay, because they extend messages that
    /// stay: an extension number can only be used once.
    pub(crate) staying: BTreeSet<PackageId>,
    /// Files that an interrupted release has already frozen.
    pub(crate) resumed: BTreeSet<FileId>,
}

/// A file whose candidate has no place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) file: FileId,
    /// The file in that place, or the one whose candidate goes there.
    pub(crate) other: FileId,
    /// Whether that one is there already.
    pub(crate) exists: bool,
}

impl<'t> UpgradePlan<'t> {
    pub(crate) fn of(
        basis: Basis<'_, 't>,
        choice: Choice<'_>,
        stage: Stage,
    ) -> Result<UpgradePlan<'t>, Refusal> {
        let Basis { tree, settings, graph, .. } = basis;
        let mut standings = Cow::Borrowed(basis.standings);
        let interrupted = interrupted(basis);
        for it in &interrupted {
            standings.to_mut().resume(it.frozen);
        }
        let by_hand = ByHand::of(tree, &standings);
        if stage == Stage::Stable {
            // An interrupted release has already frozen them.
            for file in by_hand.replaced().flat_map(|(before, _)| tree.package(before).files()) {
                standings.to_mut().resume(file.id);
            }
        }
        let policy = settings.policy;
        let of = |file: File<'_>| standings.file(file);
        let active =
            |package: Package<'t>| package.files().any(|file| of(file) == Standing::Active);
        // A release makes no alpha or beta stable that has no candidate of its own.
        let is_asked = |package: Package<'t>| match choice {
            Choice::Asked(options) => options.packages.contains(&package.full_name()),
            Choice::Present(_) | Choice::Nothing => false,
        };
        let rises = |package: Package<'t>| {
            let is_replaced = by_hand.after(package.id).is_some();
            active(package)
                && (stage == Stage::Stable || !is_replaced)
                && (policy.unstable && (stage == Stage::Candidate || is_asked(package))
                    || policy.packages.contains_key(package.name())
                    || policy.always.iter().any(|it| it.matches(package.name()))
                    || package.version().is_some_and(PackageVersion::is_stable)
                    || package.version().is_none()
                        && package.files().any(|it| it.move_to_package().is_some()))
        };
        let by_type = |needs: &dyn Fn(File<'t>) -> Need| {
            let apart = |it: &File<'_>| it.is_judged() && of(*it) == Standing::Apart;
            let relevant = |file: &File<'t>| match of(*file) {
                Standing::Active => rises(file.package()),
                it => it == Standing::Frozen,
            };
            let mut packages = by_type(tree, &relevant, policy, needs);
            packages.retain(|id| !tree.package(*id).files().any(|file| apart(&file)));
            packages
        };
        let added_to: BTreeSet<&str> = tree
            .files()
            .filter(|it| of(*it) == Standing::Candidate)
            .filter(|it| Additions::of(policy, *it).is_some())
            .map(|it| it.package().name())
            .collect();
        let has_additions = |file: File<'t>| {
            !added_to.is_empty()
                && candidate_package(policy, file).is_some_and(|it| added_to.contains(it.as_str()))
        };
        let reason = |file: File<'t>| match file_has_reason(policy, file) || has_additions(file) {
            true => Need::All,
            false => Need::Some,
        };
        let by_reason = LazyCell::new(|| by_type(&reason));
        let mut upgraded: BTreeSet<PackageId> = match choice {
            Choice::Nothing => BTreeSet::new(),
            Choice::Present(displaced) => {
                let candidates: BTreeSet<&str> = tree
                    .files()
                    .filter(|it| of(*it) == Standing::Candidate)
                    .map(|it| it.package().name())
                    .collect();
                let present = |file: File<'t>| {
                    of(file) == Standing::Active
                        && candidate_package(policy, file)
                            .is_some_and(|it| candidates.contains(it.as_str()))
                };
                let packages = tree.packages().filter(|it| {
                    rises(*it) && (displaced.contains(&it.id) || it.files().any(present))
                });
                packages.map(|it| it.id).collect()
            }
            Choice::Asked(options) => {
                let wanted = wanted(tree, &standings, options.packages)?;
                // A package that is asked for is upgraded, whatever is in it.
                let needs = |file: File<'t>| match &wanted {
                    Some(wanted) if wanted.contains(file.package().name()) => Need::All,
                    Some(_) => Need::None,
                    None => reason(file),
                };
                match options.closure.unwrap_or(policy.closure) {
                    Closure::All => {
                        tree.packages().filter(|it| rises(*it)).map(|it| it.id).collect()
                    }
                    Closure::Package => {
                        let seeds = tree.packages().filter(|package| {
                            rises(*package)
                                && package.files().any(|file| {
                                    of(file) == Standing::Active
                                        && upgradable(policy, file)
                                            .any(|it| needs(file).of(policy, it))
                                })
                        });
                        by_package(tree, seeds.map(|it| it.id).collect(), rises, graph)
                    }
                    Closure::Type if wanted.is_none() => by_reason.clone(),
                    Closure::Type => by_type(&needs),
                }
            }
        };
        let staying = staying(tree, &upgraded);
        if let Choice::Asked(options) = choice
            && let Some(name) = options
                .packages
                .iter()
                .find(|name| tree.package_named(name).is_some_and(|it| staying.contains(&it.id)))
        {
            return Err(Refusal::Extends(name.clone()));
        }
        upgraded.retain(|id| !staying.contains(id));
        if policy.closure == Closure::Type {
            // As Envoy's generator did: a reference to a frozen type becomes one
            // to its successor.
            upgraded.extend(by_reason.iter().filter(|id| !active(tree.package(**id))));
        }
        if interrupted.iter().any(|it| it.in_place) {
            // Some files of the release already exist.
            let done = |file: &File<'t>| {
                let path = |stage: Stage| Next::of(settings, *file, stage).map(|it| it.path);
                of(*file) == Standing::Frozen && path(Stage::Stable) == path(Stage::Candidate)
            };
            upgraded.extend(tree.files().filter(done).map(|it| it.package().id));
        }
        let mut next = vec![None; tree.files().len()];
        let mut generated = FixedBitSet::with_capacity(next.len());
        let mut frozen = Vec::new();
        for package in upgraded {
            for file in tree.package(package).files().filter(|it| has_successor(policy, *it)) {
                match of(file) {
                    Standing::Active => {
                        let becomes = Next::of(settings, file, stage);
                        generated.set(file.id.0 as usize, becomes.is_some());
                        next[file.id.0 as usize] = becomes;
                    }
                    Standing::Frozen => frozen.push(file),
                    _ => {}
                }
            }
        }
        let successors = frozen_successors(tree, settings, stage, &frozen, &next);
        for (file, becomes) in frozen.iter().zip(successors) {
            next[file.id.0 as usize] = becomes;
        }
        let kept = FixedBitSet::with_capacity(next.len());
        if stage == Stage::Stable {
            for (before, after) in by_hand.replaced() {
                let becomes = |file: File<'_>| Next::stable(settings, file);
                replace(tree.package(before), tree.package(after), &mut next, becomes);
                tree.package(before).files().for_each(|it| generated.set(it.id.0 as usize, false));
            }
        }
        let is_candidate = |file: &File<'t>| of(*file) == Standing::Candidate;
        let candidates =
            tree.files().filter(is_candidate).map(|file| (place(file), file.id)).collect();
        let mut plan = UpgradePlan {
            tree,
            stage,
            candidates,
            policy,
            next,
            generated,
            kept,
            by_hand,
            looks_ahead: false,
            conflicts: Vec::new(),
            staying,
            resumed: interrupted.iter().map(|it| it.frozen).collect(),
        };
        if stage == Stage::Stable {
            let by_hand: Vec<PackageId> = plan.by_hand.packages().collect();
            for file in by_hand.into_iter().flat_map(|it| tree.package(it).files()) {
                plan.rises(file.id, Next::stable(settings, file));
            }
        }
        plan.yield_to_others(&standings, settings);
        Ok(plan)
    }

    /// Gives way to existing files that are not candidates: they were written by
    /// hand. That holds for the path of the candidate and for the path it gets in
    /// a release. Of two candidates with the same path in one root, the first is generated.
    fn yield_to_others(&mut self, standings: &Standings, settings: UpgradeSettings<'_>) {
        let written = |file: &File<'_>| standings.file(*file) != Standing::Candidate;
        let mut taken: BTreeMap<(u32, &str), (FileId, bool)> =
            self.tree.files().filter(written).map(|file| (place(file), (file.id, true))).collect();
        for (at, next) in self.next.iter().enumerate() {
            let Some(next) = next.as_ref().filter(|_| self.generated.contains(at)) else {
                continue;
            };
            let file = FileId(at as u32);
            let root = self.tree.file(file).decl().root;
            let released = Next::of(settings, self.tree.file(file), Stage::Stable)
                .filter(|_| !self.kept.contains(at));
            let there = released.as_ref().and_then(|it| taken.get(&(root, it.path.as_str())));
            let there = there.filter(|(_, exists)| *exists);
            match taken.get(&(root, next.path.as_str())).or(there) {
                Some((other, exists)) => {
                    // An interrupted release has already written some.
                    let resumed = self.stage == Stage::Stable
                        || self.candidates.contains_key(&(root, next.path.as_str()));
                    self.generated.set(at, *exists && resumed);
                    self.conflicts.push(Conflict { file, other: *other, exists: *exists });
                }
                None => drop(taken.insert((root, &next.path), (file, false))),
            }
        }
    }

    /// Redirects references into `file` to the successor of `source`.
    pub(crate) fn becomes_that_of(&mut self, file: FileId, source: FileId) {
        self.next[file.0 as usize] = self.next[source.0 as usize].clone();
        self.kept.insert(file.0 as usize);
    }

    /// Releases a file as it is.
    pub(crate) fn rises(&mut self, file: FileId, next: Option<Next>) {
        let at = file.0 as usize;
        self.generated.set(at, next.is_some());
        self.next[at] = next;
        self.kept.insert(at);
    }

    /// The next version of a file, if its package is upgraded.
    pub(crate) fn next(&self, file: FileId) -> Option<&Next> {
        self.next[file.0 as usize].as_ref()
    }

    /// Whether a candidate is generated from a file.
    pub(crate) fn generates(&self, file: FileId) -> bool {
        self.generated.contains(file.0 as usize)
    }

    /// The files whose candidates have no place, since what people wrote is there.
    pub(crate) fn displaced(&self) -> impl Iterator<Item = Conflict> + '_ {
        self.conflicts.iter().copied().filter(|it| it.exists)
    }

    /// The candidate in the tree at this path in the root of `file`.
    pub(crate) fn candidate(&self, file: File<'t>, path: &str) -> Option<File<'t>> {
        self.candidates.get(&(file.decl().root, path)).map(|id| self.tree.file(*id))
    }

    /// The full name of a type, or of a member of one, in the next version; `None`
    /// if it stays.
    pub(crate) fn next_name(&self, element: Element<'t>) -> Option<String> {
        let next = self.next(element.file().id)?;
        if self.is_replaced(element.file()) {
            return self.by_hand.successor(element).map(|it| self.name_after(it));
        }
        let mut names = vec![self.simple_name_after(element)];
        let mut parent = element.parent();
        while let Some(element) = parent {
            names.push(self.simple_name_after(element));
            parent = element.parent();
        }
        names.push(&next.package);
        names.retain(|name| !name.is_empty());
        names.reverse();
        Some(names.join("."))
    }

    /// Whether a file is released as it is, without migrations.
    pub(crate) fn keeps(&self, file: File<'t>) -> bool {
        self.kept.contains(file.id.0 as usize)
    }

    /// Redirects references to the versions that people maintain, before a release too.
    pub(crate) fn look_ahead(&mut self) {
        for (before, after) in self.by_hand.replaced() {
            let (before, after) = (self.tree.package(before), self.tree.package(after));
            replace(before, after, &mut self.next, |file| {
                let (package, path) = (file.package().full_name(), file.path().to_owned());
                Some(Next { package, path })
            });
        }
        self.looks_ahead = true;
    }

    /// Whether a package that people maintain replaces a file.
    pub(crate) fn is_replaced(&self, file: File<'t>) -> bool {
        let asks = self.stage == Stage::Stable || self.looks_ahead;
        asks && self.by_hand.after(file.package().id).is_some()
    }

    /// The name of an element in the next version.
    pub(crate) fn simple_name_after(&self, element: Element<'t>) -> &'t str {
        if self.is_replaced(element.file()) {
            return self.by_hand.successor(element).unwrap_or(element).name();
        }
        if self.keeps(element.file()) { element.name() } else { name_after(element) }
    }

    /// Whether the next version does not have an element.
    pub(crate) fn removed(&self, element: Element<'t>) -> bool {
        if self.is_replaced(element.file()) {
            return self.by_hand.successor(element).is_none();
        }
        !self.keeps(element.file()) && removed(element)
    }

    /// Whether the next version does not have an element or an enclosing one.
    pub(crate) fn gone(&self, element: Element<'t>) -> bool {
        if self.is_replaced(element.file()) {
            return self.by_hand.successor(element).is_none();
        }
        !self.keeps(element.file()) && gone(element)
    }

    /// The file that declares an element after the upgrade.
    pub(crate) fn file_after(&self, element: Element<'t>) -> File<'t> {
        let successor = || self.by_hand.successor(element);
        let successor = self.is_replaced(element.file()).then(successor).flatten();
        successor.unwrap_or(element).file()
    }

    /// The full name of a type after the upgrade.
    pub(crate) fn name_after(&self, element: Element<'t>) -> String {
        self.next_name(element).unwrap_or_else(|| element.full_name())
    }

    /// The path of a file after the upgrade.
    pub(crate) fn path_after(&self, file: File<'t>) -> &str {
        self.next(file.id).map_or(file.path(), |next| &next.path)
    }
}

/// Sets the files of a package that people maintain as the next version of those of
/// a stable one. What is imported is found by name; the path is that of a file with
/// the same base name, or else of the first file.
fn replace<'t>(
    before: Package<'t>,
    after: Package<'t>,
    next: &mut [Option<Next>],
    becomes: impl Fn(File<'t>) -> Option<Next>,
) {
    fn base<'t>(file: File<'t>) -> &'t str {
        file.path().rsplit('/').next().unwrap_or_default()
    }
    for file in before.files() {
        let same = after.files().find(|it| base(*it) == base(file));
        let same = same.or_else(|| after.files().next());
        next[file.id.0 as usize] = same.and_then(&becomes);
    }
}

/// What frozen files become: references to them follow to the version after theirs, where that is in
/// the tree with all that they declare, or is made.
fn frozen_successors<'t>(
    tree: &'t Tree,
    settings: UpgradeSettings<'_>,
    stage: Stage,
    frozen: &[File<'t>],
    next: &[Option<Next>],
) -> Vec<Option<Next>> {
    if frozen.is_empty() {
        return Vec::new();
    }
    let root = |id: FileId| tree.file(id).decl().root;
    let ids = (0..).map(FileId);
    let made = ids.zip(next).filter_map(|(id, it)| Some((root(id), it.as_ref()?.path.as_str())));
    let made: BTreeSet<(u32, &str)> = made.collect();
    let there: BTreeMap<(u32, &str), File<'t>> = tree.files().map(|it| (place(it), it)).collect();
    let becomes = |file: &File<'t>| {
        let declares_all = |other: &File<'t>| {
            let named: BTreeSet<String> = other.elements().map(Element::relative_name).collect();
            let types = file
                .elements()
                .filter(|it| matches!(it, Element::Message(_) | Element::Enum(_)) && !gone(*it));
            { types }.all(|it| named.contains(&it.relative_name()))
        };
        let is_there = |next: &Next| {
            let at = (file.decl().root, next.path.as_str());
            made.contains(&at) || there.get(&at).is_some_and(declares_all)
        };
        let next = |stage| Next::of(settings, *file, stage).filter(is_there);
        // What is released comes before a candidate that it left behind.
        next(Stage::Stable).or_else(|| next(stage))
    };
    frozen.iter().map(becomes).collect()
}

/// The packages that the user asks for, if any; refuses those that cannot be
/// upgraded.
fn wanted<'o>(
    tree: &Tree,
    standings: &Standings,
    packages: &'o [String],
) -> Result<Option<BTreeSet<&'o str>>, Refusal> {
    for name in packages {
        let Some(package) = tree.package_named(name).filter(|it| it.is_judged()) else {
            return Err(Refusal::Unknown(name.clone()));
        };
        let is = |wanted: Standing| package.files().any(|it| standings.file(it) == wanted);
        if is(Standing::Candidate) {
            return Err(Refusal::Candidate(name.clone()));
        }
        if !is(Standing::Active) {
            return Err(match (is(Standing::Frozen), package.version()) {
                (true, _) => Refusal::Frozen(name.clone()),
                (false, Some(_)) => Refusal::Unstable(name.clone()),
                (false, None) => Refusal::Unversioned(name.clone()),
            });
        }
    }
    Ok((!packages.is_empty()).then(|| packages.iter().map(String::as_str).collect()))
}

/// Where a file is. Each root is a world of its own, so two may have one path.
fn place(file: File<'_>) -> (u32, &str) {
    (file.decl().root, file.path())
}
