//! Validation annotations as sets of accepted values, compared by inclusion.
//!
//! `validate.rules` and `buf.validate` say which values of a field, oneof or
//! message are valid. Here each becomes a set: numbers are intervals, texts are
//! lengths, lists and regular languages. A new set inside the old one is
//! tightened, one around it loosened, and each such claim comes with a value
//! that one side accepts and the other rejects, judged anew on both sides
//! before it is handed out.

mod acceptance;
mod compare;
mod compared;
mod comparison;
mod datum;
mod evaluate;
mod formats;
mod inclusion;
mod interpret;
mod limits;
mod number_set;
mod pattern;
mod read;
mod rejection;
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use self::compared::Compared;
pub use self::comparison::{Comparison, FacetChange, Inclusion};
pub use self::evaluate::{Evaluation, Violation, evaluate};
pub use self::read::places_of_facet;
pub use self::rejection::{rejection, rejects_absence, rejects_absence_of_oneof};
