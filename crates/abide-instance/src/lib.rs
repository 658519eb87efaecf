//! Instances: values of messages as somebody wrote them, in YAML, JSON, text
//! format or binary; what is deployed, and what a new version of an API has to
//! go on reading.
//!
//! This crate reads them with the place of every key and value, finds out their
//! types, and walks over what they hold. It knows no rule and does no I/O.

mod config_source;
mod convert;
pub mod diff;
mod document;
mod readers;
mod rewrite;
pub mod runtime;

pub use config_source::{config_source, is_other_source};
pub use convert::{
    ConversionChange, ConversionLoss, ConvertedDocument, ConvertedText, ConvertedValue,
    DeclarationError, Direction, MigrationFile, OlderReader, VersionConverter, VersionMapping,
    convert_text,
};
pub use document::{
    Document, DocumentType, Instance, Item, NamedType, REDACTED, ReadOptions, WalkItem,
    detect_document_type, find_named_types, mask_secrets, walk,
};
pub use readers::{Dialect, Notation, read_yaml_value};
