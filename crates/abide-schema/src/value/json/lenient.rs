//! The lenient mapping of JSON, which accepts more than the specification says: that of the C++
//! runtime with its legacy syntax, which Envoy reads its configuration with. Seen on Envoy 1.36 to
//! 1.40.

use abide_syntax::Span;

use super::read::JsonReader;
use super::scalars::to_scalar_value;
use super::syntax::{self, JsonKind, JsonNode};
use super::well_known::WellKnown;
use crate::decl::Scalar;
use crate::dynamic::{Message, Value};
use crate::protobuf::to_nearest_float;
use crate::tree::view;
use crate::tree::{Cardinality, Type};
use crate::value::reading::{ReadError, ReadErrorKind};

impl<'t> JsonReader<'t> {
    /// Notes that a field is set again; messages are merged, lists joined, of all else the last
    /// counts. Members of a oneof cannot be set again.
    pub(super) fn set_again(&mut self, field: view::Field<'t>, key: Span, first: Span) {
        if field.oneof().is_some() {
            return;
        }
        let is_message = matches!(field.ty(), Type::Message(_));
        let done = match field.cardinality() {
            Cardinality::Singular if !is_message => "the last value counts",
            Cardinality::Singular | Cardinality::Repeated | Cardinality::Map => {
                "the values are merged"
            }
        };
        let text = format!("`{}` is set twice; {done}", field.name());
        let error = ReadError::new(ReadErrorKind::Leniency, key, text);
        let related = Some((first, "set first here".to_owned()));
        self.push_liberty(ReadError { related, field: Some(field.id), ..error });
    }

    /// The elements of a repeated field: a value alone is a list of one, and lists inside the list
    /// do not count.
    pub(super) fn collect_elements<'n>(
        &mut self,
        field: view::Field<'t>,
        node: &'n JsonNode<'n>,
    ) -> Vec<&'n JsonNode<'n>> {
        let JsonKind::Array(elements) = &node.kind else {
            if !self.is_lenient() {
                self.fail_expected::<()>(node, "an array", field);
                if let Some(error) = self.errors.last_mut() {
                    error.help = Some("write it in `[` and `]`".to_owned());
                }
                return Vec::new();
            }
            let text = format!("`{}` is a list, but is written as one value", field.name());
            self.allow_leniency(node.span, text, "write it in `[` and `]`");
            return vec![node];
        };
        let is_list = |it: &JsonNode<'_>| matches!(it.kind, JsonKind::Array(_));
        if !self.is_lenient() || accepts_list(field) || !elements.iter().any(is_list) {
            return elements.iter().collect();
        }
        let mut flat = Vec::new();
        let mut rest: Vec<&JsonNode<'_>> = elements.iter().rev().collect();
        while let Some(element) = rest.pop() {
            match &element.kind {
                JsonKind::Array(inner) => {
                    let text = format!(
                        "`{}` is one list, but is written as lists in a list",
                        field.name()
                    );
                    self.allow_leniency(element.span, text, "write one list");
                    rest.extend(inner.iter().rev());
                }
                _ => flat.push(element),
            }
        }
        flat
    }

    /// A scalar that only the lenient mapping takes.
    pub(super) fn read_lenient_scalar(
        &mut self,
        field: view::Field<'t>,
        scalar: Scalar,
        node: &JsonNode<'_>,
    ) -> Option<Value> {
        if !self.is_lenient() {
            return None;
        }
        let word = match &node.kind {
            JsonKind::Null => {
                let text = format!("`null` counts as the zero of `{}`", field.name());
                self.allow_leniency(node.span, text, "leave it out, or write the value");
                return Value::new_zero(self.tree, field.ty());
            }
            JsonKind::String(word) => &**word,
            JsonKind::Number(word) if matches!(scalar, Scalar::Float | Scalar::Double) => word,
            _ => return None,
        };
        let is_quoted = matches!(node.kind, JsonKind::String(_));
        let (value, is_plain) = match scalar {
            Scalar::Bool => (Value::Bool(parse_bool(word)?), false),
            Scalar::Double if is_quoted => (Value::F64(parse_number(word)?), is_number(word)),
            Scalar::Float if is_quoted => {
                (Value::F32(to_nearest_float(parse_number(word)?)), is_number(word))
            }
            Scalar::String | Scalar::Bytes | Scalar::Double | Scalar::Float => return None,
            _ => {
                let is_plain = syntax::is_number(word);
                (to_scalar_value(scalar, parse_whole_number(scalar, word)?)?, is_plain)
            }
        };
        if !is_plain {
            let (text, help) = match value {
                Value::Bool(value) => (
                    format!("`{}` is a bool, but is written as a text", field.name()),
                    format!("write `{value}` without quotes"),
                ),
                _ => (
                    format!("`{}` is a number, but is not written as one of JSON", field.name()),
                    "write it as JSON does".to_owned(),
                ),
            };
            self.allow_leniency(node.span, text, help);
        }
        Some(value)
    }

    /// The number of an enum value by its number in quotes, or its name in another case.
    pub(super) fn read_lenient_enum_value(
        &mut self,
        item: view::Enum<'t>,
        name: &str,
        span: Span,
    ) -> Option<i32> {
        if !self.is_lenient() {
            return None;
        }
        if let Ok(number) = name.trim_ascii().parse::<i32>() {
            let text = format!("the number of a value of `{}` is in quotes", item.full_name());
            self.allow_leniency(span, text, "write the name of the value");
            return Some(number);
        }
        let value = item.values().find(|it| it.name().eq_ignore_ascii_case(name))?;
        let text = format!("`{name}` is `{}` in another case", value.name());
        self.allow_leniency(span, text, format!("write `{}`", value.name()));
        Some(value.number())
    }

    /// Reads a type with a notation of its own from the fields that it has as a message; false if
    /// it is not written so.
    pub(super) fn read_plain_form(
        &mut self,
        message: &mut Message,
        known: WellKnown,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> bool {
        let written_alone = match known {
            WellKnown::Timestamp | WellKnown::Duration | WellKnown::FieldMask => "one text",
            WellKnown::Wrapper => "its value alone",
            WellKnown::ListValue => "a list",
            WellKnown::Any | WellKnown::Struct | WellKnown::Value => {
                return matches!(node.kind, JsonKind::Null) && known != WellKnown::Value;
            }
        };
        match &node.kind {
            JsonKind::Object(members) => {
                let name = self.tree.message(message.ty).full_name();
                let text = format!("a `{name}` is written by its fields");
                self.allow_leniency(node.span, text, format!("write it as {written_alone}"));
                self.read_fields(message, members.iter(), depth);
                true
            }
            // An element of a list, or the value of a map.
            JsonKind::Null => true,
            _ => false,
        }
    }
}

/// Returns true if an element of a field can be a list.
fn accepts_list(field: view::Field<'_>) -> bool {
    let known = field.message_type().and_then(WellKnown::from_message);
    matches!(known, Some(WellKnown::Value | WellKnown::ListValue))
}

/// A bool in quotes. Source: `absl::SimpleAtob`.
fn parse_bool(word: &str) -> Option<bool> {
    match &*word.to_ascii_lowercase() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// Returns true if a text in quotes is a number of the specification.
fn is_number(word: &str) -> bool {
    syntax::is_number(word) || matches!(word, "NaN" | "Infinity" | "-Infinity")
}

/// A number in quotes. Source: `absl::SimpleAtod`.
fn parse_number(word: &str) -> Option<f64> {
    let word = word.trim_ascii();
    let (sign, unsigned) = match word.as_bytes().first()? {
        b'-' => (-1.0, &word[1..]),
        b'+' => (1.0, &word[1..]),
        _ => (1.0, word),
    };
    match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(digits) => parse_hexadecimal(digits).map(|it| sign * it),
        None if unsigned.starts_with(['+', '-']) => None,
        None => unsigned.parse::<f64>().ok().map(|it| sign * it),
    }
}

/// `1.8p1`: hexadecimal digits, and the power of two that they are multiplied with.
fn parse_hexadecimal(digits: &str) -> Option<f64> {
    let (mantissa, power) = digits.split_once(['p', 'P']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 30 || digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u128::from_str_radix(&digits, 16).ok()?;
    let power: i32 = power.parse::<i16>().ok()?.into();
    Some(magnitude as f64 * f64::from(power - 4 * fraction.len() as i32).exp2())
}

/// A whole number as a text. What is not plain digits is read as a `double` first.
pub(super) fn parse_whole_number(scalar: Scalar, word: &str) -> Option<i128> {
    let is_word = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.');
    if word.is_empty() || !word.bytes().all(is_word) {
        return None;
    }
    if let Ok(number) = word.parse::<i128>() {
        return Some(number);
    }
    let number = parse_number(word)
        .filter(|it| it.fract() == 0.0 && it.abs() <= find_max_exact_integer(scalar))?;
    Some(number as i128)
}

/// Up to which number every integer is a `double`, as the runtime counts.
fn find_max_exact_integer(scalar: Scalar) -> f64 {
    let is_signed = matches!(
        scalar,
        Scalar::Int32
            | Scalar::Sint32
            | Scalar::Sfixed32
            | Scalar::Int64
            | Scalar::Sint64
            | Scalar::Sfixed64
    );
    f64::from(if is_signed { 53 } else { 54 }).exp2()
}
