//! What messages and enums have set aside.

use abide_schema::{Enum, Message};

/// Whether a message reserves a field number.
pub(crate) fn number_of_message(message: Message<'_>, number: i32) -> bool {
    message.reserved_ranges().iter().any(|range| (range.start..range.end).contains(&number))
}

/// Whether a message reserves a field name.
pub(crate) fn name_of_message(message: Message<'_>, name: &str) -> bool {
    let decl = message.file().decl();
    message.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
}

/// Whether an enum reserves a number.
pub(crate) fn number_of_enum(item: Enum<'_>, number: i32) -> bool {
    item.reserved_ranges().iter().any(|range| (range.start..=range.end).contains(&number))
}

/// Whether an enum reserves a name.
pub(crate) fn name_of_enum(item: Enum<'_>, name: &str) -> bool {
    let decl = item.file().decl();
    item.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
}
