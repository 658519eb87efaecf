//! Facts of protobuf itself, which no file of a tree can change.

pub(crate) mod descriptor_number;
mod edition;
mod float;
mod json_name;
pub(crate) mod well_known;
mod wire_format;

pub use edition::Edition;
pub(crate) use float::nearest_float;
pub use json_name::default_json_name;
pub(crate) use json_name::json_letters;
pub(crate) use well_known::{BUILT_IN, DESCRIPTOR_PROTO, built_in};
pub use well_known::{well_known, well_known_paths};
pub use wire_format::WireError;
pub(crate) use wire_format::{MAX_DEPTH, Payload, Record, WireReader, Writer, last_varint};
