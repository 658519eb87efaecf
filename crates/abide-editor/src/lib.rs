//! Answers the questions of an editor about a proto tree while it is edited.
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

pub use action::{ActionKind, EditorAction};
pub use analysis::{TreeAnalysis, WholeCheck};
pub use completion::{CompletionKind, EditorCompletion};
pub use navigation::NameOccurrence;
pub use outline::{FoldableRange, ImportLink, OutlineItem, WorkspaceSymbol};
pub use project::{CheckInputs, Project};
pub use rename::{RenameRefusal, RenameTarget};
pub use text_edit::{FileEdits, TextEdit};
