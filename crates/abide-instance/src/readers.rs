//! Readers of the notations in which instances are written.

mod json_nodes;
mod notation;
pub(crate) mod yaml;
mod yaml_hints;

pub(crate) use json_nodes::{
    read_entries, remove_message_places, remove_places, struct_to_json, value_to_json,
};
pub use notation::{Dialect, Notation};
pub use yaml::read_yaml_value;
pub(crate) use yaml_hints::add_yaml_hints;
