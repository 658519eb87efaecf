//! What is known of the changes of one package.

use std::cmp::Reverse;

use crate::bump_level::Bump;

use super::Reason;

/// The changes in one package itself.
#[derive(Default)]
pub(super) struct PackageChanges {
    /// The highest bump first, each with the path of the changed element.
    pub(super) reasons: Vec<(String, Reason)>,
}

impl PackageChanges {
    /// The reasons to report. An unnamed change is left out if a rule found a
    /// change that needs at least the same bump: it often follows from that one.
    pub(super) fn reasons(&self) -> impl Iterator<Item = &Reason> {
        let is_named = |it: &Reason| it.rule.is_some();
        let all = || self.reasons.iter().map(|(_, reason)| reason);
        let tells_enough = all().any(|it| is_named(it) && it.bump >= Bump::Minor);
        all().filter(move |it| !tells_enough || is_named(it))
    }

    /// Whether there is a break that no waiver allows.
    pub(super) fn broke(&self) -> bool {
        self.reasons().any(|it| it.bump == Bump::Major)
    }

    /// The bump that the changes of an element, or inside it, need.
    pub(super) fn bump_within(&self, path: &str) -> Option<Bump> {
        let is_within = |it: &str| {
            it.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.bump_where(is_within)
    }

    pub(super) fn bump_where(&self, is_about: impl Fn(&str) -> bool) -> Option<Bump> {
        let reasons = self.reasons.iter().filter(|(path, _)| is_about(path));
        reasons.map(|(_, reason)| reason.bump).max()
    }

    pub(super) fn sort(&mut self) {
        let key = |(_, it): &(String, Reason)| (Reverse(it.bump), it.element.clone(), it.rule);
        self.reasons.sort_by_cached_key(key);
        self.reasons.dedup();
    }
}
