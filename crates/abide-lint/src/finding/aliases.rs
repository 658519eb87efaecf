//! Which rules of other tools fire on a field that changed.
//!
//! Source: the rule handlers of buf 1.75, run on pairs of files.

use abide_change::{Change, Diff, find_map_entries};
use abide_schema::value::Value;
use abide_schema::{Cardinality, Element, Enum, Field, Message, Method, Presence, Scalar, Type};

use abide_syntax::FieldLabel;

/// Returns true if buf does not pair what a change is about: it pairs messages, enums
/// and services by full name, and what is in them below that.
pub(crate) fn is_apart<'t>(diff: &Diff<'t>, change: Change<Element<'t>>) -> bool {
    match change {
        Change::Added(_) => false,
        Change::Both { old, new } => are_apart(old, new),
        Change::Removed(old) => holder(old).filter(|it| *it != old).is_some_and(|holder| {
            diff.new_element(holder).is_some_and(|it| it.full_name() != holder.full_name())
        }),
    }
}

/// The same for two elements.
pub(crate) fn are_apart(old: Element<'_>, new: Element<'_>) -> bool {
    holder(old).map(Element::full_name) != holder(new).map(Element::full_name)
}

/// Returns what has a full name and holds the element, or is it.
fn holder(element: Element<'_>) -> Option<Element<'_>> {
    match element {
        Element::Field(field) => {
            field.extendee().or(field.containing_message()).map(Element::Message)
        }
        Element::Message(_) | Element::Enum(_) | Element::Service(_) => Some(element),
        _ => element.parent(),
    }
}

/// Returns true if a rule fires even on what buf does not pair: those about what has a
/// full name and is not there any more.
pub(crate) fn fires_apart(alias: &str) -> bool {
    let deletions =
        ["MESSAGE_NO_DELETE", "ENUM_NO_DELETE", "SERVICE_NO_DELETE", "EXTENSION_NO_DELETE"];
    alias.strip_prefix("buf:").is_none_or(|rule| {
        deletions.contains(&rule) || rule.starts_with("PACKAGE_") || rule.starts_with("FILE_")
    })
}

/// Of rules that would fire on two fields, those that do: buf and Google's
/// detector compare fields of one number, protolock those of one name, and buf
/// alone knows extensions.
pub(crate) fn of_pair(old: Field<'_>, new: Field<'_>, rules: &[&'static str]) -> Vec<&'static str> {
    let fires = |rule: &&'static str| match rule.split(':').next() {
        Some("buf") => old.number() == new.number(),
        Some("google") => old.number() == new.number() && !new.is_extension(),
        _ => old.name() == new.name() && !new.is_extension(),
    };
    rules.iter().copied().filter(fires).collect()
}

/// What [`of_lost_entry`] may name.
pub(crate) const OF_LOST_ENTRIES: &[&str] =
    &["buf:MESSAGE_NO_DELETE", "buf:PACKAGE_MESSAGE_NO_DELETE"];

/// The rules of buf that fire where the entry of a map has no message of its
/// name in the new holder: buf counts entries among the messages.
pub(crate) fn of_lost_entry(old: Field<'_>, holder: Message<'_>) -> &'static [&'static str] {
    match old.message_type().filter(|_| old.is_map()) {
        Some(entry) if holder.messages().all(|it| it.name() != entry.name()) => OF_LOST_ENTRIES,
        _ => &[],
    }
}

/// What buf calls the kind of a type: features count, so a message with
/// delimited encoding is a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BufType {
    Scalar(Scalar),
    Enum,
    Message,
    Group,
}

fn kind(field: Field<'_>) -> Option<BufType> {
    Some(match field.ty() {
        Type::Scalar(scalar) => BufType::Scalar(scalar),
        Type::Enum(_) => BufType::Enum,
        Type::Message(_) if field.features().delimited => BufType::Group,
        Type::Message(_) => BufType::Message,
        Type::Unresolved => return None,
    })
}

/// Types of one group have one encoding. Integers of both signs are one group:
/// buf does not look at negative numbers, nor at those that do not fit.
const WIRE_GROUPS: &[&[Scalar]] = &[
    &[Scalar::Int32, Scalar::Int64, Scalar::Uint32, Scalar::Uint64, Scalar::Bool],
    &[Scalar::Sint32, Scalar::Sint64],
    &[Scalar::Fixed32, Scalar::Sfixed32],
    &[Scalar::Fixed64, Scalar::Sfixed64],
];

/// The same for types that are also written alike in JSON.
const JSON_GROUPS: &[&[Scalar]] = &[
    &[Scalar::Int32, Scalar::Uint32],
    &[Scalar::Int64, Scalar::Uint64],
    &[Scalar::Fixed32, Scalar::Sfixed32],
    &[Scalar::Fixed64, Scalar::Sfixed64],
];

/// What [`of_types`] may name.
pub(crate) const OF_TYPES: &[&str] = &[
    "buf:FIELD_SAME_TYPE",
    "buf:FIELD_WIRE_COMPATIBLE_TYPE",
    "buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE",
];

/// The rules of buf about types that fire on two fields, or on the values of
/// two maps.
pub(crate) fn of_types(old: Field<'_>, new: Field<'_>) -> Vec<&'static str> {
    let (Some(was), Some(is)) = (kind(old), kind(new)) else { return Vec::new() };
    let name = |field: Field<'_>| {
        let message = field.message_type().map(Message::full_name);
        message.or_else(|| field.enum_type().map(Enum::full_name))
    };
    if was == is && name(old) == name(new) {
        return Vec::new();
    }
    let compatible = |groups: &[&[Scalar]], text_to_bytes: bool| match (was, is) {
        (BufType::Scalar(Scalar::String), BufType::Scalar(Scalar::Bytes)) => text_to_bytes,
        (BufType::Scalar(was), BufType::Scalar(is)) => {
            groups.iter().any(|group| group.contains(&was) && group.contains(&is))
        }
        (BufType::Enum, BufType::Enum) => {
            old.enum_type().zip(new.enum_type()).is_some_and(|(old, new)| is_subset(old, new))
        }
        _ => false,
    };
    let mut aliases = vec!["buf:FIELD_SAME_TYPE"];
    if !compatible(WIRE_GROUPS, true) {
        aliases.push("buf:FIELD_WIRE_COMPATIBLE_TYPE");
    }
    if !compatible(JSON_GROUPS, false) {
        aliases.push("buf:FIELD_WIRE_JSON_COMPATIBLE_TYPE");
    }
    aliases
}

/// What [`of_users`] may name besides [`OF_TYPES`].
pub(crate) const OF_METHODS: &[&str] = &[OF_REQUESTS, OF_RESPONSES];

const OF_REQUESTS: &str = "buf:RPC_SAME_REQUEST_TYPE";
const OF_RESPONSES: &str = "buf:RPC_SAME_RESPONSE_TYPE";

/// The rules of buf, which compares names of types, that fire on users of types that were renamed.
/// It pairs only users that kept their own names.
pub(crate) fn of_users<'t>(
    users: impl IntoIterator<Item = (Element<'t>, Element<'t>)>,
) -> Vec<&'static str> {
    let mut fired = Vec::new();
    for (old, new) in users.into_iter().filter(|(old, new)| !are_apart(*old, *new)) {
        match (old, new) {
            (Element::Field(old), Element::Field(new)) if old.number() == new.number() => {
                let held = |it: Field<'t>| find_map_entries(it).map_or(it, |[_, value]| value);
                fired.extend(of_types(held(old), held(new)));
            }
            (Element::Method(old), Element::Method(new)) if old.name() == new.name() => {
                let differ = |of: fn(Method<'t>) -> Option<Message<'t>>| {
                    of(old).map(Message::full_name) != of(new).map(Message::full_name)
                };
                fired.extend(differ(Method::input).then_some(OF_REQUESTS));
                fired.extend(differ(Method::output).then_some(OF_RESPONSES));
            }
            _ => {}
        }
    }
    fired.sort_unstable();
    fired.dedup();
    fired
}

/// Returns true if an enum has the simple name of another and every value of it.
fn is_subset(old: Enum<'_>, new: Enum<'_>) -> bool {
    let has = |number: i32, name: &str| new.values_numbered(number).any(|it| it.name() == name);
    old.name() == new.name() && old.values().all(|value| has(value.number(), value.name()))
}

/// Returns true if buf takes two defaults for one: both zeros are equal to it.
pub(crate) fn is_same_default_to_buf(was: &Value, is: &Value) -> bool {
    match (was, is) {
        (Value::F32(was), Value::F32(is)) => was == is,
        (Value::F64(was), Value::F64(is)) => was == is,
        _ => false,
    }
}

/// How many values a field holds and whether they can be absent, as buf counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Explicit,
    Implicit,
    Required,
    Repeated,
    Map,
}

fn count(field: Field<'_>) -> Count {
    match (field.cardinality(), field.presence()) {
        (Cardinality::Repeated, _) => Count::Repeated,
        (Cardinality::Map, _) => Count::Map,
        (Cardinality::Singular, Presence::Explicit) => Count::Explicit,
        (Cardinality::Singular, Presence::Implicit) => Count::Implicit,
        (Cardinality::Singular, Presence::LegacyRequired) => Count::Required,
    }
}

/// What [`of_cardinality`] may name.
pub(crate) const OF_CARDINALITY: &[&str] = &[
    "buf:FIELD_SAME_CARDINALITY",
    "buf:FIELD_WIRE_COMPATIBLE_CARDINALITY",
    "buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY",
    "buf:MESSAGE_SAME_REQUIRED_FIELDS",
];

/// The rules of buf about cardinality and presence that fire on two fields.
pub(crate) fn of_cardinality(old: Field<'_>, new: Field<'_>) -> Vec<&'static str> {
    let (was, is) = (count(old), count(new));
    if was == is {
        return Vec::new();
    }
    let together = |group: &[Count]| group.contains(&was) && group.contains(&is);
    let singular = together(&[Count::Explicit, Count::Implicit]);
    let mut aliases = vec!["buf:FIELD_SAME_CARDINALITY"];
    if !singular && !together(&[Count::Repeated, Count::Map]) {
        aliases.push("buf:FIELD_WIRE_COMPATIBLE_CARDINALITY");
    }
    if !singular {
        aliases.push("buf:FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY");
    }
    if is_labelled_required(old) != is_labelled_required(new) {
        aliases.push("buf:MESSAGE_SAME_REQUIRED_FIELDS");
    }
    aliases
}

/// Returns true if a field is required by its label: buf does not see the feature.
pub(crate) fn is_labelled_required(field: Field<'_>) -> bool {
    field.decl().label == Some(FieldLabel::Required)
}

#[cfg(test)]
mod tests {
    use abide_schema::value::Value;

    use super::is_same_default_to_buf;

    #[test]
    fn defaults_are_one_where_floats_are_equal() {
        for (was, is, same) in [
            (Value::F64(0.0), Value::F64(-0.0), true),
            (Value::F64(0.1), Value::F64(0.100_000_000_1), false),
            (Value::F32(0.0), Value::F32(-0.0), true),
            (Value::F32(0.1), Value::F32(0.2), false),
            (Value::I32(1), Value::I32(2), false),
        ] {
            assert_eq!(is_same_default_to_buf(&was, &is), same, "{was:?} {is:?}");
        }
    }
}
