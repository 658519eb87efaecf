//! The statements of a file and of its bodies that an edition writes in another way.

use abide_change::OptionOwner;
use abide_schema::{Edition, Element, RawOptions};
use abide_syntax::{
    DeclKind, ImportKind, KeyForm, OptionNode, Span, ValueId, ValueKind, skip_byte_order_mark,
};
use abide_upgrade::Edit;

use super::edition_move::EditionMove;
use super::feature_override::{FeatureOverride, FeatureOwner, format_aggregate};
use super::needed_overrides::FileOverrides;
use super::obstacle::{EditionObstacle, EditionObstacleReason};
use crate::finding::fix::imports::{first_statement, import_addition};
use crate::finding::fix::options::option_addition;

pub(super) fn edit_statements(
    moved: EditionMove<'_>,
    overrides: &FileOverrides<'_>,
    obstacles: &mut Vec<EditionObstacle>,
) -> Vec<Edit> {
    let mut edits = edit_syntax(moved);
    edits.extend(edit_imports(moved, overrides));
    edits.extend(edit_file_options(moved, overrides));
    for &(element, it) in &overrides.of_elements {
        let option = it.format_option(moved.source.file);
        match find_group_body(moved, element) {
            Some(body) => {
                let indent = format!("{}  ", moved.source.indent(body.start));
                let statement = [format!("option {option};")];
                edits.push(moved.source.addition_after(body.start + 1, &indent, &statement));
            }
            None => edits.extend(option_addition(moved.source, element, &[option])),
        }
    }
    if moved.leaves_syntax() {
        edits.extend(edit_reserved_names(moved, obstacles));
    }
    edits
}

/// The body of a message that is written as a group, of which the brackets are those of the field.
fn find_group_body(moved: EditionMove<'_>, element: Element<'_>) -> Option<Span> {
    let Element::Message(message) = element else { return None };
    let decl = moved.source.ast.decls.get(message.decl().node.0 as usize)?;
    match decl.kind {
        DeclKind::Field(node) => node.body(decl),
        _ => None,
    }
}

fn edit_syntax(moved: EditionMove<'_>) -> Vec<Edit> {
    let source = moved.source;
    let word = moved.to.word();
    for decl in &source.ast.decls {
        if let DeclKind::Syntax { value, edition } = decl.kind {
            let mut edits = vec![Edit::replace(value, format!("\"{word}\""))];
            if !edition {
                let keyword = Span::new(decl.span.start, decl.span.start + "syntax".len() as u32);
                edits.push(Edit::replace(keyword, "edition"));
            }
            return edits;
        }
    }
    let newline = source.newline();
    let statement = format!("edition = \"{word}\";{newline}{newline}");
    let at = first_statement(source).max(skip_byte_order_mark(source.text));
    vec![Edit::insert(at, statement)]
}

/// The imports that features need, and those without the word `weak`, which edition 2024 removed.
fn edit_imports(moved: EditionMove<'_>, overrides: &FileOverrides<'_>) -> Vec<Edit> {
    let source = moved.source;
    let mut edits = Vec::new();
    if moved.enters(Edition::Edition2024) {
        for decl in &source.ast.decls {
            if let DeclKind::Import { kind: ImportKind::Weak, modifier, path } = decl.kind {
                edits.push(Edit::delete(Span::new(modifier.start, path.start)));
            }
        }
    }
    let is_imported = |path: &str| source.file.decl().imports.iter().any(|it| *it.path == *path);
    let needed = overrides.owners().into_iter().filter_map(FeatureOwner::import);
    let missing: Vec<&str> = needed.filter(|it| !is_imported(it)).collect();
    if moved.to < Edition::Edition2024 {
        edits.extend(missing.iter().filter_map(|path| import_addition(source, path)));
        return edits;
    }
    let statements: Vec<String> =
        missing.iter().map(|path| format!("import option \"{path}\";")).collect();
    if !statements.is_empty() {
        edits.push(add_behind_head(
            moved,
            source.file.imports().map(|it| it.decl.node.0),
            &statements,
        ));
    }
    edits
}

/// Adds statements behind the last of others, or in a block of their own below the package.
fn add_behind_head(
    moved: EditionMove<'_>,
    others: impl Iterator<Item = u32>,
    statements: &[String],
) -> Edit {
    let source = moved.source;
    let newline = source.newline();
    let end_of = |id| (source.end_of_statement(id), id);
    let last = others.map(end_of).max_by_key(|it| it.1).and_then(|it| it.0);
    if let Some(end) = last {
        return source.addition_after(end, "", statements);
    }
    let decl = source.file.decl();
    let head = decl.package.map(|it| it.node).or(decl.syntax.map(|it| it.node));
    match head.and_then(|node| source.end_of_statement(node.0)) {
        Some(end) => source.addition_after(end, newline, &[statements.join(newline)]),
        None => {
            let text = format!("{}{newline}{newline}", statements.join(newline));
            Edit::insert(first_statement(source), text)
        }
    }
}

/// The options of a file that go, and the features that come.
fn edit_file_options(moved: EditionMove<'_>, overrides: &FileOverrides<'_>) -> Vec<Edit> {
    let source = moved.source;
    let file = source.file;
    let mut edits = Vec::new();
    let mut statements = Vec::new();
    if moved.enters(Edition::Edition2024)
        && OptionOwner::File(file).standard("java_outer_classname").is_none()
    {
        let class = file.default_java_outer_class();
        statements.push(format!("option java_outer_classname = \"{class}\";"));
    }
    statements.extend(add_features(moved, &overrides.of_file, &mut edits));
    let is_removed = |it: &&OptionNode| is_removed_option(moved, it.name.str(source.text));
    let own = list_file_options(moved);
    let mut removed: Vec<OptionNode> = own.iter().filter(is_removed).copied().collect();
    // A statement that goes makes room for one that comes, unless a comment is about it.
    if let (Some(&first), false) = (removed.first(), statements.is_empty())
        && !has_comment(moved, first)
    {
        removed.remove(0);
        edits.push(Edit::replace(first.span, statements.join(source.newline())));
        statements.clear();
    }
    edits.extend(removed.iter().map(|it| source.removal(it.span)));
    if statements.is_empty() {
        return edits;
    }
    let kept = own.iter().filter(|it| !removed.iter().any(|gone| gone.span == it.span));
    let nodes: Vec<u32> = kept.filter_map(|it| find_statement(moved, *it)).collect();
    match nodes.is_empty() {
        false => edits.push(add_behind_head(moved, nodes.into_iter(), &statements)),
        true => {
            let imports: Vec<u32> = file.imports().map(|it| it.decl.node.0).collect();
            let lead = if imports.is_empty() { "" } else { source.newline() };
            let block = format!("{lead}{}", statements.join(source.newline()));
            edits.push(add_behind_head(moved, imports.into_iter(), &[block]));
        }
    }
    edits
}

fn is_removed_option(moved: EditionMove<'_>, name: &str) -> bool {
    match name {
        "java_multiple_files" => moved.enters(Edition::Edition2024),
        "cc_enable_arenas" => moved.enters(Edition::Edition2026),
        "java_string_check_utf8" => moved.leaves_syntax(),
        _ => false,
    }
}

fn list_file_options(moved: EditionMove<'_>) -> Vec<OptionNode> {
    let decl = moved.source.file.decl();
    let RawOptions::Syntax(slice) = decl.options else { return Vec::new() };
    let ids = decl.option_ids.get(slice.range()).unwrap_or_default();
    ids.iter().map(|&id| moved.source.ast.options[id as usize]).collect()
}

/// The declaration of an option statement.
fn find_statement(moved: EditionMove<'_>, option: OptionNode) -> Option<u32> {
    let decls = &moved.source.ast.decls;
    let at = decls.iter().position(|decl| match decl.kind {
        DeclKind::Option(id) => moved.source.ast.options[id as usize].span == option.span,
        _ => false,
    });
    at.map(|it| it as u32)
}

fn has_comment(moved: EditionMove<'_>, option: OptionNode) -> bool {
    let Some(id) = find_statement(moved, option) else { return true };
    let comments = moved.source.file.decl().comments(abide_schema::Node(id));
    comments.leading.is_some() || comments.trailing.is_some()
}

/// The statements that override features of a file. What an aggregate of the file says already gets
/// its features there.
fn add_features(
    moved: EditionMove<'_>,
    of_file: &[FeatureOverride],
    edits: &mut Vec<Edit>,
) -> Vec<String> {
    let source = moved.source;
    let options = list_file_options(moved);
    let has_features =
        |it: &OptionNode| source.ast.name_parts(it)[0].name.of(source.text) == b"features";
    if !options.iter().any(has_features) {
        return match of_file {
            [] => Vec::new(),
            [one] => vec![format!("option {};", one.format_option(source.file))],
            _ => vec![format!("option features = {{ {} }};", format_aggregate(of_file))],
        };
    }
    let mut statements = Vec::new();
    for owned in of_file.chunk_by(|a, b| a.owner == b.owner) {
        let fields: Vec<String> = owned.iter().map(|it| it.format_field()).collect();
        match find_aggregate(moved, &options, owned[0].owner) {
            Some((value, true)) => edits.push(add_fields(moved, value, &fields.join(", "))),
            Some((value, false)) => {
                edits.push(add_fields(moved, value, &format_aggregate(owned)));
            }
            None => {
                let options = owned.iter().map(|it| it.format_option(source.file));
                statements.extend(options.map(|it| format!("option {it};")));
            }
        }
    }
    statements
}

/// The aggregate that the features of an owner have to be in, and true if it is of this owner alone.
fn find_aggregate(
    moved: EditionMove<'_>,
    options: &[OptionNode],
    owner: FeatureOwner,
) -> Option<(ValueId, bool)> {
    let source = moved.source;
    let is_own = |name: &str| owner.extension() == Some(name.trim_start_matches('.'));
    for option in options {
        let [first, rest @ ..] = source.ast.name_parts(option) else { continue };
        let value = &source.ast.values[option.value as usize];
        if first.name.of(source.text) != b"features" || value.kind != ValueKind::Message {
            continue;
        }
        if let [part] = rest {
            if part.extension && is_own(part.name.str(source.text)) {
                return Some((option.value, true));
            }
            continue;
        }
        for field in source.ast.value_children(option.value) {
            if let ValueKind::Field { key, form: KeyForm::Extension } =
                source.ast.values[field as usize].kind
                && is_own(key.str(source.text).trim_matches(['[', ']', ' ']))
            {
                return Some((field + 1, true));
            }
        }
        return Some((option.value, owner == FeatureOwner::Core));
    }
    None
}

/// Adds fields at the top of an aggregate.
fn add_fields(moved: EditionMove<'_>, value: ValueId, fields: &str) -> Edit {
    let source = moved.source;
    let span = source.ast.values[value as usize].span;
    let inside = Span::new(span.start + 1, span.end - 1).str(source.text);
    let blank = &inside[..inside.len() - inside.trim_start().len()];
    let is_empty = inside.trim().is_empty();
    let (lead, gap) = match blank.contains('\n') {
        true => (blank, ""),
        false => (" ", if blank.is_empty() { " " } else { "" }),
    };
    let comma = if is_empty { "" } else { "," };
    Edit::insert(span.start + 1, format!("{lead}{fields}{comma}{gap}"))
}

/// Reserved names have no quotes in editions.
fn edit_reserved_names(moved: EditionMove<'_>, obstacles: &mut Vec<EditionObstacle>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for it in &moved.source.file.decl().reserved_names {
        let name = moved.source.file.decl().str(it.name);
        let mut letters = name.bytes();
        let begins = letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
        if begins && letters.all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            edits.push(Edit::replace(it.span, name));
        } else {
            let reason = EditionObstacleReason::ReservedName(name.to_owned());
            obstacles.push(EditionObstacle { place: moved.place(it.span), reason });
        }
    }
    edits
}
