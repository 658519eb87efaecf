//! The constraints of one element, compared before and after.

use abide_schema::{Place, value};

/// The relation of the values that a new constraint accepts to those of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// They are the same.
    Equal,
    /// Fewer values are accepted, and no new ones.
    Tightened,
    /// More values are accepted, and all of the old ones.
    Loosened,
    /// Some values are newly accepted, others are no longer accepted.
    Incomparable,
    /// It cannot be determined.
    Unproven {
        /// The reason, in one phrase.
        why: String,
    },
}

/// One rule that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetChange {
    /// The rule with its old and new value, such as "`max_len` 64 → 32".
    pub what: String,
    /// The place of the old rule.
    pub place_old: Option<Place>,
    /// The place of the new rule.
    pub place_new: Option<Place>,
    /// The effect of this rule alone.
    pub inclusion: Inclusion,
}

/// The constraints of one element, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintChange {
    /// The relation of the new values to the old ones.
    pub inclusion: Inclusion,
    /// The rules that differ; empty if the constraints are equal.
    pub facets: Vec<FacetChange>,
    /// A message of the old tree that the old side accepts and the new one
    /// rejects.
    pub tightened_by: Option<value::Message>,
    /// A message of the new tree that the new side accepts and the old one
    /// rejects.
    pub loosened_by: Option<value::Message>,
}

impl ConstraintChange {
    pub(super) fn equal() -> ConstraintChange {
        ConstraintChange {
            inclusion: Inclusion::Equal,
            facets: Vec::new(),
            tightened_by: None,
            loosened_by: None,
        }
    }
}
