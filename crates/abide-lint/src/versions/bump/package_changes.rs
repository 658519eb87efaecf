//! What is known of the changes of one package.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::BumpReason;
use crate::finding::Bump;

/// The changes in one package itself.
#[derive(Default)]
pub(super) struct PackageChanges {
    /// The highest bump first, each with the path of the changed element.
    pub(super) reasons: Vec<(String, BumpReason)>,
}

impl PackageChanges {
    /// The reasons to report. An unnamed change is left out if a rule found a
    /// change that needs at least the same bump: it often follows from that one.
    pub(super) fn reasons(&self) -> impl Iterator<Item = &BumpReason> {
        let is_named = |it: &BumpReason| it.rule.is_some();
        let all = || self.reasons.iter().map(|(_, reason)| reason);
        let tells_enough = all().any(|it| is_named(it) && it.bump >= Bump::Minor);
        all().filter(move |it| !tells_enough || is_named(it))
    }

    /// Returns true if there is a break that no waiver allows.
    pub(super) fn broke(&self) -> bool {
        self.reasons().any(|it| it.bump == Bump::Major)
    }

    pub(super) fn sort(&mut self) {
        let key = |(_, it): &(String, BumpReason)| (Reverse(it.bump), it.element.clone(), it.rule);
        self.reasons.sort_by_cached_key(key);
        self.reasons.dedup();
    }
}

/// The bumps that known changes need, by the path of what changed.
pub(super) struct KnownBumps<'a>(BTreeMap<&'a str, Bump>);

impl<'a> KnownBumps<'a> {
    pub(super) fn of(changes: &'a PackageChanges) -> KnownBumps<'a> {
        let mut bumps = BTreeMap::new();
        for (path, reason) in &changes.reasons {
            let most = bumps.entry(path.as_str()).or_insert(reason.bump);
            *most = reason.bump.max(*most);
        }
        KnownBumps(bumps)
    }

    /// The bump that the changes of one path need.
    pub(super) fn at(&self, path: &str) -> Option<Bump> {
        self.0.get(path).copied()
    }

    /// The bump that the changes of an element, or inside it, need.
    pub(super) fn within(&self, path: &str) -> Option<Bump> {
        self.at(path).max(self.below(&format!("{path}.")))
    }

    /// The bump that the changes of paths with this start need.
    pub(super) fn below(&self, start: &str) -> Option<Bump> {
        let from = self.0.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        from.take_while(|(path, _)| path.starts_with(start)).map(|(_, bump)| *bump).max()
    }
}
