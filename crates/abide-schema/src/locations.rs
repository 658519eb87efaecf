//! Places in a file that was read from a descriptor.

use abide_syntax::{Position, Span};

use crate::comments::AttachedComments;
use crate::decl::{Node, Part};

/// The source info of a FileDescriptorProto, as far as it has one.
#[derive(Clone, Debug, Default)]
pub struct DescriptorLocations {}

impl DescriptorLocations {
    /// The lines and columns that a span of this file stands for.
    pub(crate) fn lines(&self, _span: Span) -> Option<(Position, Position)> {
        None
    }

    /// Where the serialised source info stands in the file's bytes.
    pub(crate) fn serialised(&self) -> Option<Span> {
        None
    }

    /// The comments of an element.
    pub(crate) fn comments(&self, _node: Node) -> AttachedComments {
        AttachedComments::default()
    }

    /// The span of a part of an element.
    pub(crate) fn span(&self, _node: Node, _part: Part) -> Span {
        Span::default()
    }
}
