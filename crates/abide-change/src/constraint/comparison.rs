//! How the constraints of one element compare before and after.

use abide_schema::{Place, value};

/// How the values that a new constraint accepts lie to those of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// They are the same.
    Equal,
    /// Fewer are accepted, and no other ones.
    Tightened,
    /// More are accepted, and none less.
    Loosened,
    /// Some are accepted newly, others no more.
    Incomparable,
    /// It cannot be told.
    Unproven {
        /// What stands in the way, in one phrase.
        why: String,
    },
}

/// One rule that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetChange {
    /// The rule with what it was and is, such as "`max_len` 64 → 32".
    pub what: String,
    /// Where the old rule stands.
    pub place_old: Option<Place>,
    /// Where the new rule stands.
    pub place_new: Option<Place>,
    /// What comes of this rule alone.
    pub inclusion: Inclusion,
}

/// The constraints of one element, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What they are to each other.
    pub inclusion: Inclusion,
    /// The rules that differ; none where the constraints are equal.
    pub facets: Vec<FacetChange>,
    /// A message of the old tree that the old side accepts and the new one
    /// rejects.
    pub tightened_by: Option<value::Message>,
    /// A message of the new tree that the new side accepts and the old one
    /// rejects.
    pub loosened_by: Option<value::Message>,
}

impl Comparison {
    pub(super) fn equal() -> Comparison {
        Comparison {
            inclusion: Inclusion::Equal,
            facets: Vec::new(),
            tightened_by: None,
            loosened_by: None,
        }
    }
}
