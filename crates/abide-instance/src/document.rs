//! Instances with their types and positions, and the walk over what they hold.

mod document_type;
mod embedded;
mod instance;
mod secrets;
mod typed_struct;
mod walk;

pub(crate) use document_type::read_named_type;
pub use document_type::{DocumentType, detect_document_type};
pub use instance::{Document, Instance, ReadOptions};
pub use secrets::{REDACTED, mask_secrets};
pub(crate) use typed_struct::{normalize_structs, replace_content};
pub use walk::{Item, NamedType, WalkItem, find_named_types, walk};
