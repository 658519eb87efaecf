//! Scalars and values of enums from JSON.

use super::lenient;
use super::read::JsonReader;
use super::syntax::{self, JsonKind, JsonNode};
use super::well_known::{self, is_null_value};
use crate::decl::Scalar;
use crate::dynamic::Value;
use crate::tree::{Type, view};
use crate::value::facts::can_hold_unknown_values;
use crate::value::reading::ReadErrorKind::{InvalidValue, UnknownEnumValue, WrongType};
use crate::value::reading::{UndeclaredName, UnknownName};

impl<'t> JsonReader<'t> {
    /// Reads one value of a field; `None` as well for the name of an enum
    /// value that is passed over.
    pub(super) fn read_value(
        &mut self,
        field: view::Field<'t>,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> Option<Value> {
        let text = match &node.kind {
            JsonKind::String(text) | JsonKind::Number(text) => Some(&**text),
            _ => None,
        };
        let scalar = match field.ty() {
            Type::Message(ty) => {
                let message = self.read_message(ty, node, depth + 1)?;
                return Some(Value::Message(Box::new(message)));
            }
            Type::Enum(_) => return self.read_enum_value(field, node),
            Type::Scalar(scalar) => scalar,
            Type::Unresolved => {
                return self.fail_expected(node, "no value of an unknown type", field);
            }
        };
        if let Some(value) = self.read_lenient_scalar(field, scalar, node) {
            return Some(value);
        }
        Some(match (scalar, &node.kind) {
            (Scalar::Bool, JsonKind::Bool(value)) => Value::Bool(*value),
            (Scalar::Bool, _) => return self.fail_expected(node, "`true` or `false`", field),
            (Scalar::String, JsonKind::String(text)) => Value::String((&**text).into()),
            (Scalar::String, _) => return self.fail_expected(node, "a string", field),
            (Scalar::Bytes, JsonKind::String(text)) => match well_known::parse_base64(text) {
                Some(bytes) => Value::Bytes(bytes.into()),
                None => {
                    let text = format!("expected base64 for `{}`", field.name());
                    return self.fail(InvalidValue, node.span, text);
                }
            },
            (Scalar::Bytes, _) => return self.fail_expected(node, "a string of base64", field),
            (Scalar::Double, kind) => {
                let non_finite = text.filter(|_| matches!(kind, JsonKind::String(_)));
                match non_finite.and_then(parse_non_finite).or(text.and_then(parse_float::<f64>)) {
                    Some(value) => Value::F64(value),
                    None => return self.fail_expected(node, "a number", field),
                }
            }
            (Scalar::Float, kind) => {
                let non_finite = text.filter(|_| matches!(kind, JsonKind::String(_)));
                let non_finite = non_finite.and_then(parse_non_finite).map(|it| it as f32);
                match non_finite.or(text.and_then(parse_float::<f32>)) {
                    Some(value) => Value::F32(value),
                    None => return self.fail_expected(node, "a number", field),
                }
            }
            _ => match text.and_then(|it| self.read_integer(scalar, it)) {
                Some(value) => value,
                None => {
                    let is_number = text.is_some_and(syntax::is_number);
                    let kind = if is_number { InvalidValue } else { WrongType };
                    let text = format!("expected an integer in its range for `{}`", field.name());
                    return self.fail(kind, node.span, text);
                }
            },
        })
    }

    fn read_enum_value(&mut self, field: view::Field<'t>, node: &JsonNode<'_>) -> Option<Value> {
        let item = field.enum_type()?;
        let number = match &node.kind {
            JsonKind::String(name) => match item.value_in_json(name) {
                Some(value) => value.number(),
                None => {
                    if let Some(number) = self.read_lenient_enum_value(item, name, node.span) {
                        return Some(Value::Enum(number));
                    }
                    self.undeclared.push(UndeclaredName {
                        lacked_by: UnknownName::Enum(item.id),
                        name: (**name).to_owned(),
                        key: node.span,
                        value: node.span,
                    });
                    if self.refuses {
                        let text = format!("`{}` has no value `{name}`", item.full_name());
                        self.fail::<()>(UnknownEnumValue, node.span, text);
                    }
                    return None;
                }
            },
            JsonKind::Number(text) => {
                let number = read_integer(text).and_then(|number| i32::try_from(number).ok());
                let known = |number: &i32| {
                    can_hold_unknown_values(field) || item.value_numbered(*number).is_some()
                };
                match number.filter(known) {
                    Some(number) => number,
                    None => {
                        let text = format!("`{}` has no value with that number", item.full_name());
                        return self.fail(UnknownEnumValue, node.span, text);
                    }
                }
            }
            JsonKind::Null if is_null_value(field) || self.is_lenient() => 0,
            _ => return self.fail_expected(node, "the name of an enum value", field),
        };
        Some(Value::Enum(number))
    }

    /// An integer in the range of its type.
    fn read_integer(&self, scalar: Scalar, text: &str) -> Option<Value> {
        if self.is_lenient() {
            return lenient::parse_whole_number(scalar, text)
                .and_then(|number| to_scalar_value(scalar, number));
        }
        read_integer(text).and_then(|number| to_scalar_value(scalar, number))
    }
}

fn parse_non_finite(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A number that is not beyond the range of its type.
fn parse_float<F: std::str::FromStr + Into<f64> + Copy>(text: &str) -> Option<F> {
    let value: F = text.parse().ok().filter(|_| syntax::is_number(text))?;
    value.into().is_finite().then_some(value)
}

/// The integer value of a JSON number in any form, with more than enough digits
/// for 64 bits.
pub(super) fn read_integer(text: &str) -> Option<i128> {
    if !syntax::is_number(text) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let (negative, unsigned) = match digits.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, &*digits),
    };
    let significant = unsigned.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let dropped = (unsigned.len() - significant.len()) as i64;
    let exponent: i64 = exponent.parse().ok()?;
    let scale = exponent.checked_add(dropped)?.checked_sub(fraction.len() as i64)?;
    let significant = significant.trim_start_matches('0');
    if significant.len() > 20 {
        return None;
    }
    let scale =
        u32::try_from(scale).ok().filter(|&scale| scale <= 20 - significant.len() as u32)?;
    let magnitude = significant.parse::<i128>().ok()? * 10_i128.pow(scale);
    Some(if negative { -magnitude } else { magnitude })
}

/// An integer as the value of a field, if it fits.
pub(super) fn to_scalar_value(scalar: Scalar, number: i128) -> Option<Value> {
    match scalar {
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => number.try_into().ok().map(Value::I32),
        Scalar::Uint32 | Scalar::Fixed32 => number.try_into().ok().map(Value::U32),
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => number.try_into().ok().map(Value::I64),
        Scalar::Uint64 | Scalar::Fixed64 => number.try_into().ok().map(Value::U64),
        Scalar::Double | Scalar::Float | Scalar::Bool | Scalar::String | Scalar::Bytes => None,
    }
}
