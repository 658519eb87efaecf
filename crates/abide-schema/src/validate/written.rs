//! Options as they are written, before they are interpreted: what the checks
//! of the language itself need to know of them.

use abide_syntax::{KeyForm, NamePart, OptionNode, Span, ValueId, ValueKind};

use crate::decl::{FileDecl, RawOptions};

/// An option that protobuf itself declares, set to a plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// The characters of the value.
    pub(crate) value: &'a [u8],
    /// From the name to the value.
    pub(crate) span: Span,
}

impl Setting<'_> {
    pub(crate) fn is_true(self) -> bool {
        self.value == b"true"
    }
}

/// The last setting of an option with this one-word name.
pub(crate) fn setting<'a>(
    decl: &'a FileDecl,
    options: RawOptions,
    name: &str,
) -> Option<Setting<'a>> {
    let (RawOptions::Syntax(slice), Some(ast)) = (options, decl.ast()) else { return None };
    let text: &[u8] = decl.strings.text();
    decl.option_ids[slice.range()].iter().rev().find_map(|&id| {
        let option = &ast.options[id as usize];
        let value = ast.values[option.value as usize].span;
        (option.name.of(text) == name.as_bytes())
            .then(|| Setting { value: value.of(text), span: option.name.to(value) })
    })
}

/// Whether an option is set to `true`.
pub(crate) fn flag(decl: &FileDecl, options: RawOptions, name: &str) -> bool {
    setting(decl, options, name).is_some_and(Setting::is_true)
}

/// Every option of an element with the parts of its name.
pub(crate) fn options<'a>(
    decl: &'a FileDecl,
    options: RawOptions,
) -> impl Iterator<Item = (&'a OptionNode, &'a [NamePart])> {
    let (ids, ast) = match (options, decl.ast()) {
        (RawOptions::Syntax(slice), Some(ast)) => (&decl.option_ids[slice.range()], Some(ast)),
        _ => (&[][..], None),
    };
    ids.iter().filter_map(move |&id| {
        let ast = ast?;
        let option = &ast.options[id as usize];
        Some((option, ast.parts(option)))
    })
}

/// Calls `each` with the name, the value and the place of every feature of
/// protobuf itself that an element sets: `features.x = V`, and `x: V` in
/// `features = { … }`.
pub(crate) fn features<'a>(
    decl: &'a FileDecl,
    raw: RawOptions,
    mut each: impl FnMut(&'a [u8], &'a [u8], Span),
) {
    let Some(ast) = decl.ast() else { return };
    let text: &[u8] = decl.strings.text();
    let word = |id: ValueId| match ast.values[id as usize].kind {
        ValueKind::Ident { negative: false, word } => word.of(text),
        _ => b"",
    };
    for (option, parts) in options(decl, raw) {
        let [first, rest @ ..] = parts else { continue };
        if first.extension || first.name.of(text) != b"features" {
            continue;
        }
        if let [feature] = rest {
            let place = option.name.to(ast.values[option.value as usize].span);
            each(feature.name.of(text), word(option.value), place);
        } else if rest.is_empty() {
            for field in ast.value_children(option.value) {
                let node = ast.values[field as usize];
                if let ValueKind::Field { key, form: KeyForm::Field } = node.kind {
                    each(key.of(text), word(field + 1), node.span);
                }
            }
        }
    }
}
