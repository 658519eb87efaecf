//! The function `format`, and values as texts show them.

use super::standard;
use super::steps::StepBudget;
use super::value::{CelValue, Outcome};

/// The most characters of a text that is made of values.
const MAX_TEXT: usize = 100_000;

/// The result of `TEXT.format(ITEMS)`.
pub(super) fn format_text<'v>(
    text: &str,
    items: &[CelValue<'v>],
    steps: &StepBudget,
) -> Outcome<'v> {
    let mut out = String::new();
    let (mut rest, mut items) = (text, items.iter());
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (precision, after) = read_precision(after)?;
        let kind = after.chars().next().ok_or("a `%` of `format` lacks its letter")?;
        let item = items.next().ok_or("`format` has fewer values than `%`")?;
        steps.take(1)?;
        out.push_str(&format_item(item, kind, precision, steps)?);
        steps.take(out.len() / 16)?;
        rest = after.get(kind.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(CelValue::text(out))
}

/// Reads `.N`, and returns the number with what follows it.
fn read_precision(text: &str) -> Result<(Option<usize>, &str), String> {
    let Some(after) = text.strip_prefix('.') else { return Ok((None, text)) };
    let end = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
    let (digits, rest) = after.split_at(end);
    let number = digits.parse().ok().filter(|it| *it <= 100);
    Ok((Some(number.ok_or("a precision of `format` is not a number up to 100")?), rest))
}

fn format_item(
    item: &CelValue<'_>,
    kind: char,
    precision: Option<usize>,
    steps: &StepBudget,
) -> Result<String, String> {
    use CelValue::{Bool, Bytes, Double, Int, String, Uint};
    let digits = precision.unwrap_or(6);
    Ok(match (kind, item) {
        ('s', _) => return show(item, steps),
        ('d', Int(_) | Uint(_) | Double(_)) => return show(item, steps),
        ('f', Int(value)) => format!("{:.digits$}", *value as f64),
        ('f', Double(value)) => format!("{value:.digits$}"),
        ('e', Double(value)) => format!("{value:.digits$e}"),
        ('b', Int(value)) => format!("{}{:b}", sign(*value), value.unsigned_abs()),
        ('b', Uint(value)) => format!("{value:b}"),
        ('b', Bool(value)) => u8::from(*value).to_string(),
        ('o', Int(value)) => format!("{}{:o}", sign(*value), value.unsigned_abs()),
        ('o', Uint(value)) => format!("{value:o}"),
        ('x', Int(value)) => format!("{}{:x}", sign(*value), value.unsigned_abs()),
        ('X', Int(value)) => format!("{}{:X}", sign(*value), value.unsigned_abs()),
        ('x', Uint(value)) => format!("{value:x}"),
        ('X', Uint(value)) => format!("{value:X}"),
        ('x', String(text)) => text.bytes().map(|it| format!("{it:02x}")).collect(),
        ('x', Bytes(bytes)) => bytes.iter().map(|it| format!("{it:02x}")).collect(),
        _ => return Err(format!("`%{kind}` of `format` does not take this value")),
    })
}

fn sign(value: i64) -> &'static str {
    if value < 0 { "-" } else { "" }
}

/// Returns a value as a text shows it: a list with commas between its items.
pub(super) fn show(value: &CelValue<'_>, steps: &StepBudget) -> Result<String, String> {
    let mut out = String::new();
    write_value(value, steps, &mut out)?;
    Ok(out)
}

fn write_value(value: &CelValue<'_>, steps: &StepBudget, out: &mut String) -> Result<(), String> {
    steps.take(1)?;
    if out.len() > MAX_TEXT {
        return Err("a text is too long".to_owned());
    }
    match value {
        CelValue::Null => out.push_str("null"),
        CelValue::Double(value) => out.push_str(&value.to_string()),
        CelValue::Type(name) => out.push_str(name),
        CelValue::String(text) => out.push_str(text),
        CelValue::List(items) => {
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_value(item, steps, out)?;
            }
        }
        CelValue::Map(pairs) => {
            for (at, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_value(key, steps, out)?;
                out.push_str(": ");
                write_value(value, steps, out)?;
            }
        }
        CelValue::Host(value) => out.push_str(&value.identity()),
        CelValue::Message(_) => return Err("a text cannot show a message".to_owned()),
        other => match standard::convert_to_text(other) {
            Some(CelValue::String(text)) => out.push_str(&text),
            _ => return Err("a text cannot show this value".to_owned()),
        },
    }
    Ok(())
}
