//! Validation annotations as sets of accepted values.
//!
//! `validate.rules` and `buf.validate` define which values of a field, oneof or
//! message are valid. Here each becomes a set: numbers are intervals; texts are
//! lengths, lists and regular languages; expressions are evaluated. Nothing here
//! compares two trees.

pub mod annotations;
pub mod cel;
mod defects;
mod evaluate;
pub mod limits;
pub mod sample;
pub mod sets;
#[cfg(test)]
mod tests;

pub use self::annotations::find_facet_places;
pub use self::defects::{ConstraintDefect, DefectKind, find_defects};
pub use self::evaluate::{
    Evaluation, Evaluator, Undetermined, Violation, evaluate, rejects_absence,
    rejects_absence_of_oneof,
};
