//! The comments of a declaration.

use abide_syntax::{CommentBlock, CommentGap, DeclId, DeclKind, Lexer, Span, TokenKind};

use super::{FileDecl, FileOrigin, Node};
use crate::decl::attached_comments::{
    AttachedComments, Comment, collect_comments_before, find_declaration_end,
};

impl FileDecl {
    /// The comments of a declaration. For a group they are those that protoc
    /// attaches to its message.
    pub fn comments(&self, node: Node) -> AttachedComments {
        if let FileOrigin::Descriptor(locations) = &self.origin {
            return locations.find_comments(node);
        }
        let Some((before, trailing)) = self.find_comment_blocks(node) else {
            return AttachedComments::default();
        };
        AttachedComments {
            leading: before.leading.map(|run| self.to_comment(run)),
            trailing: trailing.map(|run| self.to_comment(run)),
            detached: before.detached.into_iter().map(|run| self.to_comment(run)).collect(),
        }
    }

    fn to_comment(&self, run: CommentBlock) -> Comment {
        let text = run.text(self.strings.text());
        Comment { text: String::from_utf8_lossy(&text).into_owned(), span: run.span }
    }

    /// The comments at an option of a declaration, or of the file for [`Node::NONE`]: before it,
    /// behind its value, and behind the comma that follows. A descriptor has them at `path`, below
    /// the declaration.
    pub(crate) fn collect_comments_at_option(
        &self,
        node: Node,
        option: Span,
        path: [u32; 2],
    ) -> Vec<Comment> {
        if let FileOrigin::Descriptor(locations) = &self.origin {
            let found = locations.read_comments_at(node, &path);
            return found.leading.into_iter().chain(found.trailing).collect();
        }
        let Some(ast) = self.ast() else { return Vec::new() };
        let parent: Option<DeclId> = (node != Node::NONE).then_some(node.0);
        let holds = |outer: Span| outer.start <= option.start && option.end <= outer.end;
        let statement = ast.children_of(parent).find(|id| {
            let decl = ast.decls[*id as usize];
            matches!(decl.kind, DeclKind::Option(_)) && holds(decl.span)
        });
        if let Some(id) = statement {
            let found = self.comments(Node(id));
            return found.leading.into_iter().chain(found.trailing).collect();
        }
        let Some(decl) = ast.decls.get(node.0 as usize) else { return Vec::new() };
        let text = self.strings.text();
        let mut lexer = Lexer::new(text, decl.span.start);
        let (mut opens, mut before, mut token) = (false, decl.span.start, lexer.next_token());
        while token.span.end <= option.start && token.kind != TokenKind::End {
            opens = token.kind == TokenKind::Symbol(b'[');
            before = token.span.end;
            token = lexer.next_token();
        }
        let first = CommentGap::read_after(text, before);
        // What stands behind a bracket is about what it opens.
        let opening = first.trailing.filter(|_| opens);
        let behind = CommentGap::read_after(text, option.end);
        let next = Lexer::new(text, option.end).next_token();
        let is_comma = next.kind == TokenKind::Symbol(b',');
        let behind_comma =
            is_comma.then(|| CommentGap::read_after(text, next.span.end).trailing).flatten();
        let before = opening.into_iter().chain(first.detached).chain(first.leading);
        let after = behind.trailing.into_iter().chain(behind.detached).chain(behind_comma);
        before.chain(after).map(|run| self.to_comment(run)).collect()
    }

    /// Collects the places of the comments of a declaration in the source text.
    pub fn collect_comment_spans(&self, node: Node) -> Vec<Span> {
        let Some((before, trailing)) = self.find_comment_blocks(node) else { return Vec::new() };
        let runs = before.leading.into_iter().chain(trailing).chain(before.detached);
        runs.map(|run| run.span).collect()
    }

    /// The comments before a declaration, and the one behind it.
    fn find_comment_blocks(&self, node: Node) -> Option<(CommentGap, Option<CommentBlock>)> {
        let ast = self.ast()?;
        let decl = ast.decls.get(node.0 as usize)?;
        let text = self.strings.text();
        let trailing = CommentGap::read_after(text, find_declaration_end(ast, decl)).trailing;
        Some((collect_comments_before(text, ast, node.0), trailing))
    }
}
