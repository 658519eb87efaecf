//! Facts about one element or file, whatever is on the other side.

use std::collections::BTreeMap;

use abide_schema::{Element, Enum, EnumId, Field, File, Method};

/// The key and the value of a map.
pub fn find_map_entries(field: Field<'_>) -> Option<[Field<'_>; 2]> {
    let entry = field.message_type().filter(|_| field.is_map())?;
    Some([entry.field_numbered(1)?, entry.field_numbered(2)?])
}

/// The field that holds the values: that of the entry for a map, else the field itself.
pub(crate) fn find_value_field(field: Field<'_>) -> Field<'_> {
    find_map_entries(field).map_or(field, |[_, value]| value)
}

/// The enum that a field holds; for a map, the enum of its values.
pub(crate) fn find_held_enum(field: Field<'_>) -> Option<EnumId> {
    let holds = match field.message_type().filter(|_| field.is_map()) {
        Some(entry) => entry.field_numbered(2)?,
        None => field,
    };
    holds.enum_type().map(|it| it.id)
}

/// The streaming of a method: true for requests and for responses if they are a stream.
pub(crate) fn read_streaming(method: Method<'_>) -> (bool, bool) {
    (method.decl().client_streaming, method.decl().server_streaming)
}

/// The printed name of each number of an enum: the first one.
pub fn collect_first_names(item: Enum<'_>) -> BTreeMap<i32, &str> {
    let mut names = BTreeMap::new();
    for value in item.values() {
        names.entry(value.number()).or_insert(value.name());
    }
    names
}

/// Returns what a file declares at its top level.
pub fn list_top_level<'t>(file: File<'t>) -> impl Iterator<Item = Element<'t>> {
    let messages = file.messages().map(Element::Message);
    let types = messages.chain(file.enums().map(Element::Enum));
    types.chain(file.services().map(Element::Service)).chain(file.extensions().map(Element::Field))
}

/// Returns true if an element can move to another file and be the same: a member stays with its
/// message, enum or service.
pub(crate) fn may_move(element: Element<'_>) -> bool {
    match element {
        Element::Message(_) | Element::Enum(_) | Element::Service(_) => true,
        Element::Field(field) => field.is_extension(),
        Element::Oneof(_) | Element::EnumValue(_) | Element::Method(_) => false,
    }
}

/// Returns true if the full names of two messages, enums or services are one.
pub(crate) fn have_equal_names(old: Element<'_>, new: Element<'_>) -> bool {
    match (old.parent(), new.parent()) {
        _ if old.name() != new.name() => false,
        (Some(old), Some(new)) => have_equal_names(old, new),
        (None, None) => old.package().name() == new.package().name(),
        // A package may be called like a message.
        _ => old.full_name() == new.full_name(),
    }
}

/// The name of a file without its folders.
pub fn base_name(file: File<'_>) -> &str {
    file.path().rsplit('/').next().unwrap_or_else(|| file.path())
}
