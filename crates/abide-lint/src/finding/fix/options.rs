//! Fixes that set options.

use abide_schema::{Element, Place, RawOptions};
use abide_syntax::{DeclId, DeclKind, OptionNode, Span};
use abide_upgrade::Edit;

use super::Fix;
use super::source_text::SourceText;

/// Sets `deprecated = true` where an element has the option at a place.
pub(crate) fn with_deprecated(element: Element<'_>, beside: Place) -> Option<Fix> {
    let source = SourceText::of(element.file())?;
    let options: Vec<OptionNode> = options(element, source);
    let is_deprecated = |it: &&OptionNode| it.name.of(source.text) == b"deprecated";
    let edit = match options.iter().find(is_deprecated) {
        Some(false_one) => {
            let value = source.ast.values.get(false_one.value as usize)?.span;
            Edit::replace(value, "true")
        }
        None => {
            let holds = |it: &&OptionNode| {
                it.span.start <= beside.span.start && beside.span.end <= it.span.end
            };
            let option = options.iter().find(holds)?;
            let is_statement = |kind| {
                matches!(kind, DeclKind::Option(id)
                if source.ast.options.get(id as usize).is_some_and(|it| it.span == option.span))
            };
            match source.ast.decls.iter().any(|it| is_statement(it.kind)) {
                true => source.addition_before(option.span.start, "option deprecated = true;"),
                false => source.addition_before(option.span.start, "deprecated = true,"),
            }
        }
    };
    Some(Fix::of_file(element.file(), "add `deprecated = true`", [edit]))
}

/// The options of an element as written.
pub(super) fn options(element: Element<'_>, source: SourceText<'_>) -> Vec<OptionNode> {
    let raw = match element {
        Element::Message(it) => it.decl().options,
        Element::Field(it) => it.decl().options,
        Element::Oneof(it) => it.decl().options,
        Element::Enum(it) => it.decl().options,
        Element::EnumValue(it) => it.decl().options,
        Element::Service(it) => it.decl().options,
        Element::Method(it) => it.decl().options,
    };
    let RawOptions::Syntax(slice) = raw else { return Vec::new() };
    let ids = element.file().decl().option_ids.get(slice.range()).unwrap_or_default();
    ids.iter().filter_map(|&id| source.ast.options.get(id as usize).copied()).collect()
}

/// Adds options, each written as `name = value`, where an element has its own: before the first of
/// them, behind the number of a field or an enum value, or at the top of a body, which a method may
/// still need.
pub(super) fn option_addition(
    source: SourceText<'_>,
    element: Element<'_>,
    added: &[String],
) -> Option<Edit> {
    if added.is_empty() {
        return None;
    }
    let decl = source.ast.decls.get(element.node().0 as usize)?;
    let in_brackets = match decl.kind {
        DeclKind::Field(node) => Some((node.number, node.options)),
        DeclKind::MapField(id) => {
            source.ast.maps.get(id as usize).map(|it| (it.number, it.options))
        }
        DeclKind::EnumValue { number, options, .. } => Some((number, options)),
        _ => None,
    };
    if let Some((number, own)) = in_brackets {
        let words = added.join(", ");
        // `default` and `json_name` are among them here.
        return Some(match source.ast.options.get(own.range()).and_then(<[_]>::first) {
            Some(first) => source.addition_before(first.span.start, &format!("{words},")),
            None => Edit::insert(number.end, format!(" [{words}]")),
        });
    }
    let statements: Vec<String> = added.iter().map(|it| format!("option {it};")).collect();
    let children: Vec<DeclId> = source.ast.children_of(Some(element.node().0)).collect();
    let indent = source.inner_indent(element, &children);
    let lines = || -> String {
        let newline = source.newline();
        let lines = statements.iter().map(|it| format!("{newline}{indent}{it}"));
        lines.collect::<String>() + newline + source.indent(decl.span.start)
    };
    match source.ast.body_of(decl) {
        // A method that ends with `;`.
        None => Some(Edit::replace(
            Span::new(decl.span.end - 1, decl.span.end),
            format!(" {{{}}}", lines()),
        )),
        Some(body) if children.is_empty() && is_blank_body(source, body) => {
            Some(Edit::replace(Span::new(body.start + 1, body.end - 1), lines()))
        }
        Some(_) => {
            let end = source.end_of_head(element.node())?;
            Some(source.addition_after(end, &indent, &statements))
        }
    }
}

/// Returns true if nothing stands in a body, not even a comment.
fn is_blank_body(source: SourceText<'_>, body: Span) -> bool {
    Span::new(body.start + 1, body.end - 1).of(source.text).iter().all(u8::is_ascii_whitespace)
}
