//! Instances: values of messages as somebody wrote them, in YAML, JSON, text
//! format or binary; what is deployed, and what a new version of an API has to
//! go on reading.
//!
//! This crate reads them with the place of every key and value, finds out their
//! types, and walks over what they hold. It knows no rule and does no I/O.

mod convert;
pub mod diff;
mod document;
mod readers;
mod rewrite;
pub mod runtime;

pub use convert::{
    Carried, CarriedDocument, Change, Fault, Loss, Migration, Reader, Translated, Translator,
    VersionMapping, Way, carry_text,
};
pub use document::{
    Document, Instance, Kind, Met, Named, ReadOptions, Visit, kind_of, named, walk,
};
pub use readers::{Dialect, Notation, yaml_value};
