//! Places in a file that was read from a descriptor.

use abide_syntax::{Position, Span};

use crate::decl::{Node, Part};

/// The source info of a FileDescriptorProto, as far as it has one.
#[derive(Clone, Debug, Default)]
pub struct DescriptorLocations {}

impl DescriptorLocations {
    /// The lines and columns that a span of this file stands for.
    pub(crate) fn lines(&self, _span: Span) -> Option<(Position, Position)> {
        None
    }

    /// The span of a part of an element.
    pub(crate) fn span(&self, _node: Node, _part: Part) -> Span {
        Span::default()
    }
}
