//! The default values of fields, as descriptors note them.

use abide_syntax::{NumberLiteral, Span, ValueKind, unescape_all};

use crate::decl::{FileText, Scalar, TypeDecl};
use crate::protobuf::to_nearest_float;

/// The default value of a field in the notation of `default_value` in
/// descriptor.proto; else why it is none. Source:
/// `Parser::ParseDefaultAssignment`.
pub(super) fn default_text(
    source: &FileText,
    kind: ValueKind,
    span: Span,
    ty: TypeDecl,
) -> Result<Vec<u8>, String> {
    let scalar = match ty {
        TypeDecl::Scalar(scalar) => scalar,
        // The type is not known before linking; it must be an enum.
        TypeDecl::Named(_) => {
            return match kind {
                ValueKind::Ident { negative: false, word } => Ok(word.of(source).to_owned()),
                _ => Err("the default of an enum field must be the name of a value".to_owned()),
            };
        }
        TypeDecl::Group(_) | TypeDecl::GroupNamed(_) | TypeDecl::Map(_) => {
            return Err("a message field cannot have a default value".to_owned());
        }
    };
    let sign = |negative| if negative { "-" } else { "" };
    let integer = |negative: bool, digits: Span, most: u64| {
        let value = NumberLiteral::parse(digits.of(source)).and_then(NumberLiteral::to_integer);
        let most = if negative { most + 1 } else { most };
        match value {
            Some(value) if value <= most => Ok(format!("{}{value}", sign(negative && value != 0))),
            _ => Err(format!("the default does not fit into `{}`", scalar.keyword())),
        }
    };
    let text = match (scalar, kind) {
        (
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32,
            ValueKind::Int { negative, digits },
        ) => integer(negative, digits, i32::MAX as u64),
        (
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64,
            ValueKind::Int { negative, digits },
        ) => integer(negative, digits, i64::MAX as u64),
        (Scalar::Uint32 | Scalar::Fixed32, ValueKind::Int { negative: false, digits }) => {
            integer(false, digits, u64::from(u32::MAX))
        }
        (Scalar::Uint64 | Scalar::Fixed64, ValueKind::Int { negative: false, digits }) => {
            integer(false, digits, u64::MAX)
        }
        (
            Scalar::Float | Scalar::Double,
            ValueKind::Int { negative, digits } | ValueKind::Float { negative, digits },
        ) => match NumberLiteral::parse(digits.of(source)) {
            Some(NumberLiteral::TooLarge) => {
                Err("the default does not fit into 64 bits".to_owned())
            }
            number => {
                // A malformed number was already reported.
                let value = number.and_then(NumberLiteral::to_double).unwrap_or(f64::INFINITY);
                Ok(format!("{}{}", sign(negative), default_number(scalar, value)))
            }
        },
        (Scalar::Float | Scalar::Double, ValueKind::Ident { negative, word }) => {
            match word.of(source) {
                b"inf" => Ok(format!("{}inf", sign(negative))),
                b"nan" => Ok("nan".to_owned()),
                _ => Err("expected a number".to_owned()),
            }
        }
        (Scalar::Bool, ValueKind::Ident { negative: false, word }) => match source.str(word) {
            value @ ("true" | "false") => Ok(value.to_owned()),
            _ => Err("expected `true` or `false`".to_owned()),
        },
        // protoc accepts any bytes here; this keeps them as text.
        (Scalar::String, ValueKind::String) => {
            return unescape_all(source, span).map_err(|error| error.message);
        }
        (Scalar::Bytes, ValueKind::String) => match unescape_all(source, span) {
            Ok(bytes) => Ok(escape_bytes(&bytes)),
            Err(error) => Err(error.message),
        },
        _ => Err(format!("the default does not fit the type `{}`", scalar.keyword())),
    };
    text.map(String::into_bytes)
}

/// The notation of an unsigned number as the default of a `float` or `double`:
/// the shorter of two that read back as the same number. Source: `SimpleFtoa`
/// and `SimpleDtoa` of protobuf.
fn default_number(scalar: Scalar, value: f64) -> String {
    let (value, digits, more) = match scalar {
        Scalar::Float => (f64::from(to_nearest_float(value)), 6, 9),
        _ => (value, 15, 17),
    };
    if value.is_infinite() {
        return "inf".to_owned();
    }
    let short = format_general(value, digits);
    let same = match scalar {
        // protobuf refuses to read a subnormal float.
        Scalar::Float => short.parse() == Ok(value as f32) && !(value as f32).is_subnormal(),
        _ => short.parse() == Ok(value),
    };
    if same { short } else { format_general(value, more) }
}

/// C's `%.{digits}g`.
fn format_general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) =
        scientific.split_once('e').expect("`{:e}` always writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a decimal exponent");
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!("{:.*}", (digits as i32 - 1 - exponent) as usize, value))
    }
}

/// Bytes as `absl::CEscape` writes them, the notation of `default_value`.
pub(crate) fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out
}
