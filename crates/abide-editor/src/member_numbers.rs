//! Numbers that the members of a message or an enum may have.

use abide_schema::{MAX_FIELD_NUMBER, Tree};

/// The numbers that protobuf keeps for itself.
const RESERVED_BY_PROTOBUF: std::ops::Range<i64> = 19_000..20_000;

/// The number behind all that a message uses, reserves or gives to extensions, now or in the old
/// tree; nothing, if there is none.
pub(crate) fn next_field_number(tree: &Tree, old: Option<&Tree>, message: &str) -> Option<i32> {
    let mut next: i64 = 1;
    let trees = [Some(tree), old];
    for message in trees.into_iter().flatten().filter_map(|it| it.message_named(message)) {
        let numbers = message.fields().map(|it| i64::from(it.number()) + 1);
        let limit = i64::from(MAX_FIELD_NUMBER);
        let ranges = message.reserved_ranges().iter().chain(message.extension_ranges());
        // A range to `max` leaves the numbers before it.
        let ends = ranges.map(|it| i64::from(it.end)).filter(|end| *end <= limit);
        next = numbers.chain(ends).filter(|it| *it <= limit).fold(next, i64::max);
    }
    if RESERVED_BY_PROTOBUF.contains(&next) {
        next = RESERVED_BY_PROTOBUF.end;
    }
    i32::try_from(next).ok().filter(|it| *it <= MAX_FIELD_NUMBER)
}

/// The number behind all that an enum uses or reserves, now or in the old tree.
pub(crate) fn next_value_number(tree: &Tree, old: Option<&Tree>, name: &str) -> Option<i32> {
    let enums = [Some(tree), old].into_iter().flatten().filter_map(|it| it.enum_named(name));
    let mut next: i64 = 0;
    for item in enums {
        let numbers = item.values().map(|it| i64::from(it.number()) + 1);
        let ends = item.reserved_ranges().iter().map(|it| i64::from(it.end) + 1);
        let limit = i64::from(i32::MAX);
        next = numbers.chain(ends).filter(|it| *it <= limit).fold(next, i64::max);
    }
    i32::try_from(next).ok()
}
