//! Fixes that set options.

use abide_schema::{Element, Place, RawOptions};
use abide_syntax::{DeclKind, OptionNode};
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
fn options(element: Element<'_>, source: SourceText<'_>) -> Vec<OptionNode> {
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
