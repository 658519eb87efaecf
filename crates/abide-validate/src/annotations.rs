//! Validation annotations, read as lists of facets.

mod cel_text;
mod facet;
mod message_limits;
mod read;

pub use self::facet::{Facet, Literal};
pub use self::message_limits::{Exclusive, MessageLimits, find_required_oneof};
pub use self::read::{find_facet_places, read_facets};
pub(crate) use self::read::{find_place, read_nanos};
