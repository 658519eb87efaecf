//! Facts about values that follow from their types.

use std::borrow::Cow;

use crate::decl::Scalar;
use crate::dynamic::{Message, Value};
use crate::protobuf::descriptor_number::options;
use crate::protobuf::find_last_varint;
use crate::tree::{Openness, Presence, Tree, Type, view};

/// Returns the value that a reader sees if a singular field is absent: its default, or the zero
/// value of its type. `None` for messages and for unresolved types.
pub fn default_of(field: view::Field<'_>) -> Option<Value> {
    let tree = field.tree;
    let Some(written) = field.decl().default() else {
        return Value::new_zero(tree, field.ty()).filter(|value| value.as_message().is_none());
    };
    // The notation of `FieldDescriptorProto.default_value`.
    let text = std::str::from_utf8(written).ok();
    let number = |text: &str| text.parse::<f64>().ok();
    Some(match field.ty() {
        Type::Scalar(scalar) => match scalar {
            Scalar::Double => Value::F64(number(text?)?),
            Scalar::Float => Value::F32(number(text?)? as f32),
            Scalar::Int64 | Scalar::Sfixed64 | Scalar::Sint64 => Value::I64(text?.parse().ok()?),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(text?.parse().ok()?),
            Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sint32 => Value::I32(text?.parse().ok()?),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(text?.parse().ok()?),
            Scalar::Bool => Value::Bool(text? == "true"),
            Scalar::String => Value::string(Cow::Borrowed(written)),
            Scalar::Bytes => {
                let quoted = [b"\"", written, b"\""].concat();
                let mut bytes = Vec::new();
                abide_syntax::unescape(&quoted, &mut bytes).ok()?;
                Value::Bytes(bytes.into())
            }
        },
        Type::Enum(id) => {
            let name = text?;
            Value::Enum(tree.enumeration(id).values().find(|it| it.name() == name)?.number())
        }
        Type::Message(_) | Type::Unresolved => return None,
    })
}

impl Value {
    /// The value of an unset field of this type without presence.
    pub fn new_zero(tree: &Tree, ty: Type) -> Option<Value> {
        Some(match ty {
            Type::Scalar(scalar) => match scalar {
                Scalar::Double => Value::F64(0.0),
                Scalar::Float => Value::F32(0.0),
                Scalar::Int64 | Scalar::Sfixed64 | Scalar::Sint64 => Value::I64(0),
                Scalar::Uint64 | Scalar::Fixed64 => Value::U64(0),
                Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sint32 => Value::I32(0),
                Scalar::Uint32 | Scalar::Fixed32 => Value::U32(0),
                Scalar::Bool => Value::Bool(false),
                Scalar::String => Value::String("".into()),
                Scalar::Bytes => Value::Bytes([].into()),
            },
            Type::Enum(id) => Value::Enum(tree.enumeration(id).values().next()?.number()),
            Type::Message(id) => Value::Message(Box::new(Message::new(id))),
            Type::Unresolved => return None,
        })
    }
}

/// Returns true if a field that holds this value counts as set. A field with implicit
/// presence does not if it holds zero.
pub(crate) fn is_set(field: view::Field<'_>, value: &Value) -> bool {
    field.presence() != Presence::Implicit || !value.is_zero()
}

/// Returns true if a field keeps an enum value that the enum does not declare.
/// A field of a proto2 file treats every enum as closed: the feature
/// `(pb.cpp).legacy_closed_enum` of that edition.
pub(crate) fn can_hold_unknown_values(field: view::Field<'_>) -> bool {
    field.file().decl().edition != crate::protobuf::Edition::Proto2
        && field.enum_type().is_some_and(|it| it.features().openness == Openness::Open)
}

/// Returns true if a message is a message set: `message_set_wire_format` is true.
pub(crate) fn is_message_set(message: view::Message<'_>) -> bool {
    let decl = message.decl();
    // A message set holds only extensions.
    if decl.extension_ranges.start == decl.extension_ranges.end || message.fields().len() > 0 {
        return false;
    }
    let file = message.file().decl();
    match (decl.options, file.ast()) {
        (crate::decl::RawOptions::Syntax(slice), Some(ast)) => {
            let text = file.strings.text();
            file.option_ids[slice.range()].iter().any(|&id| {
                let option = &ast.options[id as usize];
                option.name.of(text) == b"message_set_wire_format"
                    && ast.values[option.value as usize].span.of(text) == b"true"
            })
        }
        (crate::decl::RawOptions::Wire(span), _) => {
            let set = find_last_varint(file.strings.text(), span, options::MESSAGE_SET);
            set.is_ok_and(|value| value.is_some_and(|value| value != 0))
        }
        _ => false,
    }
}
