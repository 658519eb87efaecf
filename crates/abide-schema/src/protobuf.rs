//! Facts of protobuf itself, which no file of a tree can change.

mod camel_case;
pub(crate) mod descriptor_number;
mod edition;
mod float;
mod json_name;
pub(crate) mod well_known;
mod wire_format;

pub use camel_case::to_camel_case;
pub use edition::Edition;
pub(crate) use edition::list_known_editions;
pub(crate) use float::to_nearest_float;
pub use json_name::default_json_name;
pub(crate) use json_name::to_json_letters;
pub(crate) use well_known::{BUILT_IN, DESCRIPTOR_PROTO, find_built_in};
pub use well_known::{
    annotation_files, built_in_paths, find_well_known, is_built_in, well_known_paths,
};
pub use wire_format::WireError;
pub(crate) use wire_format::{
    MAX_DEPTH, WirePayload, WireReader, WireRecord, WireWriter, find_last_varint,
};
