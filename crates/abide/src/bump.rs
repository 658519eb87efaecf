//! The version that each package needs, from what changed since the last
//! release.
//!
//! Hashes tell whether the meaning of a package changed, the rules about
//! changes tell how far its version rises. A package whose own meaning is as it
//! was, while that of a type it reaches is not, rises merely to catch up.

mod annotation;
mod catch_up;
pub(crate) mod changes;
mod package_changes;
pub(crate) mod planner;
mod unnamed;
pub(crate) mod unrecorded;

use std::collections::BTreeSet;

use abide_meaning::SemanticHash;
use abide_schema::Tree;
use semver::Version;

use crate::accepted::Accepted;
use crate::bump_level::Bump;
use crate::config::VersionIn;
use crate::finding::Finding;
use crate::lock::Lock;

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

/// The last release, and what changed since.
pub(crate) struct Released<'a> {
    pub(crate) tree: &'a Tree,
    /// What the rules found, with the severities of the policy.
    pub(crate) changes: &'a [Finding],
    /// What they found and a waiver took away.
    pub(crate) spared: &'a [Finding],
    /// What of it is accepted.
    pub(crate) accepted: Option<&'a Accepted>,
}

impl<'a> Released<'a> {
    /// The changes among the findings, each with whether a waiver or
    /// `abide.accepted` spares it.
    fn all_changes(&self) -> impl Iterator<Item = (&'a Finding, bool)> + use<'a> {
        let accepted = self.accepted;
        let is_accepted = move |it: &Finding| accepted.is_some_and(|all| all.holds(it));
        let stand = self.changes.iter().map(move |it| (it, is_accepted(it)));
        let all = stand.chain(self.spared.iter().map(|it| (it, true)));
        all.filter(|(it, _)| it.change.is_some())
    }
}

impl Reason {
    pub(crate) fn unnamed(element: String, bump: Bump) -> Reason {
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
