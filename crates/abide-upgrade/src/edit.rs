//! Edits of texts, and of the options of a file.

mod file_policy;
mod outline;
mod recorded_facts;
mod text_edit;

pub use file_policy::{STATUS_PROTO, record_edits};
pub(crate) use outline::{Outline, StatementKey};
pub(crate) use recorded_facts::{FILE_POLICY, RECORD, cuts, names, recorded, unrecorded};
pub(crate) use text_edit::apply_to_proto;
pub use text_edit::{Edit, Overlap, apply};
