//! The comments of a declaration.

use abide_syntax::Span;

use super::{FileDecl, Node, Origin};
use crate::comments::{AttachedComments, Comment, Gap, Run, before, end_of_declaration};

impl FileDecl {
    /// The comments of a declaration. For a group they are those that protoc
    /// attaches to its message.
    pub fn comments(&self, node: Node) -> AttachedComments {
        if let Origin::Descriptor(locations) = &self.origin {
            return locations.comments(node);
        }
        let text = self.strings.text();
        let Some((before, trailing)) = self.runs(node) else { return AttachedComments::default() };
        let comment = |run: Run| Comment {
            text: String::from_utf8_lossy(&run.text(text)).into_owned(),
            span: run.span,
        };
        AttachedComments {
            leading: before.leading.map(comment),
            trailing: trailing.map(comment),
            detached: before.detached.into_iter().map(comment).collect(),
        }
    }

    /// Where the comments of a declaration stand in the source text.
    pub fn comment_spans(&self, node: Node) -> Vec<Span> {
        let Some((before, trailing)) = self.runs(node) else { return Vec::new() };
        let runs = before.leading.into_iter().chain(trailing).chain(before.detached);
        runs.map(|run| run.span).collect()
    }

    /// The comments before a declaration, and the one behind it.
    fn runs(&self, node: Node) -> Option<(Gap, Option<Run>)> {
        let ast = self.ast()?;
        let decl = ast.decls.get(node.0 as usize)?;
        let text = self.strings.text();
        let trailing = Gap::after(text, end_of_declaration(ast, decl)).trailing;
        Some((before(text, ast, node.0), trailing))
    }
}
