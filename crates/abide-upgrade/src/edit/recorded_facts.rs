//! Facts that a file records about itself, which differ in its candidate.

use abide_schema::File;
use abide_syntax::{Ast, DeclKind, Lexer, OptionNode, Span, TokenKind, ValueId, ValueKind, parse};

use super::file_policy::STATUS_PROTO;
use super::text_edit::{Edit, apply_to_proto};

/// The annotation that records it.
pub(crate) const FILE_POLICY: &str = "abide.annotations.v1.file_policy";

/// The fields of the annotation that record it.
pub(crate) const RECORDED_FIELDS: &[&str] = &["frozen", "hash", "introduced", "version"];

/// The facts that a file records.
pub(crate) fn read_recorded_facts(file: File<'_>) -> Vec<(&'static str, String)> {
    let policy = file
        .options()
        .and_then(|it| it.find_extension(file.tree, FILE_POLICY))
        .and_then(|it| it.value.as_message());
    let text = |name: &&'static str| {
        let value = policy?.get(file.tree, name)?.value.as_str()?;
        Some((*name, value.to_owned()))
    };
    RECORDED_FIELDS.iter().filter_map(text).collect()
}

/// Returns true if an option, as written, is the annotation with this full name.
pub(crate) fn is_option_named(full: &str, written: &str) -> bool {
    let written = written.trim_start_matches('.');
    full.strip_suffix(written).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The spans to remove from the aggregate value of an option to remove the meant
/// fields, separators included. `None` if nothing of the value would be left.
pub(crate) fn find_field_cuts(
    ast: &Ast,
    text: &[u8],
    option: &OptionNode,
    is_meant: impl Fn(&str) -> bool,
) -> Option<Vec<Span>> {
    let value = &ast.values[option.value as usize];
    if value.kind != ValueKind::Message || option.parts.range().len() != 1 {
        return Some(Vec::new());
    }
    let goes = |id: &ValueId| match ast.values[*id as usize].kind {
        ValueKind::Field { key, .. } => is_meant(key.str(text)),
        _ => false,
    };
    let fields: Vec<ValueId> = ast.value_children(option.value).collect();
    if !fields.is_empty() && fields.iter().all(goes) {
        return None;
    }
    let mut cuts = Vec::new();
    // The end of the last field that stays.
    let mut end = value.span.start + 1;
    for id in fields {
        let span = ast.values[id as usize].span;
        let token = Lexer::new(text, span.end).next_token();
        let parted = matches!(token.kind, TokenKind::Symbol(b',' | b';'));
        if !goes(&id) {
            end = span.end;
        } else if parted && end == value.span.start + 1 {
            // The next field takes the place of the first one.
            let rest = &text[token.span.end as usize..];
            let space = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
            cuts.push(Span::new(span.start, token.span.end + space as u32));
        } else if parted {
            let before = Span::new(0, span.start).of(text).trim_ascii_end().len();
            cuts.push(Span::new(before as u32, token.span.end));
        } else {
            cuts.push(Span::new(end, span.end));
        }
    }
    Some(cuts)
}

/// A text without its record, and without the import of the annotation for it.
pub(crate) fn remove_recorded_facts(text: &[u8]) -> Vec<u8> {
    let (ast, _) = parse(text);
    let mut edits = Vec::new();
    for id in ast.children_of(None) {
        let decl = &ast.decls[id as usize];
        let option = match decl.kind {
            DeclKind::Option(option) => &ast.options[option as usize],
            DeclKind::Import { .. } => {
                if decl.span.str(text).contains(STATUS_PROTO) {
                    edits.push(Edit::delete(decl.span));
                }
                continue;
            }
            _ => continue,
        };
        let parts = ast.name_parts(option);
        let Some(first) = parts.first().filter(|it| it.extension) else { continue };
        if !is_option_named(FILE_POLICY, first.name.str(text)) {
            continue;
        }
        let is_recorded = |name: &str| RECORDED_FIELDS.contains(&name);
        let second = parts.get(1).map(|part| part.name.str(text));
        match find_field_cuts(&ast, text, option, is_recorded) {
            Some(cuts) if !second.is_some_and(is_recorded) => {
                edits.extend(cuts.into_iter().map(Edit::delete));
            }
            _ => edits.push(Edit::delete(decl.span)),
        }
    }
    apply_to_proto(text, edits).unwrap_or_else(|_| text.to_vec())
}
