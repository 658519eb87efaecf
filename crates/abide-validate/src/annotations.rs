//! Validation annotations, read as lists of facets.

mod cel_text;
mod facet;
mod message_limits;
mod read;

pub use self::facet::{Facet, Literal};
pub use self::message_limits::{Exclusive, MessageLimits, oneof_required};
pub use self::read::{facets, places_of_facet};
pub(crate) use self::read::{nanos, place};
