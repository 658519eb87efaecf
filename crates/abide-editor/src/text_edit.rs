//! Edits of several files.

use abide_schema::{FileDecl, FileKey};
use abide_syntax::{DeclKind, Span};
pub use abide_upgrade::Edit as TextEdit;

/// The edits of one file; their spans count in its text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdits {
    /// The file.
    pub file: FileKey,
    /// Its edits, in order.
    pub edits: Vec<TextEdit>,
}

/// The end of line that a text uses.
pub(crate) fn detect_line_end(text: &[u8]) -> &'static str {
    match memchr::memchr(b'\n', text) {
        Some(at) if at > 0 && text.get(at - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// Finds the start of the line of an offset.
pub(crate) fn find_line_start(text: &[u8], offset: u32) -> u32 {
    let before = text.get(..offset as usize).unwrap_or(text);
    memchr::memrchr(b'\n', before).map_or(0, |at| at as u32 + 1)
}

/// The white space that the line of an offset begins with.
pub(crate) fn read_indent(text: &[u8], offset: u32) -> &str {
    let start = find_line_start(text, offset);
    let line = text.get(start as usize..).unwrap_or_default();
    let length = line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count() as u32;
    Span::new(start, start + length).str(text)
}

/// The edit that imports a path: after the imports that sort before it, else behind the statements
/// that come before imports.
pub(crate) fn add_import(decl: &FileDecl, path: &str) -> Option<TextEdit> {
    if decl.imports.iter().any(|it| &*it.path == path) || *decl.path == *path {
        return None;
    }
    let (ast, text) = (decl.ast()?, decl.source_text()?);
    let end = detect_line_end(text);
    let (mut before, mut first_import, mut head) = (None, None, None);
    for id in ast.children_of(None) {
        let Some(it) = ast.decls.get(id as usize) else { continue };
        match it.kind {
            DeclKind::Import { path: known, .. } => {
                first_import.get_or_insert(it.span);
                if known.str(text).trim_matches(['"', '\'']) < path {
                    before = Some(it.span);
                }
            }
            DeclKind::Syntax { .. } | DeclKind::Package { .. } => head = Some(it.span),
            _ => {}
        }
    }
    let statement = format!("import \"{path}\";");
    let behind = |span: Span| {
        let line = find_next_line(text, span.end);
        let is_last = line == text.len() as u32 && !text.ends_with(b"\n");
        (line, if is_last { end } else { "" })
    };
    Some(match (before, first_import, head) {
        (Some(span), ..) => {
            let (at, gap) = behind(span);
            TextEdit::insert(at, format!("{gap}{statement}{end}"))
        }
        (None, Some(span), _) => {
            TextEdit::insert(find_line_start(text, span.start), format!("{statement}{end}"))
        }
        (None, None, Some(span)) => {
            let (at, gap) = behind(span);
            TextEdit::insert(at, format!("{gap}{end}{statement}{end}"))
        }
        (None, None, None) => {
            TextEdit::insert(abide_syntax::skip_byte_order_mark(text), format!("{statement}{end}"))
        }
    })
}

/// One past the end of the line of an offset.
pub(crate) fn find_next_line(text: &[u8], offset: u32) -> u32 {
    let after = text.get(offset as usize..).unwrap_or_default();
    memchr::memchr(b'\n', after).map_or(text.len() as u32, |at| offset + at as u32 + 1)
}
