//! Carries a file to a later edition without a change of what it means.

mod brackets;
mod feature_override;
mod groups;
mod needed_overrides;
mod statements;

use abide_schema::{Edition, File, Place};
use abide_upgrade::{Edit, apply};
use thiserror::Error;

use super::source_text::SourceText;
use brackets::edit_fields;
use groups::edit_groups;
use needed_overrides::FileOverrides;
use statements::edit_statements;

/// A place of a file that cannot be said in another edition, or not without a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditionObstacle {
    /// The place.
    pub place: Place,
    /// Why it is one.
    pub reason: EditionObstacleReason,
}

/// The reason why something cannot be carried to another edition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditionObstacleReason {
    /// The file was read from a descriptor.
    #[error("its file was read from a descriptor set, which has no text to edit")]
    NoText,
    /// A reserved name that no element can have.
    #[error("the reserved name `{0}` is no identifier, as editions ask: remove it")]
    ReservedName(String),
    /// `ctype = STRING_PIECE`.
    #[error("`ctype = STRING_PIECE` has no counterpart among the features of C++: remove it")]
    StringPiece,
    /// A comment inside of the head of a group, which becomes two statements.
    #[error("a comment stands in the head of the group `{0}`, which becomes two: move the comment")]
    CommentInGroup(String),
    /// Edits that overlap.
    #[error("its statements are written in a way that no edit keeps: format the file first")]
    Entangled,
    /// An error of the compiler that the file did not have.
    #[error("it would not compile: {0}")]
    NewError(String),
    /// A feature that would differ.
    #[error("`{feature}` of `{element}` would change")]
    FeatureChanged {
        /// The name of the feature.
        feature: &'static str,
        /// The full name of the element.
        element: String,
    },
    /// A hash that would differ.
    #[error("the semantic hash of `{0}` would change")]
    HashChanged(String),
    /// A finding about a break.
    #[error("it would break users: {0}")]
    Break(String),
}

/// The text of a file in a later edition.
///
/// Features are overridden where the edition has another default and the file has elements that the
/// feature is for: for the file where most of them want it, else at the elements.
///
/// # Errors
///
/// What cannot be written in the edition.
pub(crate) fn write_in_edition(
    file: File<'_>,
    edition: Edition,
) -> Result<Vec<u8>, Vec<EditionObstacle>> {
    let at_start = |reason| vec![EditionObstacle { place: file.package_place(), reason }];
    let Some(source) = SourceText::of(file) else {
        return Err(at_start(EditionObstacleReason::NoText));
    };
    let move_to = EditionMove { source, from: file.decl().edition, to: edition };
    let edits = move_to.collect_edits()?;
    apply(source.text, edits).map_err(|_| at_start(EditionObstacleReason::Entangled))
}

/// A file on its way to a later edition.
#[derive(Clone, Copy)]
struct EditionMove<'t> {
    source: SourceText<'t>,
    from: Edition,
    to: Edition,
}

impl EditionMove<'_> {
    fn collect_edits(self) -> Result<Vec<Edit>, Vec<EditionObstacle>> {
        let overrides = FileOverrides::find(self);
        let mut obstacles = Vec::new();
        let mut edits = edit_statements(self, &overrides, &mut obstacles);
        let mut fields = edit_fields(self, &overrides, &mut obstacles);
        edits.extend(fields.take_edits());
        edit_groups(self, &fields, &mut edits, &mut obstacles);
        if obstacles.is_empty() { Ok(edits) } else { Err(obstacles) }
    }

    /// Returns true if the move enters an edition: it was not in it, and will be in it or in a later
    /// one.
    fn enters(self, edition: Edition) -> bool {
        self.from < edition && edition <= self.to
    }

    /// Returns true if the file had `syntax`, and not `edition`.
    const fn leaves_syntax(self) -> bool {
        !self.from.is_edition()
    }

    fn place(self, span: abide_syntax::Span) -> Place {
        Place { file: self.source.file.id, span }
    }
}
