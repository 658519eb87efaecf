//! Computes the version that each package needs from the changes since the
//! last release.
//!
//! Hashes show whether the meaning of a package changed; the rules about changes
//! decide how much its version increases. A package whose own meaning is
//! unchanged, but that depends on a type whose meaning changed, catches up.

mod annotation;
pub(crate) mod changes;
mod dependency_bump;
mod package_changes;
pub(crate) mod planner;
mod undescribed_changes;
pub(crate) mod unrecorded;

use std::collections::BTreeSet;

use abide_hash::SemanticHash;
use abide_schema::Tree;
use semver::Version;

use crate::finding::{Bump, Finding};
use crate::inputs::Accepted;
use crate::lock::Lock;

/// The versions that the packages of a tree need.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One for each checked package and for each removed package, sorted by
    /// name.
    pub packages: Vec<PackagePlan>,
    /// The content of `abide.lock` after everything possible is recorded.
    pub lock: Lock,
    /// The files that change if versions are recorded in options, sorted by path.
    pub rewritten: Vec<RewrittenOption>,
    /// True if `abide.lock` must be written.
    pub is_lock_stale: bool,
    /// What an earlier `abide.lock` records and this one forgot: the package, and a phrase.
    pub forgotten: Vec<(String, String)>,
}

/// The version that one package needs, and why.
#[derive(Clone, Debug)]
pub struct PackagePlan {
    /// The name of the package.
    pub name: String,
    /// The version at the last release, or without a release the recorded one.
    pub from: Option<Version>,
    /// The version as recorded now.
    pub recorded: Option<Version>,
    /// The bump it needs since the release.
    pub required: Bump,
    /// The version that it needs. `None` if it cannot be known, and if a break in
    /// this package, or in one it waits for, is refused.
    pub to: Option<Version>,
    /// The closure hash at the last release, or without a release the recorded one.
    pub hash_old: Option<SemanticHash>,
    /// The closure hash in the tree; `None` for a removed package.
    pub hash_new: Option<SemanticHash>,
    /// The reasons, highest bump first.
    pub reasons: Vec<BumpReason>,
    /// True if its own meaning is unchanged, and only that of its dependencies
    /// changed.
    pub catches_up: bool,
    /// The package it depends on whose break is refused.
    pub waits_for: Option<String>,
    /// The state of the recorded version.
    pub verdict: PlanVerdict,
    /// Where a break is refused, the packages that may hold it: those in which
    /// `abide upgrade` prepares the next major version, such as `acme.v4alpha`
    /// for `acme.v3`.
    pub candidates: BTreeSet<String>,
}

/// Why a package needs another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BumpReason {
    /// The rule that found a change; `None` if only a hash shows it.
    pub rule: Option<&'static str>,
    /// The full name of the element that changed.
    pub element: String,
    /// The bump it needs.
    pub bump: Bump,
    /// What changed.
    pub message: String,
    /// The shortest path from an element of the package to the changed type;
    /// empty for a change in the package itself.
    pub via: Vec<String>,
    /// True if it is a break that is only allowed by a waiver or by
    /// `abide.accepted`.
    pub waived: bool,
}

/// The state of the recorded version of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanVerdict {
    /// The needed version is recorded.
    Recorded,
    /// The version or the hash is not recorded yet.
    Unrecorded,
    /// A break in a stable package, which no version of it may have.
    Refused,
    /// A new major outside the window for new majors.
    Early,
    /// A change in a frozen package, which no version of it may have.
    Frozen,
    /// It depends on a refused break. Undoing the break changes the meaning of
    /// this package again, so nothing is recorded.
    Waiting,
    /// It changed, but without the last release the bump is not known.
    Unknown,
}

impl PlanVerdict {
    /// Its word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            PlanVerdict::Recorded => "recorded",
            PlanVerdict::Unrecorded => "unrecorded",
            PlanVerdict::Refused => "refused",
            PlanVerdict::Early => "early",
            PlanVerdict::Frozen => "frozen",
            PlanVerdict::Waiting => "waiting",
            PlanVerdict::Unknown => "unknown",
        }
    }
}

/// A file with its new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewrittenOption {
    /// The path of the file, as in reports.
    pub path: String,
    /// Its new content.
    pub text: Vec<u8>,
}

impl Plan {
    /// Returns how many packages have this verdict.
    pub fn count(&self, verdict: PlanVerdict) -> usize {
        self.packages.iter().filter(|it| it.verdict == verdict).count()
    }

    /// Returns true if everything that can be recorded is.
    pub fn is_recorded(&self) -> bool {
        !self.is_lock_stale && self.rewritten.is_empty() && self.count(PlanVerdict::Unrecorded) == 0
    }

    /// The highest bump that any package needs.
    pub fn required_bump(&self) -> Bump {
        self.packages.iter().map(|it| it.required).max().unwrap_or_default()
    }
}

impl PackagePlan {
    /// Returns true if its meaning equals that of the release or of the record; `None` if
    /// neither is known.
    pub fn is_as_recorded(&self) -> Option<bool> {
        self.hash_old.map(|it| Some(it) == self.hash_new)
    }
}

/// The last release, and what changed since.
pub(crate) struct ReleasedState<'a> {
    pub(crate) tree: &'a Tree,
    /// What the rules found, with the severities of the policy.
    pub(crate) changes: &'a [Finding],
    /// What they found and a waiver covers.
    pub(crate) spared: &'a [Finding],
    /// What of it is accepted.
    pub(crate) accepted: Option<&'a Accepted>,
}

impl<'a> ReleasedState<'a> {
    /// The changes among the findings, each with whether a waiver or
    /// `abide.accepted` /// covers it.
    fn all_changes(&self) -> impl Iterator<Item = (&'a Finding, bool)> + use<'a> {
        let accepted = self.accepted;
        let is_accepted = move |it: &Finding| accepted.is_some_and(|all| all.holds(it));
        let stand = self.changes.iter().map(move |it| (it, is_accepted(it)));
        let all = stand.chain(self.spared.iter().map(|it| (it, true)));
        all.filter(|(it, _)| it.change.is_some())
    }
}

impl BumpReason {
    pub(crate) fn unnamed(element: String, bump: Bump) -> BumpReason {
        BumpReason {
            rule: None,
            element,
            bump,
            message: "its meaning changed, but no rule describes the change".to_owned(),
            via: Vec::new(),
            waived: false,
        }
    }
}

impl std::fmt::Display for BumpReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.via.is_empty() {
            write!(f, "`{}`: {}", self.element, self.message)
        } else {
            let steps: Vec<String> = self.via.iter().map(|it| format!("`{it}`")).collect();
            write!(f, "depends on a changed type: {}", steps.join(" → "))
        }
    }
}
