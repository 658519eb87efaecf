//! Values as people read them in reports.

use abide_schema::value::Codec;
use abide_schema::value::Value;
use abide_schema::{Enum, EnumValue, Field};

/// A value of a field as shown in reports.
pub fn format_value(field: Field<'_>, value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => format_decimal(value.to_string(), format!("{value:e}")),
        Value::F64(value) => format_decimal(value.to_string(), format!("{value:e}")),
        Value::String(value) => format!("{value:?}"),
        Value::Bytes(value) => format!("\"{}\"", value.escape_ascii()),
        Value::Enum(number) => {
            let mut values = field.enum_type().into_iter().flat_map(Enum::values);
            let name = values.find(|it| it.number() == *number).map(EnumValue::name);
            name.map_or_else(|| number.to_string(), str::to_owned)
        }
        Value::Message(value) => {
            format!("{{ {} }}", to_one_line(&Codec::new(field.tree).to_text(value)))
        }
    }
}

/// A number as a person would write it: in plain digits, unless most are zeros.
fn format_decimal(digits: String, scientific: String) -> String {
    if digits.len() > 24 { scientific } else { digits }
}

pub(crate) fn format_values(field: Field<'_>, values: &[&Value]) -> String {
    let each: Vec<String> = values.iter().map(|value| format_value(field, value)).collect();
    match each.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// Text format on one line.
pub fn to_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A value as a line of a report: repetitions are counted, and long text is cut
/// off.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 400;
    const UNIT: usize = 32;
    const RUN: usize = 48;
    let mut short = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if short.len() > LONGEST {
            short += &format!("… ({} bytes more)", rest.len());
            break;
        }
        let run = (1..=UNIT.min(rest.len())).find_map(|size| {
            let unit = rest.get(..size)?;
            let count =
                rest.as_bytes().chunks(size).take_while(|it| *it == unit.as_bytes()).count();
            (count > 3 && count * size >= RUN).then_some((unit, count))
        });
        match run {
            Some((unit, count)) => {
                short += &format!("{}…(×{count})", unit.repeat(3));
                rest = &rest[unit.len() * count..];
            }
            None => {
                short.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn what_repeats_is_counted() {
        let long = |unit: &str, count: usize| unit.repeat(count);
        for (text, short) in [
            ("name: \"a\"".to_owned(), "name: \"a\""),
            (format!("s: \"{}\"", long("a", 47)), &format!("s: \"{}\"", long("a", 47))),
            (format!("s: \"{}\" b: 1", long("a", 5001)), "s: \"aaa…(×5001)\" b: 1"),
            (format!("b: \"{}\"", long("\\000", 12)), "b: \"\\000\\000\\000…(×12)\""),
            (format!("{}n: 1", long("r: \"\" ", 300)), "r: \"\" r: \"\" r: \"\" …(×300)n: 1"),
            (long("é", 60), "ééé…(×60)"),
        ] {
            assert_eq!(shorten(&text), short);
        }
        let distinct: String = (0..1000).map(|at| format!("{at}, ")).collect();
        let short = shorten(&distinct);
        assert!(short.len() < 500 && short.ends_with("bytes more)"), "{short}");
    }
}
