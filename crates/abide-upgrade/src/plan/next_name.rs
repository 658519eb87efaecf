//! Names of elements in the next version.

use abide_schema::{Element, Migration};

use super::removal::is_deprecated;

/// The name of a removed zero value of an enum, which cannot be reserved.
pub const UNAVAILABLE: &str = "DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE";

/// The new name of an element, if it is renamed.
pub(crate) fn find_new_name<'t>(element: Element<'t>) -> Option<&'t str> {
    element.migrations().into_iter().find_map(|(migration, _)| match migration {
        Migration::Rename(name) => Some(name),
        Migration::MoveToPackage(_) | Migration::PromoteToOneof(_) => None,
    })
}

/// The name of an element in the next version.
pub(crate) fn resolve_next_name<'t>(element: Element<'t>) -> &'t str {
    match element {
        // A deprecated zero value cannot be removed and only loses its name.
        Element::EnumValue(value) if value.number() == 0 && is_deprecated(element) => UNAVAILABLE,
        _ => find_new_name(element).unwrap_or(element.name()),
    }
}
