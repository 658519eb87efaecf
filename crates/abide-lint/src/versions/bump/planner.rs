//! From what changed to a version for each package.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use abide_change::Sides;
use abide_hash::{Hashes, SemanticHash, TreeHashes};
use abide_schema::{Package, PackageVersion, Stability, Tree, format_api_name};
use abide_upgrade::{FileRole, FileRoles, find_candidate_packages};
use jiff::civil::Date;
use semver::Version;

use super::super::records::record_merge;
use super::annotation::Annotated;
use super::changes::collect_renames;
use super::package_changes::{KnownBumps, PackageChanges};
use super::{
    BumpReason, PackagePlan, Plan, PlanVerdict, ReleasedState, annotation, changes, dependency_bump,
};
use crate::calendar::semantic_version;
use crate::exceptions::SecurityFixes;
use crate::finding::{Bump, Finding, Severity};
use crate::lifecycle::{self, PackageDays, stable_major};
use crate::lock::{Freeze, Lock, PackagePast, Record, Records, VersionIn};
use crate::policy::Policy;
use crate::rules::EARLY_MAJOR;

/// The version that each package needs since a release. `blocking` are the
/// findings about majors that rise when none may, and about changes of frozen
/// packages.
pub(crate) fn plan_since(
    tree: &Tree,
    policy: &Policy,
    (records, as_of): (Records<'_>, Date),
    released: Option<ReleasedState<'_>>,
    blocking: &[Finding],
) -> Plan {
    let new = TreeHashes::of(tree);
    let sides = released.as_ref().map(|it| Sides::of(it.tree, tree));
    let old = sides.as_ref().map(|it| TreeHashes::of(it.old_tree()));
    let reduced = sides.as_ref().filter(|it| it.are_reduced());
    let compared = reduced.map(|it| TreeHashes::of(it.new_tree()));
    let fixes = SecurityFixes::of(tree, released.as_ref().map(|it| it.tree), policy);
    let changes = released
        .as_ref()
        .map_or_else(BTreeMap::new, |released| changes::collect_by_package(tree, released, &fixes));
    let planner =
        Planner { tree, policy, records, as_of, new, old, compared, released, changes, blocking };
    planner.compute_plan()
}

struct Planner<'a> {
    tree: &'a Tree,
    policy: &'a Policy,
    records: Records<'a>,
    /// The day, which is recorded for what is new.
    as_of: Date,
    new: TreeHashes,
    old: Option<TreeHashes>,
    /// The new tree as the release can know it, if that is less than there is.
    compared: Option<TreeHashes>,
    released: Option<ReleasedState<'a>>,
    changes: BTreeMap<String, PackageChanges>,
    /// Findings that keep a version from being recorded.
    blocking: &'a [Finding],
}

impl Planner<'_> {
    fn compute_plan(mut self) -> Plan {
        let judged: Vec<Package<'_>> = self.tree.packages().filter(|it| it.is_judged()).collect();
        let names: BTreeSet<&str> = judged.iter().map(|it| it.name()).collect();
        let breaking = &self.policy.breaking;
        let mut lock = self.records.lock.cloned().unwrap_or_default();
        lock.resolve();
        let mut rewritten = Vec::new();
        let mut packages = Vec::new();
        for package in &judged {
            let annotated = Annotated::of(*package, &self.new);
            let plan = self.plan_package(*package, &annotated);
            if let (Some(to), Some(hashes)) = (&plan.to, self.new.package(package.name())) {
                let in_lock = self.records.version_in == VersionIn::Lock;
                let record = Record { version: to.clone(), hashes };
                lock.set_record(package.name(), in_lock.then_some(record));
                if let Some(released) = self.records.released {
                    lock.remember(released, package.name(), breaking);
                }
                for renamed in self.renames(package.name()) {
                    lock.carry(renamed, breaking);
                }
                lock.set_uses(self.tree, package.name(), breaking);
                self.record_days(*package, &plan, hashes.own, &mut lock);
                if !in_lock {
                    let was = self.records.lock.and_then(|it| it.introduced(package.name()));
                    rewritten.extend(annotated.rewritten(to, &lock, was));
                }
            }
            packages.push(plan);
        }
        let earlier = [self.records.released, self.records.earlier].into_iter().flatten();
        let mut forgotten = BTreeSet::new();
        for earlier in earlier {
            let own = self.records.lock.into_iter();
            forgotten.extend(own.flat_map(|it| it.forgotten(earlier, breaking)));
            let is_apart = |it: &&str| !names.contains(it) || self.records.earlier.is_some();
            let absent = earlier.known_packages().filter(is_apart);
            absent.for_each(|name| lock.remember(earlier, name, breaking));
        }
        for name in self.find_removed_packages(&names) {
            let plan = self.plan_removed_package(&name);
            if plan.verdict == PlanVerdict::Unrecorded {
                lock.set_gone(&name, breaking);
            }
            packages.push(plan);
        }
        self.name_candidates(&mut packages);
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        rewritten.sort_by(|a, b| a.path.cmp(&b.path));
        record_merge(&mut lock, self.tree, self.policy);
        let is_lock_stale = *self.records.lock.unwrap_or(&Lock::default()) != lock;
        let forgotten = forgotten.into_iter().collect();
        Plan { packages, lock, rewritten, is_lock_stale, forgotten }
    }

    /// Says where breaks go that are refused; those of a package that is gone, by
    /// what it was.
    fn name_candidates(&self, packages: &mut [PackagePlan]) {
        let trees = [Some(self.tree), self.released.as_ref().map(|it| it.tree)];
        let trees: Vec<_> = trees
            .into_iter()
            .flatten()
            .map(|tree| (tree, LazyCell::new(|| FileRoles::from_tree(tree, &self.policy.upgrade))))
            .collect();
        for plan in packages.iter_mut().filter(|it| it.verdict == PlanVerdict::Refused) {
            let found = trees.iter().find_map(|(tree, standings)| {
                let package = tree.package_named(&plan.name).filter(|it| it.is_judged())?;
                // A frozen package is in no candidate: it can only come back.
                let is_frozen = package.files().any(|it| standings.get(it) == FileRole::Frozen);
                if plan.hash_new.is_none() && is_frozen {
                    return Some(BTreeSet::new());
                }
                Some(find_candidate_packages(&self.policy.upgrade, standings, package))
            });
            plan.candidates = found.unwrap_or_default();
        }
    }

    fn plan_package(&mut self, package: Package<'_>, annotated: &Annotated<'_>) -> PackagePlan {
        let name = package.name();
        let hashes = self.new.package(name);
        let record = self.records.lock.and_then(|it| it.record(name));
        let in_lock = record.map(|it| it.version.clone());
        // Moving versions to another place does not restart them.
        let recorded = annotated.version().max(in_lock.clone());
        let in_lock = (in_lock, record.map(|it| it.hashes) == hashes);
        let in_option = (annotated.version(), annotated.agrees());
        let ((here, agrees), (_, elsewhere)) = match self.records.version_in {
            VersionIn::Lock => (in_lock, in_option),
            VersionIn::Option => (in_option, in_lock),
        };
        let is_known = agrees || here.is_none() && elsewhere;
        let before = self.old.as_ref().and_then(|it| it.package(name));
        let known = || if is_known { hashes } else { record.map(|it| it.hashes) };
        let mut plan = PackagePlan {
            name: name.to_owned(),
            from: recorded.clone(),
            recorded: recorded.clone(),
            required: Bump::None,
            to: None,
            hash_old: before.or_else(known).map(|it| it.closure),
            hash_new: hashes.map(|it| it.closure),
            reasons: Vec::new(),
            catches_up: false,
            waits_for: None,
            verdict: PlanVerdict::Unrecorded,
            candidates: BTreeSet::new(),
        };
        if let Some(first) = self.find_blocking(name) {
            let is_early = first.rule == EARLY_MAJOR.id;
            plan.verdict = if is_early { PlanVerdict::Early } else { PlanVerdict::Frozen };
            plan.required = Bump::Major;
            plan.reasons.push(BumpReason {
                rule: Some(first.rule),
                element: first.element.clone(),
                bump: Bump::Major,
                message: first.message.clone(),
                via: Vec::new(),
                waived: false,
            });
            return plan;
        }
        if self.released.is_some() {
            plan.from = self.find_released_version(name, record);
            if plan.from.is_some() || before.is_some() {
                self.apply_required_bump(package, &mut plan);
                self.require_undescribed(name, &mut plan);
            }
            if plan.required == Bump::Major {
                plan.verdict = PlanVerdict::Refused;
                return plan;
            }
            if plan.waits_for.is_some() {
                plan.verdict = PlanVerdict::Waiting;
                return plan;
            }
        } else if !is_known && recorded.is_some() {
            // A pre-release counts up for every change, so it needs no release.
            if recorded.as_ref().is_none_or(|it| it.pre.is_empty()) {
                plan.verdict = PlanVerdict::Unknown;
                return plan;
            }
            plan.required = Bump::Minor;
        }
        let needed = match (&plan.from, &recorded) {
            (Some(from), _) => semantic_version::next(from, plan.required),
            // The release was not recorded, but its patch number shows that there was one.
            (None, Some(counted)) if counted.patch > 0 && plan.required == Bump::Minor => {
                semantic_version::next(counted, Bump::Minor)
            }
            (None, _) => self.compute_first_version(name, hashes),
        };
        // The recorded version may already be higher; a version never decreases.
        let to = match &recorded {
            Some(recorded) if *recorded > needed => recorded.clone(),
            _ => needed,
        };
        if agrees && here.as_ref() == Some(&to) {
            plan.verdict = PlanVerdict::Recorded;
        }
        plan.to = Some(to);
        plan
    }

    /// The version of a package that none is recorded of: the one that the history counts,
    /// which changes since the last commit raise.
    fn compute_first_version(&self, name: &str, now: Option<Hashes>) -> Version {
        let past = self.records.history.and_then(|it| it.get(name)?.last.as_ref());
        match past.filter(|(version, _)| semantic_version::fits(version, name)) {
            Some((version, then)) if Some(*then) == now => version.clone(),
            Some((version, _)) => semantic_version::next(version, Bump::Minor),
            None => semantic_version::first(name),
        }
    }

    /// The finding that keeps a version of a package from being recorded.
    fn find_blocking(&self, package: &str) -> Option<&Finding> {
        let blocks = |it: &&Finding| it.package == package && it.severity == Severity::Error;
        self.blocking.iter().find(blocks)
    }

    /// Records the days of a package that is new, and of one that is newly frozen.
    /// What was there before has none, unless the history knows them. A day that
    /// was written by hand is left as it is.
    fn record_days(
        &self,
        package: Package<'_>,
        plan: &PackagePlan,
        own: SemanticHash,
        lock: &mut Lock,
    ) {
        let (name, calendar) = (package.name(), &self.policy.calendar);
        let days = PackageDays { calendar, lock: self.records.lock };
        let released = self.released.as_ref().and_then(|it| it.tree.package_named(name));
        let was_there = plan.recorded.is_some() || released.is_some();
        let (is_frozen, by_hand) = (days.is_frozen(package), days.by_hand(package));
        if package.version().is_none() {
            return;
        }
        let first = self.records.history.and_then(|it| it.get(name)).map(|it| it.first);
        let is_new = !was_there && !is_frozen && lock.introduced(name).is_none();
        let introduced = first.or(is_new.then_some(self.as_of)).filter(|_| by_hand.is_none());
        introduced.into_iter().for_each(|day| lock.introduce(name, day));
        let was_live = released.is_some_and(|it| !lifecycle::is_frozen(it));
        let superseded = self.records.history.and_then(|it| find_superseding_day(package, it));
        let frozen = superseded.or(was_live.then_some(self.as_of));
        if let Some(day) = frozen.filter(|_| is_frozen && days.frozen(package).is_none()) {
            lock.freeze(name, Freeze { day, own });
        }
    }

    /// The version of a package at the last release: as recorded there, or else
    /// as recorded here for the same meaning.
    fn find_released_version(&self, name: &str, record: Option<&Record>) -> Option<Version> {
        let released = self.released.as_ref()?;
        let in_lock = self.records.released.and_then(|it| it.record(name));
        let in_lock = in_lock.map(|it| it.version.clone());
        let package = released.tree.package_named(name);
        let in_option = package.and_then(annotation::version_of);
        let before = self.old.as_ref().and_then(|it| it.package(name));
        let as_it_was = record.filter(|it| Some(it.hashes) == before);
        in_lock.max(in_option).or_else(|| as_it_was.map(|it| it.version.clone()))
    }

    /// Sets the bump that a package needs, and the reasons.
    fn apply_required_bump(&self, package: Package<'_>, plan: &mut PackagePlan) {
        let name = package.name();
        let Some(old) = &self.old else { return };
        let new = self.compared.as_ref().unwrap_or(&self.new);
        let (before, after) = (old.package(name), new.package(name));
        // A change may be a break even if the meaning is equal, such as a move to another file.
        let changes = self.changes.get(name);
        plan.reasons = changes.into_iter().flat_map(PackageChanges::reasons).cloned().collect();
        if plan.reasons.is_empty() && before.map(|it| it.own) != after.map(|it| it.own) {
            plan.reasons.push(BumpReason::unnamed(name.to_owned(), Bump::Minor));
        }
        if before.map(|it| it.closure) != after.map(|it| it.closure) {
            plan.catches_up = plan.reasons.is_empty();
            self.apply_dependency_bumps(package, (old, new), plan);
        }
        plan.reasons.sort_by_key(|it| Reverse(it.bump));
        plan.required = plan.reasons.iter().map(|it| it.bump).max().unwrap_or_default();
    }

    /// Adds the changed types of other packages that it depends on.
    fn apply_dependency_bumps(
        &self,
        package: Package<'_>,
        (old, new): (&TreeHashes, &TreeHashes),
        plan: &mut PackagePlan,
    ) {
        let bump_of = |package: &str, ty: &str| {
            let own = self.changes.get(package).and_then(|it| KnownBumps::of(it).within(ty));
            // Undoing the change of a frozen package changes this one again.
            let is_blocked =
                self.find_blocking(package).is_some_and(|it| it.rule != EARLY_MAJOR.id);
            if is_blocked { Bump::Major } else { own.unwrap_or(Bump::Minor) }
        };
        for way in dependency_bump::to_changed_types(package, old, new, &bump_of) {
            if way.bump == Bump::Major {
                plan.waits_for = Some(way.package);
            }
            plan.reasons.push(BumpReason {
                rule: None,
                element: way.steps.last().cloned().unwrap_or_default(),
                bump: way.bump.min(Bump::Minor),
                message: "it depends on this type, whose meaning changed".to_owned(),
                via: way.steps,
                waived: false,
            });
        }
    }

    /// Requires another version if the release differs from what was recorded as
    /// its version: nobody knows which of the two its users have.
    fn require_undescribed(&self, name: &str, plan: &mut PackagePlan) {
        let Some(record) = self.records.released.and_then(|it| it.record(name)) else { return };
        let tree = |it: &TreeHashes| it.package(name).map(|it| it.closure);
        let recorded = Some(record.hashes.closure);
        if recorded == self.old.as_ref().and_then(tree) || recorded == tree(&self.new) {
            return;
        }
        plan.reasons.push(BumpReason {
            rule: None,
            element: name.to_owned(),
            bump: Bump::Minor,
            message: format!("the release differs from what was recorded as {}", record.version),
            via: Vec::new(),
            waived: false,
        });
        plan.required = plan.required.max(Bump::Minor);
    }

    fn renames(&self, package: &str) -> impl Iterator<Item = [&str; 3]> {
        let found = self.released.iter().flat_map(|it| [it.changes, it.spared]);
        found.flat_map(collect_renames).filter(move |[of, ..]| *of == package)
    }

    /// The packages that are recorded, or were released, but are not in the tree.
    fn find_removed_packages(&self, names: &BTreeSet<&str>) -> BTreeSet<String> {
        let recorded = self.records.lock.into_iter().flat_map(Lock::packages);
        let trees = self.released.iter().map(|it| it.tree);
        let released = trees.flat_map(|it| it.packages().filter(|it| it.is_judged()));
        let all = recorded.chain(released.map(|it| it.name()));
        all.filter(|name| !names.contains(name)).map(str::to_owned).collect()
    }

    fn plan_removed_package(&self, name: &str) -> PackagePlan {
        let changes = self.changes.get(name);
        let refused = changes.is_some_and(PackageChanges::broke);
        let is_recorded = self.records.lock.is_none_or(|it| it.packages().all(|it| it != name));
        let record = self.records.lock.and_then(|it| it.record(name));
        PackagePlan {
            name: name.to_owned(),
            from: record.map(|it| it.version.clone()),
            recorded: record.map(|it| it.version.clone()),
            required: if refused { Bump::Major } else { Bump::None },
            to: None,
            hash_old: record.map(|it| it.hashes.closure),
            hash_new: None,
            reasons: changes.into_iter().flat_map(PackageChanges::reasons).cloned().collect(),
            catches_up: false,
            waits_for: None,
            verdict: match (refused, is_recorded) {
                (true, _) => PlanVerdict::Refused,
                (false, true) => PlanVerdict::Recorded,
                (false, false) => PlanVerdict::Unrecorded,
            },
            candidates: BTreeSet::new(),
        }
    }
}

/// The day on which a later major version of the API was stable first.
fn find_superseding_day(
    package: Package<'_>,
    history: &BTreeMap<String, PackagePast>,
) -> Option<Date> {
    let (api, major) = (format_api_name(package.name())?, stable_major(package)?);
    let later = history.iter().filter(|(name, _)| {
        let version = PackageVersion::from_package(name);
        let is_later =
            version.is_some_and(|it| it.stability == Stability::Stable && it.major > major);
        is_later && format_api_name(name).as_ref() == Some(&api)
    });
    later.map(|(_, past)| past.first).min()
}
