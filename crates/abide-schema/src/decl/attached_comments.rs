//! Comments and the elements they belong to.
//!
//! Which comment belongs to what is decided as in protoc: a [`CommentGap`] sorts the
//! comments between two tokens, and `Parser::TryConsumeEndOfDeclaration` hands
//! them out.

use abide_syntax::{Ast, CommentGap, Decl, DeclId, DeclKind, Span};

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
    /// Its place, marks included; empty where it came from a descriptor.
    pub span: Span,
}

/// The comments before a declaration. Those that are detached before lone
/// semicolons add up, as in protoc.
pub(crate) fn collect_comments_before(text: &[u8], ast: &Ast, mut id: DeclId) -> CommentGap {
    let gap = |id: DeclId| match id {
        0 => CommentGap::read_at_start(text, ast.decls[0].gap),
        _ => CommentGap::read_after(text, ast.decls[id as usize].gap),
    };
    let mut found = gap(id);
    while let Some(previous) = id.checked_sub(1) {
        let Decl { kind: DeclKind::Empty, span, .. } = ast.decls[previous as usize] else { break };
        if span.end != ast.decls[id as usize].gap {
            break;
        }
        found.detached.splice(0..0, gap(previous).detached);
        id = previous;
    }
    found
}

/// The end of the token behind which a comment still belongs to the
/// declaration: its `{`, where it has one, else its `;`.
pub(crate) fn find_declaration_end(ast: &Ast, decl: &Decl) -> u32 {
    ast.body_of(decl).map_or(decl.span.end, |body| body.start + 1)
}
