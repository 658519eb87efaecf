//! Fixes that add and remove imports, and the statement above them.

use abide_schema::{File, Import, Node, Part};
use abide_syntax::{DeclKind, ImportKind, skip_byte_order_mark};
use abide_upgrade::Edit;

use super::source_text::SourceText;
use super::{Applied, Fix};

/// Removes an import. Where a comment says something about it, a person decides.
pub(crate) fn without_import(import: Import<'_>, file: File<'_>) -> Option<Fix> {
    let source = SourceText::of(file)?;
    let span = file.place_of(import.decl.node, Part::Whole).span;
    let fix = Fix::of_file(file, "remove the import", [source.removal(span)]);
    let comments = file.decl().comments(import.decl.node);
    let is_explained = comments.leading.is_some() || comments.trailing.is_some();
    Some(if is_explained { fix.applied(Applied::Never) } else { fix })
}

/// Adds an import, in the order of the others where they have one.
pub(crate) fn with_import(file: File<'_>, path: &str) -> Option<Fix> {
    let source = SourceText::of(file)?;
    let title = format!("add `import {};`", string_literal(path)?);
    Some(Fix::of_file(file, title, [import_addition(source, path)?]))
}

/// The edit that adds an import, as [`with_import`] does.
pub(super) fn import_addition(source: SourceText<'_>, path: &str) -> Option<Edit> {
    let statement = format!("import {};", string_literal(path)?);
    Some(new_import(source, path, statement))
}

/// A path in quotes. `None` for one that would have to be written with escapes: nobody has such a
/// file.
pub(crate) fn string_literal(path: &str) -> Option<String> {
    let is_plain = !path.contains(['"', '\\']) && !path.contains(char::is_control);
    is_plain.then(|| format!("\"{path}\""))
}

fn new_import(source: SourceText<'_>, path: &str, statement: String) -> Edit {
    let decl = source.file.decl();
    let span = |import: &Import<'_>| source.file.place_of(import.decl.node, Part::Whole).span;
    // In edition 2024 imports of options come last.
    let (options, plain): (Vec<_>, Vec<_>) =
        source.file.imports().partition(|it| it.decl.kind == ImportKind::Option);
    let is_sorted = plain.is_sorted_by_key(|it| &*it.decl.path);
    let next = plain.iter().find(|it| is_sorted && *it.decl.path > *path);
    let has_comment = |it: &&Import<'_>| decl.comments(it.decl.node).leading.is_some();
    if let Some(next) = next.filter(|it| !has_comment(it)) {
        return source.addition_before(span(next).start, &statement);
    }
    if let Some(last) = plain.last() {
        let end = source.end_of_statement(last.decl.node.0).unwrap_or(span(last).end);
        return source.addition_after(end, "", &[statement]);
    }
    if let Some(first) = options.first() {
        return source.addition_before(span(first).start, &statement);
    }
    let newline = source.newline();
    let head = decl.package.map(|it| it.node).or(decl.syntax.map(|it| it.node));
    match head.and_then(|node| source.end_of_statement(node.0)) {
        Some(end) => source.addition_after(end, newline, &[statement]),
        None => Edit::insert(first_statement(source), format!("{statement}{newline}{newline}")),
    }
}

/// Says that a file is written in proto2, which it is read as without any word.
pub(crate) fn with_syntax(file: File<'_>) -> Option<Fix> {
    let source = SourceText::of(file)?;
    let newline = source.newline();
    let statement = "syntax = \"proto2\";";
    let text = format!("{statement}{newline}{newline}");
    let edit = Edit::insert(first_statement(source), text);
    Some(Fix::of_file(file, format!("add `{statement}`"), [edit]))
}

/// Returns where a file begins to say something: behind its licence, before what documents its
/// first declaration.
pub(super) fn first_statement(source: SourceText<'_>) -> u32 {
    let Some(first) = source.ast.decls.first() else { return skip_byte_order_mark(source.text) };
    let documents = matches!(
        first.kind,
        DeclKind::Message { .. }
            | DeclKind::Enum { .. }
            | DeclKind::Service { .. }
            | DeclKind::Extend { .. }
    );
    let leading = source.file.decl().comments(Node(0)).leading;
    leading.filter(|_| documents).map_or(first.span, |it| it.span).start
}
