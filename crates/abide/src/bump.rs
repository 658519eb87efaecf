//! The version that each package needs, from what changed since the last
//! release.
//!
//! Hashes tell whether the meaning of a package changed, the rules about
//! changes tell how far its version rises. A package whose own meaning is as it
//! was, while that of a type it reaches is not, rises merely to catch up.

mod annotation;
mod security;
pub(crate) mod version;
mod way;

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{Element, Package, PackageVersion, Stability, Tree};
use semver::Version;

use crate::accepted::Accepted;
use crate::check::{Options, Report, early_majors, since_release};
use crate::config::VersionIn;
use crate::finding::{Finding, Location, Severity};
use crate::hash::{SemanticHash, TreeHashes};
use crate::lock::{Lock, Record};
use crate::policy::Policy;
use crate::rule::package_place;
use crate::surface::Bump;

use annotation::Annotated;
pub use annotation::STATUS_PROTO;
pub(crate) use annotation::record_edits;
use security::SecurityFixes;
pub(crate) use security::{SECURITY_MARKER, gives_reason};
pub use version::{first as first_version, next as next_version};

/// The rule whose findings tell that a version is not recorded.
pub(crate) const RULE: &str = "version-not-bumped";

/// What is recorded of versions, and where.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records<'a> {
    /// Where versions are recorded.
    pub version_in: VersionIn,
    /// What `abide.lock` holds, where there is one.
    pub lock: Option<&'a Lock>,
    /// What it held at the last release.
    pub released: Option<&'a Lock>,
}

impl Records<'_> {
    /// Whether anything is recorded at all.
    pub(crate) fn exist(&self, tree: &Tree) -> bool {
        let in_options = || {
            let mut files = tree.files().filter(|it| it.is_judged());
            files.any(|file| file.released_version().is_some())
        };
        self.lock.is_some() || self.version_in == VersionIn::Option && in_options()
    }
}

/// The versions that the packages of a tree need.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One for each judged package, in the order of names, and for each that is
    /// gone.
    pub packages: Vec<PackagePlan>,
    /// What `abide.lock` holds when all is recorded that can be.
    pub lock: Lock,
    /// The files that change where versions are recorded in options, in the
    /// order of paths.
    pub rewritten: Vec<Rewritten>,
    /// Whether `abide.lock` must be written.
    pub is_lock_stale: bool,
}

/// The version that one package needs, and why.
#[derive(Clone, Debug)]
pub struct PackagePlan {
    /// The name of the package.
    pub name: String,
    /// The version at the last release; without one, the recorded version.
    pub from: Option<Version>,
    /// The version as recorded now.
    pub recorded: Option<Version>,
    /// How far the version must rise from that of the release.
    pub required: Bump,
    /// The version that it needs; none where nobody can tell, and where a break
    /// has no place in this package or in one that it waits for.
    pub to: Option<Version>,
    /// The closure hash at the last release; without one, as recorded.
    pub hash_old: Option<SemanticHash>,
    /// The closure hash of the tree; none for a package that is gone.
    pub hash_new: Option<SemanticHash>,
    /// Why, the highest bump first.
    pub reasons: Vec<Reason>,
    /// Whether its own meaning is as it was, and only that of what it uses
    /// changed.
    pub catches_up: bool,
    /// The package whose refused break it reaches.
    pub waits_for: Option<String>,
    /// What follows for the recorded version.
    pub verdict: Verdict,
}

/// Why a version must rise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The rule that found a change; none where a hash alone tells.
    pub rule: Option<&'static str>,
    /// The full name of the element that changed.
    pub element: String,
    /// How far the version must rise for it.
    pub bump: Bump,
    /// What changed.
    pub message: String,
    /// From an element of the package to the type that changed, the shortest
    /// way; empty for a change of the package itself.
    pub via: Vec<String>,
    /// Whether it is a break that would be refused, but for a waiver or
    /// `abide.accepted`.
    pub waived: bool,
}

/// What follows for the recorded version of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What is recorded is what is needed.
    Recorded,
    /// Version or hash is yet to be recorded.
    Unrecorded,
    /// A break in a package that promised none: no version may hold it.
    Refused,
    /// A new major at a time when majors may not rise.
    Early,
    /// It reaches a break that is refused: what it means when that is undone is
    /// not what it means now, so nothing is recorded.
    Waiting,
    /// It changed, and without the last release nobody can tell how far.
    Unknown,
}

impl Verdict {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Recorded => "recorded",
            Verdict::Unrecorded => "unrecorded",
            Verdict::Refused => "refused",
            Verdict::Early => "early",
            Verdict::Waiting => "waiting",
            Verdict::Unknown => "unknown",
        }
    }
}

/// A file that is to hold another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The file, as reports call it.
    pub path: String,
    /// What it holds then.
    pub text: Vec<u8>,
}

impl Plan {
    /// How many packages have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.packages.iter().filter(|it| it.verdict == verdict).count()
    }

    /// Whether everything that can be recorded is.
    pub fn is_recorded(&self) -> bool {
        !self.is_lock_stale && self.rewritten.is_empty() && self.count(Verdict::Unrecorded) == 0
    }

    /// The highest bump that any package needs.
    pub fn required_bump(&self) -> Bump {
        self.packages.iter().map(|it| it.required).max().unwrap_or_default()
    }
}

impl PackagePlan {
    /// The package in which the next major version is prepared, where there is
    /// one: `acme.v4alpha` for `acme.v3`.
    pub fn candidate(&self) -> Option<String> {
        let version = PackageVersion::of_package(&self.name)?;
        let next = format!("v{}alpha", version.major.saturating_add(1));
        let mut components: Vec<&str> = self.name.split('.').collect();
        *components.get_mut(version.position)? = &next;
        Some(components.join("."))
    }
}

/// The version that each package of a tree needs since the last release,
/// which is the baseline of the bump, else the baseline. Without either only
/// the agreement of tree and record is told.
pub fn plan<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Plan {
    let released = options.bump_baseline.or(options.baseline);
    let since = released.map(|old| (old, since_release(tree, policy, options, old)));
    let early = released.map(|old| early_majors(tree, policy, options, old)).unwrap_or_default();
    let released = since.as_ref().map(|(old, since)| Released {
        tree: old,
        changes: &since.findings,
        spared: &since.spared,
    });
    plan_since(tree, policy, options, released, &early)
}

/// The last release, and what changed since.
pub(crate) struct Released<'a> {
    pub(crate) tree: &'a Tree,
    /// What the rules found, with the severities of the policy.
    pub(crate) changes: &'a [Finding],
    /// What they found and a waiver took away.
    pub(crate) spared: &'a [Finding],
}

pub(crate) fn plan_since(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    released: Option<Released<'_>>,
    early: &[Finding],
) -> Plan {
    let records = options.records.unwrap_or_default();
    let new = TreeHashes::of(tree);
    let old = released.as_ref().map(|it| TreeHashes::of(it.tree));
    let fixes = SecurityFixes::of(tree, released.as_ref().map(|it| it.tree), policy);
    let changes = released.as_ref().map_or_else(BTreeMap::new, |released| {
        changes_by_package(released, options.accepted, &fixes)
    });
    let planner = Planner { tree, records, new, old, released, changes, early };
    planner.plan()
}

/// What changed in one package itself.
#[derive(Default)]
struct Changes {
    reasons: Vec<Reason>,
    /// Whether something broke that no waiver allows.
    broke: bool,
}

fn changes_by_package(
    released: &Released<'_>,
    accepted: Option<&Accepted>,
    fixes: &SecurityFixes<'_>,
) -> BTreeMap<String, Changes> {
    let mut packages: BTreeMap<String, Changes> = BTreeMap::new();
    for (finding, spared) in all_changes(released.changes, released.spared, accepted) {
        let bump = rise(finding, spared, fixes);
        if bump == Bump::None {
            continue;
        }
        let of_package = packages.entry(finding.package.clone()).or_default();
        of_package.broke |= bump == Bump::Major;
        of_package.reasons.push(Reason {
            rule: Some(finding.rule),
            element: finding.element.clone(),
            bump,
            message: finding.message.clone(),
            via: Vec::new(),
            waived: spared && rise(finding, false, fixes) == Bump::Major,
        });
    }
    for changes in packages.values_mut() {
        let key = |it: &Reason| (std::cmp::Reverse(it.bump), it.element.clone(), it.rule);
        changes.reasons.sort_by_cached_key(key);
        changes.reasons.dedup();
    }
    packages
}

/// The changes among findings, each with whether a waiver or `abide.accepted`
/// spares it.
fn all_changes<'f>(
    findings: &'f [Finding],
    spared: &'f [Finding],
    accepted: Option<&'f Accepted>,
) -> impl Iterator<Item = (&'f Finding, bool)> {
    let stand = findings.iter().map(move |it| (it, accepted.is_some_and(|all| all.holds(it))));
    let all = stand.chain(spared.iter().map(|it| (it, true)));
    all.filter(|(it, _)| it.change.is_some())
}

/// How far a change lets its package rise, where it is spared by a waiver or
/// not: major where it is refused.
fn rise(finding: &Finding, spared: bool, fixes: &SecurityFixes<'_>) -> Bump {
    let Some(change) = &finding.change else { return Bump::None };
    let broke = change.bump == Bump::Major && is_stable(&finding.package);
    if broke && !spared && finding.severity == Severity::Error {
        return Bump::Major;
    }
    // A major version rises by a new package alone.
    match change.bump.min(Bump::Minor) {
        Bump::Minor if fixes.covers(finding) => Bump::Patch,
        bump => bump,
    }
}

/// The changes that a report holds, those that a waiver took away behind the
/// others, each with how far its package must rise for it: major where it is
/// refused.
pub fn rises<'r>(
    tree: &Tree,
    old: &Tree,
    policy: &Policy,
    report: &'r Report,
) -> Vec<(&'r Finding, Bump)> {
    let fixes = SecurityFixes::of(tree, Some(old), policy);
    let changes = all_changes(&report.findings, &report.spared, None);
    changes.map(|(it, spared)| (it, rise(it, spared, &fixes))).collect()
}

/// How far any package must rise for these findings and for those that a waiver
/// took away, major where one is refused; and whether it would be, but for a
/// waiver or `abide.accepted`.
pub(crate) fn required(
    tree: &Tree,
    old: &Tree,
    policy: &Policy,
    accepted: Option<&Accepted>,
    [findings, spared]: [&[Finding]; 2],
) -> (Bump, bool) {
    let fixes = SecurityFixes::of(tree, Some(old), policy);
    all_changes(findings, spared, accepted).fold(
        (Bump::None, false),
        |(bump, any), (it, spared)| {
            let would = || rise(it, false, &fixes) == Bump::Major;
            (bump.max(rise(it, spared, &fixes)), any || spared && would())
        },
    )
}

/// Whether a package promised that nothing breaks. One without a version did,
/// for it has nowhere else to go.
fn is_stable(package: &str) -> bool {
    let version = PackageVersion::of_package(package);
    version.is_none_or(|it| it.stability == Stability::Stable)
}

struct Planner<'a> {
    tree: &'a Tree,
    records: Records<'a>,
    new: TreeHashes,
    old: Option<TreeHashes>,
    released: Option<Released<'a>>,
    changes: BTreeMap<String, Changes>,
    /// The majors that rise when none may.
    early: &'a [Finding],
}

impl Planner<'_> {
    fn plan(mut self) -> Plan {
        let judged: Vec<Package<'_>> = self.tree.packages().filter(|it| it.is_judged()).collect();
        let names: BTreeSet<&str> = judged.iter().map(|it| it.name()).collect();
        let mut lock = self.records.lock.cloned().unwrap_or_default();
        lock.resolve();
        let mut rewritten = Vec::new();
        let mut packages = Vec::new();
        for package in &judged {
            let annotated = Annotated::of(*package, &self.new);
            let plan = self.package(*package, &annotated);
            if let (Some(to), Some(hashes)) = (&plan.to, self.new.package(package.name())) {
                let in_lock = self.records.version_in == VersionIn::Lock;
                let record = Record { version: to.clone(), hashes };
                lock.set_record(package.name(), in_lock.then_some(record));
                if let Some(released) = self.records.released {
                    lock.remember(released, package.name());
                }
                lock.set_uses(self.tree, package.name());
                if !in_lock {
                    rewritten.extend(annotated.rewritten(to));
                }
            }
            packages.push(plan);
        }
        if let Some(released) = self.records.released {
            let absent = released.known_packages().filter(|it| !names.contains(it));
            absent.for_each(|name| lock.remember(released, name));
        }
        for name in self.gone(&names) {
            let plan = self.gone_package(&name);
            if plan.verdict == Verdict::Unrecorded {
                lock.set_gone(&name);
            }
            packages.push(plan);
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        rewritten.sort_by(|a, b| a.path.cmp(&b.path));
        let is_lock_stale = *self.records.lock.unwrap_or(&Lock::default()) != lock;
        Plan { packages, lock, rewritten, is_lock_stale }
    }

    fn package(&mut self, package: Package<'_>, annotated: &Annotated<'_>) -> PackagePlan {
        let name = package.name();
        let hashes = self.new.package(name);
        let record = self.records.lock.and_then(|it| it.record(name));
        let in_lock = record.map(|it| it.version.clone());
        // Whoever moves versions to another place does not begin anew.
        let recorded = annotated.version().max(in_lock.clone());
        let (here, agrees) = match self.records.version_in {
            VersionIn::Lock => (in_lock, record.map(|it| it.hashes) == hashes),
            VersionIn::Option => (annotated.version(), annotated.agrees()),
        };
        let before = self.old.as_ref().and_then(|it| it.package(name));
        let mut plan = PackagePlan {
            name: name.to_owned(),
            from: recorded.clone(),
            recorded: recorded.clone(),
            required: Bump::None,
            to: None,
            hash_old: before.or_else(|| record.map(|it| it.hashes)).map(|it| it.closure),
            hash_new: hashes.map(|it| it.closure),
            reasons: Vec::new(),
            catches_up: false,
            waits_for: None,
            verdict: Verdict::Unrecorded,
        };
        let is_early = |it: &&Finding| it.package == name && it.severity == Severity::Error;
        if let Some(early) = self.early.iter().find(is_early) {
            plan.verdict = Verdict::Early;
            plan.required = Bump::Major;
            plan.reasons.push(Reason {
                rule: Some(early.rule),
                element: early.element.clone(),
                bump: Bump::Major,
                message: early.message.clone(),
                via: Vec::new(),
                waived: false,
            });
            return plan;
        }
        if self.released.is_some() {
            plan.from = self.released_version(name, record);
            if plan.from.is_some() || before.is_some() {
                self.require(package, &mut plan);
                self.mistrust(name, &mut plan);
            }
            if plan.required == Bump::Major {
                plan.verdict = Verdict::Refused;
                return plan;
            }
            if plan.waits_for.is_some() {
                plan.verdict = Verdict::Waiting;
                return plan;
            }
        } else if !agrees && recorded.is_some() {
            // What counts on for every change needs no release to count from.
            if recorded.as_ref().is_none_or(|it| it.pre.is_empty()) {
                plan.verdict = Verdict::Unknown;
                return plan;
            }
            plan.required = Bump::Minor;
        }
        let needed = match &plan.from {
            Some(from) => version::next(from, plan.required),
            None => version::first(name),
        };
        // What is recorded already may be ahead; no version ever falls.
        let to = match &recorded {
            Some(recorded) if *recorded > needed => recorded.clone(),
            _ => needed,
        };
        if agrees && here.as_ref() == Some(&to) {
            plan.verdict = Verdict::Recorded;
        }
        plan.to = Some(to);
        plan
    }

    /// The version of a package at the last release: as recorded there, else
    /// as recorded here for the same meaning.
    fn released_version(&self, name: &str, record: Option<&Record>) -> Option<Version> {
        let released = self.released.as_ref()?;
        let in_lock = self.records.released.and_then(|it| it.record(name));
        let in_lock = in_lock.map(|it| it.version.clone());
        let package = released.tree.package_named(name);
        let in_option = package.and_then(annotation::version_of);
        let before = self.old.as_ref().and_then(|it| it.package(name));
        let as_it_was = record.filter(|it| Some(it.hashes) == before);
        in_lock.max(in_option).or_else(|| as_it_was.map(|it| it.version.clone()))
    }

    /// How far a package must rise, and why.
    fn require(&mut self, package: Package<'_>, plan: &mut PackagePlan) {
        let name = package.name();
        let Some(old) = &self.old else { return };
        let (before, after) = (old.package(name), self.new.package(name));
        if before.map(|it| it.closure) == after.map(|it| it.closure) {
            return;
        }
        plan.catches_up = before.map(|it| it.own) == after.map(|it| it.own);
        if !plan.catches_up {
            let changes = self.changes.get(name);
            plan.reasons = changes.map(|it| it.reasons.clone()).unwrap_or_default();
            plan.reasons.extend(self.unnamed(package, &plan.reasons));
        }
        for way in way::to_changed_types(package, old, &self.new) {
            let changes = self.changes.get(&way.package);
            if changes.is_some_and(|it| it.broke) {
                plan.waits_for = Some(way.package.clone());
            }
            let bump = changes.and_then(|it| {
                let bumps = it.reasons.iter().map(|reason| reason.bump.min(Bump::Minor));
                bumps.max()
            });
            plan.reasons.push(Reason {
                rule: None,
                element: way.steps.last().cloned().unwrap_or_default(),
                bump: bump.unwrap_or(Bump::Minor),
                message: "it reaches this type, whose meaning changed".to_owned(),
                via: way.steps,
                waived: false,
            });
        }
        plan.required = plan.reasons.iter().map(|it| it.bump).max().unwrap_or(Bump::Minor);
    }

    /// Asks for another version where the release was not what was recorded as
    /// its version: nobody knows which of the two its users have.
    fn mistrust(&self, name: &str, plan: &mut PackagePlan) {
        let Some(record) = self.records.released.and_then(|it| it.record(name)) else { return };
        let tree = |it: &TreeHashes| it.package(name).map(|it| it.closure);
        let recorded = Some(record.hashes.closure);
        if recorded == self.old.as_ref().and_then(tree) || recorded == tree(&self.new) {
            return;
        }
        plan.reasons.push(Reason {
            rule: None,
            element: name.to_owned(),
            bump: Bump::Minor,
            message: format!("what was released is not what was recorded as {}", record.version),
            via: Vec::new(),
            waived: false,
        });
        plan.required = plan.required.max(Bump::Minor);
    }

    /// What of a package changed its meaning without a reason that tells how:
    /// nobody can call that a mere patch.
    fn unnamed(&self, package: Package<'_>, reasons: &[Reason]) -> Vec<Reason> {
        let reason = |element: String| Reason {
            rule: None,
            element,
            bump: Bump::Minor,
            message: "its meaning changed in a way that no rule names".to_owned(),
            via: Vec::new(),
            waived: false,
        };
        if reasons.is_empty() {
            return vec![reason(package.name().to_owned())];
        }
        if reasons.iter().any(|it| it.bump >= Bump::Minor) {
            return Vec::new();
        }
        let mut unnamed = Vec::new();
        for file in package.files() {
            let types = file.messages().map(Element::Message);
            for ty in types.chain(file.enums().map(Element::Enum)) {
                let name = ty.full_name();
                let own = |it: &TreeHashes| it.of_type(&name).map(|it| it.own);
                let is_within = |it: &Reason| {
                    it.element
                        .strip_prefix(&*name)
                        .is_some_and(|it| it.is_empty() || it.starts_with('.'))
                };
                let before = self.old.as_ref().and_then(own);
                if before != own(&self.new) && !reasons.iter().any(is_within) {
                    unnamed.push(reason(name));
                }
            }
        }
        unnamed
    }

    /// The packages that are recorded, or were released, and are not there.
    fn gone(&self, names: &BTreeSet<&str>) -> BTreeSet<String> {
        let recorded = self.records.lock.into_iter().flat_map(Lock::packages);
        let trees = self.released.iter().map(|it| it.tree);
        let released = trees.flat_map(|it| it.packages().filter(|it| it.is_judged()));
        let all = recorded.chain(released.map(|it| it.name()));
        all.filter(|name| !names.contains(name)).map(str::to_owned).collect()
    }

    fn gone_package(&self, name: &str) -> PackagePlan {
        let changes = self.changes.get(name);
        let refused = changes.is_some_and(|it| it.broke);
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
            reasons: changes.map(|it| it.reasons.clone()).unwrap_or_default(),
            catches_up: false,
            waits_for: None,
            verdict: match (refused, is_recorded) {
                (true, _) => Verdict::Refused,
                (false, true) => Verdict::Recorded,
                (false, false) => Verdict::Unrecorded,
            },
        }
    }
}

/// What `abide check` says of versions that are not recorded. What broke is
/// told by the rules about changes.
pub(crate) fn findings(tree: &Tree, plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &plan.packages {
        let named = tree.package_named(&package.name).filter(|it| it.is_judged());
        let Some(place) = named.and_then(package_place) else { continue };
        let name = &package.name;
        let recorded = package.recorded.as_ref();
        let message = match (package.verdict, recorded, &package.to) {
            // Of what waits, the break that it waits for is told.
            (Verdict::Recorded | Verdict::Refused | Verdict::Early | Verdict::Waiting, ..) => {
                continue;
            }
            (_, None, Some(to)) => {
                format!("no version of package `{name}` is recorded, which begins with {to}")
            }
            (_, Some(recorded), Some(to)) if to > recorded => {
                format!("package `{name}` is recorded as {recorded} and needs {to}")
            }
            (_, Some(recorded), _) => {
                format!("package `{name}` changed since {recorded} was recorded")
            }
            (_, None, None) => continue,
        };
        let help = match package.verdict {
            Verdict::Unknown => {
                "run `abide bump --write --against SOURCE`, where SOURCE is the last release"
            }
            _ => "run `abide bump --write`",
        };
        let location = Location::Tree(place);
        let mut finding = Finding::new(RULE, location, name, name.clone(), message);
        finding.why = package.reasons.first().map(Reason::to_string);
        finding.help(help);
        finding.fact(package.to.as_ref().map_or_else(String::new, Version::to_string));
        finding.fact(package.hash_new.map_or_else(String::new, |it| it.to_string()));
        findings.push(finding);
    }
    findings
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.via.is_empty() {
            write!(f, "`{}`: {}", self.element, self.message)
        } else {
            let steps: Vec<String> = self.via.iter().map(|it| format!("`{it}`")).collect();
            write!(f, "{} reaches what changed", steps.join(" → "))
        }
    }
}
