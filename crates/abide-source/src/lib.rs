//! Sources of trees, and files: reads trees from folders, git, archives, descriptor sets and programs,
//! and writes below one folder.
#![allow(clippy::disallowed_methods)] // This crate reads and writes files.

mod api;
mod bases;
mod bytes;
pub mod dependencies;
mod error;
mod kept;
mod load;
mod named_files;
pub mod printable;
mod program_call;
mod progress;
pub mod runtime_disk;
mod source;
mod steps;
pub mod write;

pub use api::Api;
pub use bases::{LoadedConfig, OutsideBase};
pub use error::{LoadError, NamedFileError};
pub use kept::{KeptRun, ReportCache};
pub use load::{
    ChangedFiles, ChangedRecords, LeftOut, LoadedTree, ParsedFiles, Reached, load, load_beside,
    load_both, load_changed, load_if_any, load_old, load_older, parse_old, parse_tree,
};
pub use named_files::{NamedFile, read_named_files};
pub use program_call::{CallError, CallLimits, CallOutput, call_program};
pub use progress::Progress;
pub use source::*;
pub use steps::{read_built_in_steps, read_steps};
