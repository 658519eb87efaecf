//! Converts values from one major version of an API to another, as edits of their texts.

mod apply_steps;
mod builtin_protos;
mod configured;
mod converted_text;
mod converter;
mod mapping;
mod path;
mod steps;
mod type_mapping;
mod version_converter;

pub use builtin_protos::DeclarationError;
pub use converted_text::{ConvertedDocument, ConvertedText, convert_text};
pub use mapping::VersionMapping;
pub use steps::MigrationFile;
pub use type_mapping::Direction;
pub use version_converter::{
    ConversionChange, ConversionLoss, ConvertedValue, OlderReader, VersionConverter,
};
