//! Comments and the elements they belong to.

use abide_syntax::Span;

/// The comments of an element, attached as protoc attaches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachedComments {
    /// The comment directly before it.
    pub leading: Option<Comment>,
    /// The comment behind it, on its line or the next.
    pub trailing: Option<Comment>,
    /// Comments before it that a blank line sets apart.
    pub detached: Vec<Comment>,
}

/// A comment or a run of line comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its text without marks, as protoc gives it in `SourceCodeInfo`.
    pub text: String,
    /// Where it stands, marks included; empty where it came from a descriptor.
    pub span: Span,
}
