//! What keeps a file from another edition.

use abide_schema::{Edition, Place};
use thiserror::Error;

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
    /// A comment inside of the head of a group, which becomes two statements.
    #[error("a comment stands in the head of the group `{0}`, which becomes two: move the comment")]
    CommentInGroup(String),
    /// Edits that overlap.
    #[error("its statements are written in a way that no edit keeps: format the file first")]
    Entangled,
    /// A copy of `descriptor.proto` in the tree that lacks features of the edition.
    #[error(
        "this copy of protobuf's own file does not know {0}, so nothing can be carried there: remove \
         it, as protoc brings its own along, or copy a later one"
    )]
    OldDescriptor(Edition),
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
