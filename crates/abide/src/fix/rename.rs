//! Fixes that rename a member of a message or an enum.

use abide_schema::{Element, EnumValue, Field, Part};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::source_text::SourceText;
use super::{Applied, Fix};

/// Renames a field, a oneof or an enum value where it is declared. `None` for what other files
/// refer to by its name, and where that is no name.
pub(crate) fn renamed(element: Element<'_>, name: &str) -> Option<Fix> {
    let source = SourceText::of(element.file())?;
    let span = element.place(Part::Name).span;
    if !name.starts_with(|it: char| it.is_ascii_alphabetic())
        || span.of(source.text) != element.name().as_bytes()
    {
        return None;
    }
    let mut edits = vec![Edit::replace(span, name)];
    match element {
        Element::Field(field) if field.is_extension() => return None,
        Element::Field(_) | Element::Oneof(_) => {}
        Element::EnumValue(value) => edits.extend(defaults(source, value, name)),
        Element::Message(_) | Element::Enum(_) | Element::Service(_) | Element::Method(_) => {
            return None;
        }
    }
    let title = format!("rename it to `{name}`");
    Some(Fix::of_file(element.file(), title, edits).applied(Applied::IfCompatible))
}

/// The defaults of fields of the same file that are a value.
fn defaults(source: SourceText<'_>, value: EnumValue<'_>, name: &str) -> Vec<Edit> {
    let fields = source.file.all_fields();
    let of_enum = fields.filter(|it| it.enum_type().is_some_and(|it| it.id == value.parent().id));
    let old = value.name();
    let edit = |field: Field<'_>| {
        let span = field.place(Part::Default).span;
        let before = span.str(source.text).strip_suffix(old)?;
        let is_whole = before.is_empty() || before.ends_with(['=', ' ', '\t', '\n', '/']);
        let place = Span::new(span.end - old.len() as u32, span.end);
        (is_whole && field.decl().default().is_some()).then(|| Edit::replace(place, name))
    };
    of_enum.filter_map(edit).collect()
}
