//! Decides which elements the next major version drops.

use abide_schema::{Element, EnumValue};

/// Returns true if an element itself is deprecated.
pub(crate) fn is_deprecated(element: Element<'_>) -> bool {
    element.deprecated().is_some()
}

/// Returns true if the next version does not have an element. Deprecated elements are
/// removed, except the zero value of an enum without another one and most
/// extensions. So is a oneof without remaining members.
pub(crate) fn is_removed(element: Element<'_>) -> bool {
    match element {
        // Numbers of extensions cannot be reserved, so an extension is only
        // removed together with its type.
        Element::Field(field) if field.is_extension() => {
            let message = field.message_type().map(Element::Message);
            let ty = message.or(field.enum_type().map(Element::Enum));
            is_deprecated(element) && ty.is_some_and(is_removed_with_parent)
        }
        Element::Message(_)
        | Element::Field(_)
        | Element::Enum(_)
        | Element::Service(_)
        | Element::Method(_) => is_deprecated(element),
        Element::EnumValue(value) => {
            let live =
                |it: EnumValue<'_>| it.number() == 0 && !is_deprecated(Element::EnumValue(it));
            is_deprecated(element) && (value.number() != 0 || value.parent().values().any(live))
        }
        Element::Oneof(oneof) => oneof.fields().all(|field| is_removed(Element::Field(field))),
    }
}

/// Returns true if the next version does not have an element or an enclosing one.
pub(crate) fn is_removed_with_parent(element: Element<'_>) -> bool {
    is_removed(element) || element.parent().is_some_and(is_removed_with_parent)
}
