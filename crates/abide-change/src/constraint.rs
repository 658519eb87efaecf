//! Compares validation annotations as sets of accepted values.
//!
//! `validate.rules` and `buf.validate` define which values of a field, oneof or
//! message are valid. Here each becomes a set: numbers are intervals; texts are
//! lengths, lists and regular languages. If the new set is inside the old one, the
//! constraint was tightened; if it is around the old one, it was loosened. Each
//! such claim comes with a value that one side accepts and the other rejects,
//! which is checked on both sides first.

mod cache;
mod compare;
mod constraint_change;
mod inclusion;
mod rejection;
#[cfg(test)]
mod tests;

pub(crate) use self::cache::ConstraintCache;
pub use self::constraint_change::{ConstraintChange, FacetChange, Inclusion};
pub use self::rejection::prove_rejection;
