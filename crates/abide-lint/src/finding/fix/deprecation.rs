//! Marks an element as deprecated, and says what to use instead.

use abide_schema::{Element, Node, Part};
use abide_syntax::{DeclKind, OptionNode, Span, ValueKind};
use abide_upgrade::Edit;
use jiff::civil::Date;
use thiserror::Error;

use super::Fix;
use super::imports::import_addition;
use super::options::{option_addition, options};
use super::source_text::SourceText;

/// The file of our own annotations, and its messages' packages.
const ANNOTATIONS: &str = "abide/annotations/v1/lifecycle.proto";
/// The file of Envoy's annotations of deprecated fields and enum values.
const ENVOY_ANNOTATIONS: &str = "envoy/annotations/deprecation.proto";

/// What users of a deprecated element do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeprecationAnswer<'a> {
    /// They use the element of this name: a full name, or that of a sibling.
    ReplacedBy(&'a str),
    /// They do without it, for this reason: a sentence or a part of one.
    Dropped(&'a str),
}

/// What a deprecation says.
#[derive(Clone, Copy, Debug)]
pub struct DeprecationNotice<'a> {
    /// What users do; `None` if nobody knows yet.
    pub answer: Option<DeprecationAnswer<'a>>,
    /// The day of the deprecation.
    pub since: Date,
    /// The version of the package, as `MAJOR.MINOR`, where Envoy's annotations want it.
    pub version: &'a str,
}

/// The reason why an element cannot be marked as deprecated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeprecationError {
    /// The descriptors of oneofs have no such option.
    #[error("a oneof has no option `deprecated`: deprecate its fields")]
    Oneof,
    /// The options of a group are those of its field.
    #[error("it is the type of a group: deprecate the field")]
    Group,
    /// The tree was read from descriptors.
    #[error("its file was read from a descriptor set, which has no text to edit")]
    NoText,
    /// It is marked already, in these words.
    #[error("it is deprecated already")]
    Already,
}

/// Marks an element as deprecated: by the option, by a comment, and with the annotations that the
/// tree already imports.
///
/// # Errors
///
/// If the element has no such option, no text, or is deprecated already.
pub fn deprecate(
    element: Element<'_>,
    notice: DeprecationNotice<'_>,
) -> Result<Fix, DeprecationError> {
    if let Element::Oneof(_) = element {
        return Err(DeprecationError::Oneof);
    }
    if element.deprecated().is_some() {
        return Err(DeprecationError::Already);
    }
    let source = SourceText::of(element.file()).ok_or(DeprecationError::NoText)?;
    let decl = source.ast.decls.get(element.node().0 as usize);
    let is_field = decl.is_some_and(|it| matches!(it.kind, DeclKind::Field(_)));
    if is_field && matches!(element, Element::Message(_)) {
        return Err(DeprecationError::Group);
    }
    let mut edits = Vec::new();
    let mut added = vec!["deprecated = true".to_owned()];
    let own = options(element, source);
    let set_before = own.iter().find(|it| it.name.of(source.text) == b"deprecated");
    if let Some(set_before) = set_before {
        let value = source.ast.values.get(set_before.value as usize);
        edits.extend(value.map(|it| Edit::replace(it.span, "true")));
        added.clear();
    }
    if let Some(import) = find_imported(element, ANNOTATIONS) {
        let (name, fields) = (policy_option(element), policy_fields(notice));
        match find_aggregate(source, &own, &name) {
            Some(start) => edits.push(Edit::insert(start, format!(" {}", fields.join(" ")))),
            None => {
                let split = fields.iter().filter_map(|field| field.split_once(": "));
                added.extend(split.map(|(field, value)| format!("({name}).{field} = {value}")));
            }
        }
        edits.extend(import.addition(source));
    } else if let Some(import) = find_imported(element, ENVOY_ANNOTATIONS) {
        let version = notice.version;
        let name = match element {
            Element::Field(_) => Some("deprecated_at_minor_version"),
            Element::EnumValue(_) => Some("deprecated_at_minor_version_enum"),
            _ => None,
        };
        added.extend(name.map(|it| format!("(envoy.annotations.{it}) = \"{version}\"")));
        edits.extend(name.and_then(|_| import.addition(source)));
    }
    edits.extend(option_addition(source, element, &added));
    // Last: in a text without lines, an import may come to the same place, and has no comment.
    edits.extend(comment_addition(source, element, notice));
    let title = format!("deprecate `{}`", element.name());
    Ok(Fix::of_file(element.file(), title, edits))
}

/// An annotation file that the tree imports.
struct AnnotationImport<'a> {
    path: &'a str,
    /// True if the file of the element imports it, too.
    is_here: bool,
}

impl AnnotationImport<'_> {
    fn addition(&self, source: SourceText<'_>) -> Option<Edit> {
        (!self.is_here).then(|| import_addition(source, self.path)).flatten()
    }
}

/// Returns the import of an annotation file, if any file of the tree has it: then whoever compiles
/// the tree has that file.
fn find_imported<'a>(element: Element<'_>, path: &'a str) -> Option<AnnotationImport<'a>> {
    let file = element.file();
    let mut judged = file.tree.files().filter(|it| it.is_judged());
    let is_here = file.decl().imports.iter().any(|it| &*it.path == path);
    let is_known =
        is_here || judged.any(|it| it.decl().imports.iter().any(|import| &*import.path == path));
    is_known.then_some(AnnotationImport { path, is_here })
}

/// The name of our annotation of an element, without parentheses.
fn policy_option(element: Element<'_>) -> String {
    let kind = match element {
        Element::Message(_) => "message",
        Element::Field(_) => "field",
        Element::Oneof(_) => "oneof",
        Element::Enum(_) => "enum",
        Element::EnumValue(_) => "enum_value",
        Element::Service(_) => "service",
        Element::Method(_) => "method",
    };
    format!("abide.annotations.v1.{kind}_policy")
}

/// The fields of our annotation, in the text format.
fn policy_fields(notice: DeprecationNotice<'_>) -> Vec<String> {
    let mut fields = vec![format!("deprecated_at: \"{}\"", notice.since)];
    fields.extend(match notice.answer {
        Some(DeprecationAnswer::ReplacedBy(name)) => Some(format!("replaced_by: \"{name}\"")),
        Some(DeprecationAnswer::Dropped(reason)) => {
            let reason = reason.replace('\\', "\\\\").replace('"', "\\\"");
            Some(format!("lossy: \"{reason}\""))
        }
        None => None,
    });
    fields
}

/// Returns where the fields of an annotation begin that is set as a whole already, behind its `{`.
fn find_aggregate(source: SourceText<'_>, own: &[OptionNode], name: &str) -> Option<u32> {
    let is_whole = |it: &&OptionNode| {
        let parts = source.ast.name_parts(it);
        parts.len() == 1 && parts[0].name.str(source.text).trim_start_matches('.') == name
    };
    let option = own.iter().find(is_whole)?;
    let value = source.ast.values.get(option.value as usize)?;
    matches!(value.kind, ValueKind::Message).then_some(value.span.start + 1)
}

/// The comment that says what to do instead, behind what the comment before the element says.
fn comment_addition(
    source: SourceText<'_>,
    element: Element<'_>,
    notice: DeprecationNotice<'_>,
) -> Option<Edit> {
    let words = match notice.answer? {
        DeprecationAnswer::ReplacedBy(name) => format!("Deprecated: use `{name}` instead."),
        DeprecationAnswer::Dropped(reason) => {
            format!("Deprecated without replacement: {}.", reason.trim().trim_end_matches('.'))
        }
    };
    let start = element.place(Part::Whole).span.start;
    let indent = source.indent(start);
    let leading = match element.node() {
        Node::NONE => None,
        node => element.file().decl().comments(node).leading,
    };
    match leading.map(|it| it.span) {
        Some(comment) if comment.of(source.text).starts_with(b"/*") => {
            Some(block_addition(source, comment, &words))
        }
        Some(comment) => Some(source.addition_after(comment.end, indent, &[format!("// {words}")])),
        None if source.begins_line(start) => {
            Some(source.addition_before(start, &format!("// {words}")))
        }
        // A comment on the line of what stands before belongs to that.
        None => {
            let before = Span::new(0, start).of(source.text);
            let blank = Span::new(before.trim_ascii_end().len() as u32, start);
            let gap = format!("{}{indent}  ", source.newline());
            Some(Edit::replace(blank, format!("{gap}// {words}{gap}")))
        }
    }
}

/// Adds a line to a block comment, before its end.
fn block_addition(source: SourceText<'_>, comment: Span, words: &str) -> Edit {
    let end = comment.end - 2;
    if source.begins_line(end) {
        let (indent, newline) = (source.indent(end), source.newline());
        return Edit::insert(end, format!("* {words}{newline}{indent}"));
    }
    let before = Span::new(comment.start, end).of(source.text);
    let gap = if before.ends_with(b" ") { "" } else { " " };
    Edit::insert(end, format!("{gap}{words} "))
}
