//! A file on its way to a later edition.

use abide_schema::{Edition, Place};
use abide_syntax::Span;

use crate::finding::fix::source_text::SourceText;

/// A file on its way to a later edition.
#[derive(Clone, Copy)]
pub(super) struct EditionMove<'t> {
    pub(super) source: SourceText<'t>,
    pub(super) from: Edition,
    pub(super) to: Edition,
}

impl EditionMove<'_> {
    /// Returns true if the move enters an edition: it was not in it, and will be in it or in a later
    /// one.
    pub(super) fn enters(self, edition: Edition) -> bool {
        self.from < edition && edition <= self.to
    }

    /// Returns true if the file had `syntax`, and not `edition`.
    pub(super) const fn leaves_syntax(self) -> bool {
        !self.from.is_edition()
    }

    pub(super) fn place(self, span: Span) -> Place {
        Place { file: self.source.file.id, span }
    }
}
