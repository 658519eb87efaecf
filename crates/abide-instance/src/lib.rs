//! Instances: values of messages as somebody wrote them, in YAML, JSON, text
//! format or binary; what is deployed, and what a new version of an API has to
//! go on reading.
//!
//! This crate reads them with the place of every key and value, finds out their
//! types, and walks over what they hold. It knows no rule and does no I/O.

pub mod diff;
mod inside;
mod instance;
mod json_nodes;
mod kinds;
mod notation;
mod rewrite;
pub mod runtime;
mod translate;
mod translated_text;
mod typed_struct;
mod walk;
mod words;
mod yaml;

pub use instance::{Document, Instance, ReadOptions};
pub use kinds::{Kind, kind_of};
pub use notation::{Dialect, Notation};
pub use translate::{
    Change, Fault, Loss, Migration, Reader, Translated, Translator, VersionMapping, Way,
};
pub use translated_text::{Carried, CarriedDocument, carry_text};
pub use walk::{Met, Named, Visit, named, walk};
pub use yaml::yaml_value;
