//! What an element is called in the next version.

use abide_schema::{Element, Migration};

use crate::removal::deprecated;

/// The name that says of the zero of an enum that it is gone: a zero cannot be
/// reserved.
pub(crate) const UNAVAILABLE: &str = "DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE";

/// The new name of an element, where it gets one.
pub(crate) fn renamed<'t>(element: Element<'t>) -> Option<&'t str> {
    element.migrations().into_iter().find_map(|(migration, _)| match migration {
        Migration::Rename(name) => Some(name),
        Migration::MoveToPackage(_) | Migration::PromoteToOneof(_) => None,
    })
}

/// The name of an element in the next version.
pub(crate) fn name_after<'t>(element: Element<'t>) -> &'t str {
    match element {
        // A zero that is deprecated cannot go, and only loses its name.
        Element::EnumValue(value) if value.number() == 0 && deprecated(element) => UNAVAILABLE,
        _ => renamed(element).unwrap_or(element.name()),
    }
}
