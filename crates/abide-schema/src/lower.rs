//! Syntax trees to declarations.

use abide_syntax::{Ast, Span};

use crate::decl::{Node, Part};

pub(crate) fn part_span(_ast: &Ast, _node: Node, _part: Part) -> Span {
    Span::default()
}
