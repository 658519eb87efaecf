//! A waiver in a comment.

use abide_schema::Place;
use abide_syntax::Span;
use jiff::civil::Date;

use super::allowance::NamedChange;
use crate::checks::Covers;
use crate::rule::Rule;

/// A waiver in a comment.
pub(super) struct Waiver {
    pub(super) allows: WaivedRules,
    pub(super) until: Option<Date>,
    pub(super) change: NamedChange,
    /// Its reason; of another linter's comment, the comment.
    pub(super) reason: String,
    pub(super) reach: WaiverReach,
    /// From the marker to the end of its line.
    pub(super) place: Place,
    /// The comment that it is in.
    pub(super) comment: Span,
    pub(super) used: bool,
}

/// Which rules a comment names.
pub(super) enum WaivedRules {
    Rule(&'static Rule),
    /// Every finding that has this alias.
    Alias(&'static str),
}

impl WaivedRules {
    /// The id or the alias of the rules.
    pub(super) fn name(&self) -> &str {
        match self {
            WaivedRules::Rule(rule) => rule.id,
            WaivedRules::Alias(alias) => alias,
        }
    }
}

/// How far a waiver in a comment reaches.
#[derive(Clone, Copy)]
pub(super) enum WaiverReach {
    /// Over statements with all that is in them.
    Whole(Covers),
    /// Over what begins in a part of the text, even if it ends outside.
    Beginnings(Span),
}
