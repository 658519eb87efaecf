//! What an editor asks about a proto tree while it is edited.
//!
//! A [`Project`] holds the files of a tree, those of the old tree that it is compared with, and the
//! policy. It is told what changes ([`Project::set`], [`Project::remove`]) and answers with values:
//! findings, places, edits. Everything counts in bytes of a file; protocols and files on disk are
//! left to those who ask.

mod action;
mod analysis;
mod completion;
mod hover;
mod member_numbers;
mod navigation;
mod outline;
mod project;
mod rename;
mod syntax_at;
mod text_edit;

pub use action::{Action, ActionKind};
pub use analysis::{Analysis, Whole};
pub use completion::{Completion, CompletionKind};
pub use navigation::Occurrence;
pub use outline::{Fold, Link, OutlineItem, WorkspaceSymbol};
pub use project::{Judge, Project};
pub use rename::{Renamable, RenameRefusal};
pub use text_edit::{FileEdits, TextEdit};
