//! Converts values from one major version of an API to another, as edits of their texts.

mod apply_steps;
mod builtin_protos;
mod configured;
mod converted_text;
mod converter;
mod mapping;
mod path;
mod steps;
mod translator;
mod type_mapping;

pub use builtin_protos::Fault;
pub use converted_text::{Carried, CarriedDocument, carry_text};
pub use mapping::VersionMapping;
pub use steps::Migration;
pub use translator::{Change, Loss, Reader, Translated, Translator};
pub use type_mapping::Way;
