//! Readers of the notations in which instances are written.

mod json_nodes;
mod notation;
pub(crate) mod yaml;
mod yaml_hints;

pub(crate) use json_nodes::{
    entries_of, message_without_places, of_struct, of_value, without_places,
};
pub use notation::{Dialect, Notation};
pub use yaml::yaml_value;
pub(crate) use yaml_hints::explain;
