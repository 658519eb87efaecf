//! A waiver in a comment.

use abide_schema::Place;
use abide_syntax::Span;
use jiff::civil::Date;

use super::allowance::NamedChange;
use crate::checks::Covers;
use crate::rule::Rule;

/// A waiver in a comment.
pub(super) struct Waiver {
    pub(super) allows: Allows,
    pub(super) until: Option<Date>,
    pub(super) change: NamedChange,
    pub(super) reach: Reach,
    /// From the marker to the end of its line.
    pub(super) place: Place,
    /// The comment that it is in.
    pub(super) comment: Span,
    pub(super) used: bool,
}

/// Which rules a comment names.
pub(super) enum Allows {
    Rule(&'static Rule),
    /// Every finding that has this alias.
    Alias(&'static str),
}

impl Allows {
    /// The id or the alias of the rules.
    pub(super) fn name(&self) -> &str {
        match self {
            Allows::Rule(rule) => rule.id,
            Allows::Alias(alias) => alias,
        }
    }
}

/// How far a waiver in a comment reaches.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// Over statements with all that is in them.
    Whole(Covers),
    /// Over what begins in a part of the text, even if it ends outside.
    Beginnings(Span),
}
