//! Rules that no value satisfies together.

use abide_schema::{Field, Place};

use super::ConstraintDefect;
use super::subject::name_place;
use crate::annotations::{Facet, Literal, read_facets};
use crate::limits::{DialectLimits, FieldLimits};
use crate::sets::Dialect;

pub(super) fn find(field: Field<'_>, found: &mut Vec<ConstraintDefect>) {
    let all = read_facets(field);
    if all.is_empty() {
        return;
    }
    for part in FieldLimits::new(field, &all).parts {
        let own: Vec<Facet> = all.iter().filter(|it| it.dialect == part.dialect).cloned().collect();
        for aspect in Aspect::ALL {
            // One rule alone refuses everything only if it is about numbers.
            if aspect.is_violated(field, &part) {
                let core = reduce_to_core(field, &own, part.dialect, aspect);
                if let [Facet { literals, .. }] = &core[..]
                    && literals.iter().all(is_nan)
                {
                    // Reported as malformed.
                    continue;
                }
                found.push(describe_defect(field, part.dialect, aspect, &core));
            }
        }
    }
}

fn is_nan(literal: &Literal) -> bool {
    matches!(literal, Literal::Float(value) if value.is_nan())
}

/// A part of the values that can be contradictory on its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aspect {
    /// The value of a singular field, the items of a list, the values of a map.
    Values,
    Keys,
    /// The number of items.
    Count,
    /// The moment of a timestamp.
    Time,
}

impl Aspect {
    const ALL: [Aspect; 4] = [Aspect::Values, Aspect::Keys, Aspect::Count, Aspect::Time];

    fn is_violated(self, field: Field<'_>, part: &DialectLimits) -> bool {
        if part.skip {
            return false;
        }
        match self {
            Aspect::Values => part.values.accepts_nothing(field.tree),
            Aspect::Keys => part.keys.as_ref().is_some_and(|it| it.accepts_nothing(field.tree)),
            Aspect::Count => part.items.count.is_empty(),
            Aspect::Time => !part.values.skip && part.values.is_never(),
        }
    }
}

/// The fewest rules that contradict each other.
fn reduce_to_core(field: Field<'_>, all: &[Facet], dialect: Dialect, aspect: Aspect) -> Vec<Facet> {
    let mut core = all.to_vec();
    let mut at = 0;
    while at < core.len() {
        let mut fewer = core.clone();
        fewer.remove(at);
        let parts = FieldLimits::new(field, &fewer).parts;
        let part = parts.iter().find(|it| it.dialect == dialect);
        if part.is_some_and(|part| aspect.is_violated(field, part)) {
            core = fewer;
        } else {
            at += 1;
        }
    }
    core
}

fn describe_defect(
    field: Field<'_>,
    dialect: Dialect,
    aspect: Aspect,
    core: &[Facet],
) -> ConstraintDefect {
    let name = field.relative_name();
    let rules: Vec<String> =
        core.iter().map(|it| format!("`{}` {}", it.key(), it.text())).collect();
    let (what, rules) = (
        match (aspect, core.first().map(Facet::prefix)) {
            (Aspect::Keys, _) => "key",
            (_, Some("items.")) => "item",
            (Aspect::Count, _) => "number of values",
            _ => "value",
        },
        format_list(&rules),
    );
    let place: Place = core.first().map_or_else(|| name_place(field), |it| it.place);
    ConstraintDefect {
        place,
        message: format!("no {what} of field `{name}` satisfies {rules}"),
        why: None,
        known_to_buf: dialect == Dialect::Buf && is_known_to_buf(core),
    }
}

/// Texts in a row: `a`, `b` and `c`.
fn format_list(texts: &[String]) -> String {
    match texts {
        [] => "its rules".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// The pairs of rules that buf compares.
fn is_known_to_buf(core: &[Facet]) -> bool {
    let [a, b] = core else { return false };
    let pair = |x: &[&str], y: &[&str]| {
        x.contains(&a.key()) && y.contains(&b.key()) || x.contains(&b.key()) && y.contains(&a.key())
    };
    let affix: &[&str] = &["prefix", "suffix", "contains"];
    let ranges = pair(&["gt", "gte"], &["lt", "lte"]) && a.literals == b.literals;
    ranges
        || pair(&["min_len"], &["max_len", "max_bytes"])
        || pair(&["min_bytes"], &["max_bytes", "max_len"])
        || pair(&["min_items"], &["max_items"])
        || pair(&["min_pairs"], &["max_pairs"])
        || pair(&["lt_now"], &["gt_now"])
        || pair(affix, &["max_len", "max_bytes", "not_contains"])
}
