//! Elements that a file declares, at any depth.

use abide_schema::{Element, Field, File};

use super::upgrade_policy::UpgradePolicy;

/// The messages and enums of a file, those of maps included.
pub(crate) fn iter_types(file: File<'_>) -> impl Iterator<Item = Element<'_>> {
    file.all_messages().map(Element::Message).chain(file.all_enums().map(Element::Enum))
}

/// Collects the elements of a file that may be upgraded: its types, and its services where services
/// are.
pub(crate) fn iter_upgradable<'t>(
    policy: &UpgradePolicy,
    file: File<'t>,
) -> impl Iterator<Item = Element<'t>> + use<'t> {
    let services = policy.services.then(|| file.services().map(Element::Service));
    iter_types(file).chain(services.into_iter().flatten())
}

/// The extensions that a file declares, including those in messages.
pub(crate) fn iter_extensions<'t>(file: File<'t>) -> impl Iterator<Item = Field<'t>> {
    file.elements().filter_map(|it| match it {
        Element::Field(field) if field.is_extension() => Some(field),
        _ => None,
    })
}

/// Returns true if an element is declared, not a part of a map.
pub(crate) fn is_declared(element: Element<'_>) -> bool {
    match element {
        Element::Message(message) => !message.is_map_entry(),
        Element::Field(field) => !field.parent().is_some_and(|it| it.is_map_entry()),
        _ => true,
    }
}

/// The type of a field.
pub(crate) fn find_field_type(field: Field<'_>) -> Option<Element<'_>> {
    let field = match field.message_type().filter(|_| field.is_map()) {
        Some(entry) => entry.field_numbered(2)?,
        None => field,
    };
    let message = field.message_type().map(Element::Message);
    message.or(field.enum_type().map(Element::Enum))
}
