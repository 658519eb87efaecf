//! The version that each package needs, from what changed since the last
//! release.
//!
//! Hashes tell whether the meaning of a package changed, the rules about
//! changes tell how far its version rises. A package whose own meaning is as it
//! was, while that of a type it reaches is not, rises merely to catch up.

mod annotation;
mod changes;
mod security;
mod unnamed;
pub(crate) mod version;
mod way;

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use abide_meaning::{SemanticHash, TreeHashes};
use abide_schema::{Package, Tree};
use abide_upgrade::{Standings, candidate_packages};
use semver::Version;

use crate::check::{Options, early_majors, since_release};
use crate::config::VersionIn;
use crate::finding::{Finding, Location, Severity};
use crate::level::Bump;
use crate::lock::{Lock, Record};
use crate::policy::Policy;
use crate::rule::package_place;

use annotation::Annotated;
use changes::Changes;
pub use changes::rises;
pub(crate) use changes::{renames, required};
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
    /// Where a break is refused, the packages that may hold it: those in which
    /// `abide upgrade` prepares the next major version, such as `acme.v4alpha`
    /// for `acme.v3`.
    pub candidates: BTreeSet<String>,
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
    /// Whether its meaning is that which was released or recorded, as far as
    /// that is known.
    pub fn is_as_recorded(&self) -> Option<bool> {
        self.hash_old.map(|it| Some(it) == self.hash_new)
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
        changes::by_package(tree, released, options.accepted, &fixes)
    });
    let planner = Planner { tree, policy, records, new, old, released, changes, early };
    planner.plan()
}

struct Planner<'a> {
    tree: &'a Tree,
    policy: &'a Policy,
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
                for [_, was, is] in self.renames(package.name()) {
                    lock.carry(package.name(), was, is);
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
        self.name_candidates(&mut packages);
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        rewritten.sort_by(|a, b| a.path.cmp(&b.path));
        let is_lock_stale = *self.records.lock.unwrap_or(&Lock::default()) != lock;
        Plan { packages, lock, rewritten, is_lock_stale }
    }

    /// Says where breaks go that are refused; those of a package that is gone, by
    /// what it was.
    fn name_candidates(&self, packages: &mut [PackagePlan]) {
        let trees = [Some(self.tree), self.released.as_ref().map(|it| it.tree)];
        let trees: Vec<_> = trees
            .into_iter()
            .flatten()
            .map(|tree| (tree, LazyCell::new(|| Standings::of(tree))))
            .collect();
        for plan in packages.iter_mut().filter(|it| it.verdict == Verdict::Refused) {
            let found = trees.iter().find_map(|(tree, standings)| {
                let package = tree.package_named(&plan.name).filter(|it| it.is_judged())?;
                Some(candidate_packages(&self.policy.upgrade, standings, package))
            });
            plan.candidates = found.unwrap_or_default();
        }
    }

    fn package(&mut self, package: Package<'_>, annotated: &Annotated<'_>) -> PackagePlan {
        let name = package.name();
        let hashes = self.new.package(name);
        let record = self.records.lock.and_then(|it| it.record(name));
        let in_lock = record.map(|it| it.version.clone());
        // Whoever moves versions to another place does not begin anew.
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
            verdict: Verdict::Unrecorded,
            candidates: BTreeSet::new(),
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
        } else if !is_known && recorded.is_some() {
            // What counts on for every change needs no release to count from.
            if recorded.as_ref().is_none_or(|it| it.pre.is_empty()) {
                plan.verdict = Verdict::Unknown;
                return plan;
            }
            plan.required = Bump::Minor;
        }
        let needed = match (&plan.from, &recorded) {
            (Some(from), _) => version::next(from, plan.required),
            // Nobody recorded the release, but that a patch was counted from it shows.
            (None, Some(counted)) if counted.patch > 0 && plan.required == Bump::Minor => {
                version::next(counted, Bump::Minor)
            }
            (None, _) => version::first(name),
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
    fn require(&self, package: Package<'_>, plan: &mut PackagePlan) {
        let name = package.name();
        let Some(old) = &self.old else { return };
        let (before, after) = (old.package(name), self.new.package(name));
        // A break is one even where the meaning is the same, as that of a type in another file.
        let changes = self.changes.get(name);
        plan.reasons = changes.into_iter().flat_map(Changes::reasons).cloned().collect();
        if plan.reasons.is_empty() && before.map(|it| it.own) != after.map(|it| it.own) {
            plan.reasons.push(Reason::unnamed(name.to_owned(), Bump::Minor));
        }
        if before.map(|it| it.closure) != after.map(|it| it.closure) {
            plan.catches_up = plan.reasons.is_empty();
            self.catch_up(package, old, plan);
        }
        plan.reasons.sort_by_key(|it| Reverse(it.bump));
        plan.required = plan.reasons.iter().map(|it| it.bump).max().unwrap_or_default();
    }

    /// Adds the types of other packages that it reaches and that changed.
    fn catch_up(&self, package: Package<'_>, old: &TreeHashes, plan: &mut PackagePlan) {
        let bump_of = |package: &str, ty: &str| {
            self.changes.get(package).and_then(|it| it.bump_within(ty)).unwrap_or(Bump::Minor)
        };
        for way in way::to_changed_types(package, old, &self.new, &bump_of) {
            if way.bump == Bump::Major {
                plan.waits_for = Some(way.package);
            }
            plan.reasons.push(Reason {
                rule: None,
                element: way.steps.last().cloned().unwrap_or_default(),
                bump: way.bump.min(Bump::Minor),
                message: "it reaches this type, whose meaning changed".to_owned(),
                via: way.steps,
                waived: false,
            });
        }
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

    fn renames(&self, package: &str) -> impl Iterator<Item = [&str; 3]> {
        let found = self.released.iter().flat_map(|it| [it.changes, it.spared]);
        found.flat_map(renames).filter(move |[of, ..]| *of == package)
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
        let refused = changes.is_some_and(Changes::broke);
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
            reasons: changes.into_iter().flat_map(Changes::reasons).cloned().collect(),
            catches_up: false,
            waits_for: None,
            verdict: match (refused, is_recorded) {
                (true, _) => Verdict::Refused,
                (false, true) => Verdict::Recorded,
                (false, false) => Verdict::Unrecorded,
            },
            candidates: BTreeSet::new(),
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
            (_, Some(recorded), _) => match package.is_as_recorded() {
                Some(false) => format!("package `{name}` changed since {recorded} was recorded"),
                Some(true) => {
                    format!("version {recorded} of package `{name}` is yet to be recorded here")
                }
                None => {
                    format!("package `{name}` is not known to be what {recorded} was recorded for")
                }
            },
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

impl Reason {
    fn unnamed(element: String, bump: Bump) -> Reason {
        Reason {
            rule: None,
            element,
            bump,
            message: "its meaning changed in a way that no rule names".to_owned(),
            via: Vec::new(),
            waived: false,
        }
    }
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
