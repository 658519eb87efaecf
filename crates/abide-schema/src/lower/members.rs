//! The members of a scope, told apart by what they are.

use abide_syntax::{Ast, DeclId, DeclKind, FieldNode, OptionId};

use crate::decl::MessageKind;

/// The members of a scope, in the order of the text.
#[derive(Default)]
pub(super) struct ScopeMembers {
    pub(super) fields: Vec<ScopeMember>,
    pub(super) extensions: Vec<ScopeMember>,
    pub(super) oneofs: Vec<DeclId>,
    pub(super) messages: Vec<(DeclId, MessageKind)>,
    pub(super) enums: Vec<DeclId>,
    pub(super) extension_ranges: Vec<DeclId>,
    pub(super) reserved_ranges: Vec<DeclId>,
    pub(super) reserved_names: Vec<DeclId>,
    pub(super) options: Vec<OptionId>,
}

impl ScopeMembers {
    /// Without members, but with the same capacity.
    pub(super) fn clear(mut self) -> ScopeMembers {
        self.fields.clear();
        self.extensions.clear();
        self.oneofs.clear();
        self.messages.clear();
        self.enums.clear();
        self.extension_ranges.clear();
        self.reserved_ranges.clear();
        self.reserved_names.clear();
        self.options.clear();
        self
    }
}

/// A field of a scope.
pub(super) struct ScopeMember {
    pub(super) decl: DeclId,
    /// The index of its oneof within the message.
    pub(super) oneof: Option<u32>,
    /// The `extend` block it is in.
    pub(super) extend: Option<DeclId>,
    /// The index of its group or map entry within the scope.
    pub(super) message: Option<u32>,
}

pub(super) fn is_field(ast: &Ast, id: DeclId) -> bool {
    matches!(ast.decls[id as usize].kind, DeclKind::Field(_) | DeclKind::MapField(_))
}

pub(super) fn make_member(
    ast: &Ast,
    decl: DeclId,
    oneof: Option<u32>,
    extend: Option<DeclId>,
    messages: &mut Vec<(DeclId, MessageKind)>,
) -> ScopeMember {
    let kind = match ast.decls[decl as usize].kind {
        DeclKind::Field(FieldNode { group: Some(_), .. }) => Some(MessageKind::Group),
        DeclKind::MapField(_) => Some(MessageKind::MapEntry),
        _ => None,
    };
    let message = kind.map(|kind| {
        messages.push((decl, kind));
        messages.len() as u32 - 1
    });
    ScopeMember { decl, oneof, extend, message }
}
