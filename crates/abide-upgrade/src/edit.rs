//! Edits of texts, and of the options of a file.

mod file_policy;
mod outline;
mod recorded_facts;
mod text_edit;

pub use file_policy::{STATUS_PROTO, build_record_edits};
pub(crate) use outline::{FileOutline, StatementKey};
pub(crate) use recorded_facts::{
    FILE_POLICY, RECORDED_FIELDS, find_field_cuts, is_option_named, read_recorded_facts,
    remove_recorded_facts,
};
pub(crate) use text_edit::apply_to_proto;
pub use text_edit::{Edit, Overlap, apply};
