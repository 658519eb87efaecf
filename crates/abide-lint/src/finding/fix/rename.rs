//! Fixes that rename a member of a message or an enum.

use abide_schema::{Element, Part, Place};

use super::source_text::SourceText;
use super::{Applied, Fix, FixEdit};
use crate::finding::location::Location;

/// Renames a field, a oneof or an enum value, where it is declared and in every option that uses it.
/// `None` for a type or an extension, and where that is no name.
pub(crate) fn renamed(element: Element<'_>, name: &str) -> Option<Fix> {
    let source = SourceText::of(element.file())?;
    let span = element.place(Part::Name).span;
    if !name.starts_with(|it: char| it.is_ascii_alphabetic())
        || span.of(source.text) != element.name().as_bytes()
    {
        return None;
    }
    match element {
        Element::Field(field) if field.is_extension() => return None,
        Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) => {}
        Element::Message(_) | Element::Enum(_) | Element::Service(_) | Element::Method(_) => {
            return None;
        }
    }
    let edits = element.collect_renames(name).into_iter().map(|(file, span, text)| {
        let location = Location::tree(Place { file: file.id, span });
        FixEdit { location, text }
    });
    let title = format!("rename it to `{name}`");
    Some(Fix { title, applied: Applied::IfCompatible, edits: edits.collect() })
}
