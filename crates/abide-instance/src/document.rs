//! Instances with their types and positions, and the walk over what they hold.

mod document_type;
mod embedded;
mod instance;
mod typed_struct;
mod walk;

pub(crate) use document_type::named_in;
pub use document_type::{Kind, kind_of};
pub use instance::{Document, Instance, ReadOptions};
pub(crate) use typed_struct::{holding, settled};
pub use walk::{Met, Named, Visit, named, walk};
