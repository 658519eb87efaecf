//! The statements of a file, each with the comments that belong to it.

use abide_schema::{FileDecl, Node};
use abide_syntax::{Ast, DeclId, DeclKind, Span};

/// The key that distinguishes a statement from its siblings: its kind, and its name or text.
pub(crate) type StatementKey = (&'static str, Vec<u8>);

/// The statements of a file that was read from source.
#[derive(Clone, Copy)]
pub(crate) struct FileOutline<'a> {
    pub(crate) decl: &'a FileDecl,
    pub(crate) ast: &'a Ast,
    pub(crate) text: &'a [u8],
}

impl<'a> FileOutline<'a> {
    /// `None` for a file that was not read from text.
    pub(crate) fn new(decl: &'a FileDecl) -> Option<FileOutline<'a>> {
        Some(FileOutline { decl, ast: decl.ast()?, text: decl.source_text()? })
    }

    pub(crate) fn children(self, parent: Option<DeclId>) -> Vec<DeclId> {
        self.ast.children_of(parent).collect()
    }

    /// From `{` to `}`, where a declaration has them.
    pub(crate) fn find_body(self, id: DeclId) -> Option<Span> {
        self.ast.body_of(&self.ast.decls[id as usize])
    }

    /// The end of the `{` of a declaration, including its comment.
    pub(crate) fn find_head_end(self, id: DeclId) -> u32 {
        let Some(body) = self.find_body(id) else { return self.find_end(id) };
        let trailing = self.decl.comments(Node(id)).trailing;
        trailing.map_or(body.start + 1, |comment| comment.span.end)
    }

    /// The end of a statement, including its comment unless it ends with `}`.
    pub(crate) fn find_end(self, id: DeclId) -> u32 {
        let end = self.ast.decls[id as usize].span.end;
        if self.find_body(id).is_some() {
            return end;
        }
        let trailing = self.decl.comments(Node(id)).trailing;
        trailing.map_or(end, |comment| comment.span.end)
    }

    /// The key that distinguishes a statement from its siblings: its kind and its name, or else all
    /// of its text without white space.
    pub(crate) fn build_key(self, id: DeclId) -> StatementKey {
        let decl = &self.ast.decls[id as usize];
        let (kind, name) = match decl.kind {
            DeclKind::Message { name, .. } => ("message", name),
            DeclKind::Enum { name, .. } => ("enum", name),
            DeclKind::Service { name, .. } => ("service", name),
            DeclKind::Oneof { name, .. } => ("oneof", name),
            DeclKind::Field(node) => ("field", node.name),
            DeclKind::MapField(map) => ("field", self.ast.maps[map as usize].name),
            DeclKind::EnumValue { name, .. } => ("value", name),
            DeclKind::Method(method) => ("method", self.ast.methods[method as usize].name),
            DeclKind::Package { .. } => ("package", Span::at(0)),
            _ => ("", decl.span),
        };
        let text = name.of(self.text).iter().copied();
        (kind, text.filter(|it| !it.is_ascii_whitespace()).collect())
    }
}
