//! The texts that an editor has open.

use std::path::PathBuf;

use abide_schema::FileKey;
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::encoding::{LineOffsets, PositionEncoding};
use super::project_root::TreeRoot;

/// A text that an editor has open, saved or not.
pub(super) struct OpenDocument {
    pub(super) uri: Uri,
    pub(super) path: PathBuf,
    pub(super) version: i32,
    pub(super) text: String,
    /// The tree that it belongs to.
    pub(super) home: TreeRoot,
    /// The file of that tree, once it is read.
    pub(super) key: Option<FileKey>,
}

impl OpenDocument {
    /// Makes the changes, one after the other. A range that the text does not have is cut to it.
    pub(super) fn apply_changes(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let span = LineOffsets::new(self.text.as_bytes(), encoding).span(range).range();
                    self.text.replace_range(span, &change.text);
                }
            }
        }
    }
}
