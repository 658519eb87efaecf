//! Rules that do not fit the field that they are set on.

use abide_schema::{Cardinality, Field, Type, value};

use super::ConstraintDefect;
use super::subject::AnnotationSubject;
use crate::sets::Dialect;

pub(super) fn find(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    check_required(subject, found);
    let Some(typed) = subject.typed_rules() else { return };
    let (noun, name) = (subject.noun(), typed.name);
    let cardinality = subject.field.cardinality();
    let whole = subject.part.is_none();
    let message = match name {
        "repeated" if whole && cardinality == Cardinality::Repeated => {
            return check_unique(subject, typed.rules, found);
        }
        "map" if whole && cardinality == Cardinality::Map => return,
        "repeated" => {
            let message = format!("{noun} is not repeated, but has `repeated` rules");
            let defect = subject.build_defect(typed.entry, message);
            // buf looks at the field that the items are in.
            let known_to_buf = defect.known_to_buf && subject.part != Some("items");
            return found.push(ConstraintDefect { known_to_buf, ..defect });
        }
        "map" => format!("{noun} is not a map, but has `map` rules"),
        _ if subject.is_collection() => {
            let (kind, inside) = match cardinality {
                Cardinality::Map => ("a map", "map.values"),
                _ => ("repeated", "repeated.items"),
            };
            let message = format!("{noun} is {kind}, but has `{name}` rules");
            let why = format!("rules of what it contains belong in `{inside}`");
            return found.push(subject.build_defect(typed.entry, message).because(why));
        }
        // protoc-gen-validate takes these for any message that must be set.
        "any" | "duration" | "timestamp"
            if subject.dialect == Dialect::Pgv
                && subject.typed.message_type().is_some()
                && typed.rules.entries.iter().all(|it| is_named(subject, it, "required")) =>
        {
            return;
        }
        _ => match type_name(subject.typed) {
            Some(ty) if !is_fitting(name, subject.typed, subject.dialect) => {
                format!("{noun} has the type `{ty}`, but `{name}` rules")
            }
            _ => return,
        },
    };
    found.push(subject.build_defect(typed.entry, message));
}

fn is_named(subject: &AnnotationSubject<'_>, entry: &value::Entry, name: &str) -> bool {
    subject.tree().field(entry.field).name() == name
}

/// Returns true if the rules of a type are for the type of a field.
fn is_fitting(name: &str, field: Field<'_>, dialect: Dialect) -> bool {
    match field.ty() {
        Type::Scalar(scalar) => name == scalar.keyword(),
        Type::Enum(_) => name == "enum",
        Type::Unresolved => true,
        Type::Message(id) => {
            let full_name = field.tree.message(id).full_name();
            let known = match full_name.strip_prefix("google.protobuf.").unwrap_or_default() {
                "FloatValue" => "float",
                "DoubleValue" => "double",
                "Int32Value" => "int32",
                "Int64Value" => "int64",
                "UInt32Value" => "uint32",
                "UInt64Value" => "uint64",
                "BoolValue" => "bool",
                "StringValue" => "string",
                "BytesValue" => "bytes",
                "Any" => "any",
                "Duration" => "duration",
                "Timestamp" => "timestamp",
                "FieldMask" => "field_mask",
                _ => "",
            };
            name == known || name == "message" && dialect == Dialect::Pgv
        }
    }
}

fn type_name(field: Field<'_>) -> Option<String> {
    match field.ty() {
        Type::Scalar(scalar) => Some(scalar.keyword().to_owned()),
        Type::Enum(id) => Some(field.tree.enumeration(id).full_name()),
        Type::Message(id) => Some(field.tree.message(id).full_name()),
        Type::Unresolved => None,
    }
}

/// `required` where it has no meaning.
fn check_required(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    if subject.dialect == Dialect::Pgv {
        // It is a part of the rules for messages there, for a set member of a oneof.
        return;
    }
    let noun = subject.noun();
    if let Some(entry) = subject.get("required").filter(|_| subject.is_true("required")) {
        let oneof = subject.typed.real_oneof();
        if subject.part.is_some() {
            let message = format!("{noun} is `required`");
            let why = "a list or map contains only what is set";
            found.push(subject.build_defect(entry, message).because(why));
        } else if let Some(oneof) = oneof {
            let message = format!("{noun} is `required`, but in oneof `{}`", oneof.name());
            let why = "if it must be set, the other fields of the oneof are never valid";
            found.push(subject.build_defect(entry, message).because(why));
        } else if subject.field.is_extension() {
            let message = format!("{noun} is `required`, but an extension");
            found.push(subject.build_defect(entry, message));
        }
    }
    if let Some((entry, "IGNORE_IF_ZERO_VALUE")) = subject.ignore()
        && subject.field.is_extension()
    {
        let message = format!("{noun} is an extension, but has `ignore: IGNORE_IF_ZERO_VALUE`");
        found.push(subject.build_defect(entry, message));
    }
}

fn check_unique(
    subject: &AnnotationSubject<'_>,
    rules: &value::Message,
    found: &mut Vec<ConstraintDefect>,
) {
    let Some(entry) = rules.get(subject.tree(), "unique") else { return };
    let scalar =
        ["float", "double", "int32", "int64", "uint32", "uint64", "bool", "string", "bytes"];
    let Type::Message(_) = subject.field.ty() else { return };
    let wrapper = scalar.iter().any(|name| is_fitting(name, subject.field, Dialect::Buf));
    if entry.value.as_bool() == Some(true) && !wrapper {
        let ty = type_name(subject.field).unwrap_or_default();
        let message = format!("the items of {} are messages `{ty}`, but `unique`", subject.noun());
        let why = "only scalars, enums and wrappers are compared";
        found.push(subject.build_defect(entry, message).because(why));
    }
}
