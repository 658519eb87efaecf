//! Severities in `abide.toml` that never decide about a finding.

use std::collections::BTreeMap;

use abide_syntax::Span;

use super::policy::Policy;
use super::severities::{Levels, Override};
use crate::finding::{Group, RuleDefaults};

/// A severity that never decides.
pub(crate) struct IdleSetting {
    /// The key that sets it: a rule, a group, or a name of another tool.
    pub(crate) key: &'static str,
    /// Where it stands.
    pub(crate) span: Span,
    /// What decides in its place.
    pub(crate) reason: IdleReason,
}

/// What decides in the place of a severity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleReason {
    /// A later override that has no conditions.
    Overridden,
    /// Entries of the same table for each of its rules.
    EachRule,
    /// `[breaking]`, by which no direction counts: only entries of rules themselves do then.
    NoDirection,
}

/// A table of severities, with the places of its keys, and the overrides that count before it.
struct LevelTable<'p> {
    levels: &'p Levels,
    places: &'p BTreeMap<&'static str, Span>,
    later: &'p [Override],
    is_whole: bool,
}

impl Policy {
    /// The severities in `abide.toml` that never decide about one of these rules.
    pub(crate) fn find_idle_settings(&self, rules: &[RuleDefaults]) -> Vec<IdleSetting> {
        let Some(layer) = self.layers.find_own_layer() else { return Vec::new() };
        let counts_nothing =
            self.breaking.directions.is_empty() && self.breaking.aliases.is_empty();
        let mut idle = Vec::new();
        let (levels, places) = (&layer.levels, &layer.places);
        let mut later = layer.overrides.as_slice();
        let whole = LevelTable { levels, places, later, is_whole: true };
        whole.add_idle(rules, counts_nothing, &mut idle);
        while let [part, rest @ ..] = later {
            let (levels, places) = (&part.levels, &part.places);
            later = rest;
            let table = LevelTable { levels, places, later, is_whole: false };
            table.add_idle(rules, counts_nothing, &mut idle);
        }
        idle
    }
}

impl LevelTable<'_> {
    fn add_idle(&self, rules: &[RuleDefaults], counts_nothing: bool, idle: &mut Vec<IdleSetting>) {
        for key in self.levels.keys() {
            let Some(&span) = self.places.get(key) else { continue };
            let reason = self.find_reason(key, rules).or_else(|| {
                let is_left_out = counts_nothing && self.is_whole && self.is_of_changes(key);
                is_left_out.then_some(IdleReason::NoDirection)
            });
            idle.extend(reason.map(|reason| IdleSetting { key, span, reason }));
        }
    }

    /// Returns what decides in the place of a key for each of its rules; `None` if the key decides
    /// about any of them.
    fn find_reason(&self, key: &str, rules: &[RuleDefaults]) -> Option<IdleReason> {
        let mut found = None;
        for rule in rules {
            for alias in self.levels.contexts_of(key, *rule) {
                let decides =
                    |it: &Override| it.is_unconditional() && it.levels.decides(*rule, alias);
                if self.later.iter().any(decides) {
                    found.get_or_insert(IdleReason::Overridden);
                } else if !self.levels.is_decided_by(key, *rule, alias) {
                    found = Some(IdleReason::EachRule);
                } else {
                    return None;
                }
            }
        }
        found
    }

    /// Returns true if a key gives a severity to the group of rules about changes.
    fn is_of_changes(&self, key: &str) -> bool {
        key == Group::Compatibility.name()
            && self.levels.groups.get(&Group::Compatibility).is_some_and(Option::is_some)
    }
}
