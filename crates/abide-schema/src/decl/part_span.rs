//! Places of the parts of a declaration in the syntax tree.

use abide_syntax::{Ast, Decl, DeclId, DeclKind, FieldNode, Slice, Span};

use super::{Node, Part};

/// The span of a part of a declaration.
pub(super) fn find_part_span(ast: &Ast, text: &[u8], node: Node, part: Part) -> Span {
    let Some(decl) = ast.decls.get(node.0 as usize) else { return ast.span };
    let name = match decl.kind {
        DeclKind::Syntax { value, .. } => value,
        DeclKind::Package { name }
        | DeclKind::Message { name, .. }
        | DeclKind::Enum { name, .. }
        | DeclKind::Service { name, .. }
        | DeclKind::Oneof { name, .. }
        | DeclKind::EnumValue { name, .. } => name,
        DeclKind::Import { path, .. } => path,
        DeclKind::Extend { extendee, .. } => extendee,
        DeclKind::Field(field) => field.name,
        DeclKind::MapField(map) => ast.maps[map as usize].name,
        DeclKind::Method(method) => ast.methods[method as usize].name,
        DeclKind::Option(_)
        | DeclKind::Extensions { .. }
        | DeclKind::ReservedNumbers { .. }
        | DeclKind::ReservedNames { .. }
        | DeclKind::Empty
        | DeclKind::Error => decl.span,
    };
    match (part, decl.kind) {
        (Part::Name, _) => name,
        (Part::Head, _) => Span::new(decl.span.start, name.end.max(decl.span.start)),
        (Part::Number, DeclKind::Field(field)) => field.number,
        (Part::Number, DeclKind::MapField(map)) => ast.maps[map as usize].number,
        (Part::Number, DeclKind::EnumValue { number, .. }) => number,
        (Part::Type, DeclKind::Field(field)) => field.ty,
        (Part::Type, DeclKind::MapField(map)) => ast.maps[map as usize].value,
        (Part::Label, DeclKind::Field(FieldNode { label: Some(label), .. })) => label.span(decl),
        (Part::Extendee, DeclKind::Field(_) | DeclKind::MapField(_)) => {
            find_extendee(ast, node.0).unwrap_or(name)
        }
        (Part::Input, DeclKind::Method(method)) => ast.methods[method as usize].input,
        (Part::Output, DeclKind::Method(method)) => ast.methods[method as usize].output,
        (Part::Default, DeclKind::Field(field)) => {
            find_option_span(ast, text, field.options, b"default").unwrap_or(decl.span)
        }
        (Part::JsonName, DeclKind::Field(FieldNode { options, .. })) => {
            find_option_span(ast, text, options, b"json_name").unwrap_or(decl.span)
        }
        (Part::JsonName, DeclKind::MapField(map)) => {
            let options = ast.maps[map as usize].options;
            find_option_span(ast, text, options, b"json_name").unwrap_or(decl.span)
        }
        _ => decl.span,
    }
}

/// The span of an option with this name in a list.
fn find_option_span(ast: &Ast, text: &[u8], list: Slice, name: &[u8]) -> Option<Span> {
    let options = &ast.options[list.range()];
    options.iter().find(|option| option.name.of(text) == name).map(|option| option.span)
}

/// The extended type of the `extend` block around a field.
fn find_extendee(ast: &Ast, field: DeclId) -> Option<Span> {
    let before = ast.extends.partition_point(|&id| id < field);
    ast.extends[..before].iter().rev().find_map(|&id| match ast.decls[id as usize] {
        Decl { kind: DeclKind::Extend { extendee, .. }, end, .. } if end > field => Some(extendee),
        _ => None,
    })
}
