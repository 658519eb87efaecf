//! Compares validation annotations as sets of accepted values.
//!
//! `validate.rules` and `buf.validate` define which values of a field, oneof or
//! message are valid. Here each becomes a set: numbers are intervals; texts are
//! lengths, lists and regular languages. If the new set is inside the old one, the
//! constraint was tightened; if it is around the old one, it was loosened. Each
//! such claim comes with a value that one side accepts and the other rejects,
//! which is checked on both sides first.

mod compare;
mod compared;
mod comparison;
mod inclusion;
mod rejection;
#[cfg(test)]
mod tests;

pub(crate) use self::compared::Compared;
pub use self::comparison::{Comparison, FacetChange, Inclusion};
pub use self::rejection::rejection;
