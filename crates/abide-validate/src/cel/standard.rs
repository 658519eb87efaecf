//! The functions of the language and of the extension `strings` of cel-go.

use abide_schema::Tree;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::extensions;
use super::format::format_text;
use super::steps::StepBudget;
use super::value::{CelValue, Outcome};

const NANOS: i128 = 1_000_000_000;
/// The farthest from zero that a duration or a timestamp may be, in nanoseconds: 10,000 years.
const MAX_NANOS: i128 = 315_576_000_000 * NANOS;

/// The result of a function or of an operator on numbers.
pub(super) fn call<'v>(
    tree: &Tree,
    function: &str,
    arguments: &[CelValue<'v>],
    steps: &StepBudget,
) -> Outcome<'v> {
    let found = call_arithmetic(function, arguments, steps)
        .or_else(|| call_conversion(function, arguments))
        .or_else(|| call_text(function, arguments, steps))
        .or_else(|| call_time(function, arguments))
        .or_else(|| extensions::call(tree, function, arguments, steps));
    found.unwrap_or_else(|| Err(format!("`{function}` is not evaluated for these values")))
}

fn check_range<'v, T>(value: Option<T>, make: impl Fn(T) -> CelValue<'v>) -> Option<Outcome<'v>> {
    Some(value.map(make).ok_or_else(|| "a number is out of range".to_owned()))
}

fn check_span<'v>(nanos: i128, make: impl Fn(i128) -> CelValue<'v>) -> Option<Outcome<'v>> {
    check_range(Some(nanos).filter(|it| it.abs() <= MAX_NANOS), make)
}

fn call_arithmetic<'v>(
    function: &str,
    arguments: &[CelValue<'v>],
    steps: &StepBudget,
) -> Option<Outcome<'v>> {
    use CelValue::{Bytes, Double, Duration, Int, List, String, Timestamp, Uint};
    if let ("_/_" | "_%_", [_, Int(0) | Uint(0)]) = (function, arguments) {
        return Some(Err("a division by zero".to_owned()));
    }
    match (function, arguments) {
        ("-_", [Int(a)]) => check_range(a.checked_neg(), Int),
        ("-_", [Double(a)]) => Some(Ok(Double(-a))),
        ("_+_", [Int(a), Int(b)]) => check_range(a.checked_add(*b), Int),
        ("_-_", [Int(a), Int(b)]) => check_range(a.checked_sub(*b), Int),
        ("_*_", [Int(a), Int(b)]) => check_range(a.checked_mul(*b), Int),
        ("_/_", [Int(a), Int(b)]) => check_range(a.checked_div(*b), Int),
        ("_%_", [Int(a), Int(b)]) => check_range(a.checked_rem(*b), Int),
        ("_+_", [Uint(a), Uint(b)]) => check_range(a.checked_add(*b), Uint),
        ("_-_", [Uint(a), Uint(b)]) => check_range(a.checked_sub(*b), Uint),
        ("_*_", [Uint(a), Uint(b)]) => check_range(a.checked_mul(*b), Uint),
        ("_/_", [Uint(a), Uint(b)]) => check_range(a.checked_div(*b), Uint),
        ("_%_", [Uint(a), Uint(b)]) => check_range(a.checked_rem(*b), Uint),
        ("_+_", [Double(a), Double(b)]) => Some(Ok(Double(a + b))),
        ("_-_", [Double(a), Double(b)]) => Some(Ok(Double(a - b))),
        ("_*_", [Double(a), Double(b)]) => Some(Ok(Double(a * b))),
        ("_/_", [Double(a), Double(b)]) => Some(Ok(Double(a / b))),
        ("_+_", [Duration(a), Duration(b)]) => check_span(a + b, Duration),
        ("_-_", [Duration(a), Duration(b)]) => check_span(a - b, Duration),
        ("_+_", [Timestamp(a), Duration(b)] | [Duration(b), Timestamp(a)]) => {
            check_span(a + b, Timestamp)
        }
        ("_-_", [Timestamp(a), Duration(b)]) => check_span(a - b, Timestamp),
        ("_-_", [Timestamp(a), Timestamp(b)]) => check_span(a - b, Duration),
        ("_+_", [String(a), String(b)]) => {
            Some(take_steps(steps, a.len() + b.len()).map(|()| CelValue::text(format!("{a}{b}"))))
        }
        ("_+_", [Bytes(a), Bytes(b)]) => {
            let joined = || Bytes([&**a, &**b].concat().into());
            Some(take_steps(steps, a.len() + b.len()).map(|()| joined()))
        }
        ("_+_", [List(a), List(b)]) => {
            let joined = || List(a.iter().chain(b.iter()).cloned().collect());
            Some(steps.take(a.len() + b.len()).map(|()| joined()))
        }
        ("size", [String(text)]) => Some(Ok(Int(text.chars().count() as i64))),
        ("size", [Bytes(bytes)]) => Some(Ok(Int(bytes.len() as i64))),
        ("size", [List(items)]) => Some(Ok(Int(items.len() as i64))),
        ("size", [CelValue::Map(pairs)]) => Some(Ok(Int(pairs.len() as i64))),
        _ => None,
    }
}

/// Takes the steps that making so many bytes costs.
fn take_steps(steps: &StepBudget, bytes: usize) -> Result<(), String> {
    steps.take(bytes / 16)
}

/// Returns a scalar as the function `string` gives it.
pub(super) fn convert_to_text<'v>(value: &CelValue<'v>) -> Option<CelValue<'v>> {
    call_conversion("string", std::slice::from_ref(value))?.ok()
}

fn call_conversion<'v>(function: &str, arguments: &[CelValue<'v>]) -> Option<Outcome<'v>> {
    use CelValue::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let [value] = arguments else { return None };
    let whole = |value: f64, least: f64, most: f64| {
        Some(value.trunc()).filter(|it| *it > least && *it < most)
    };
    match (function, value) {
        ("dyn", value) => Some(Ok(value.clone())),
        ("bool", Bool(_))
        | ("bytes", Bytes(_))
        | ("double", Double(_))
        | ("duration", Duration(_))
        | ("int", Int(_))
        | ("string", String(_))
        | ("timestamp", Timestamp(_))
        | ("uint", Uint(_)) => Some(Ok(value.clone())),
        ("bool", String(text)) => match &**text {
            "1" | "t" | "true" | "T" | "TRUE" | "True" => Some(Ok(Bool(true))),
            "0" | "f" | "false" | "F" | "FALSE" | "False" => Some(Ok(Bool(false))),
            _ => Some(Err("a text is no bool".to_owned())),
        },
        ("bytes", String(text)) => Some(Ok(Bytes(text.as_bytes().into()))),
        ("double", Int(value)) => Some(Ok(Double(*value as f64))),
        ("double", Uint(value)) => Some(Ok(Double(*value as f64))),
        ("double", String(text)) => check_range(text.parse().ok(), Double),
        // Two to the power of 63 and of 64.
        ("int", Double(value)) => {
            let limit = 9_223_372_036_854_775_808.0;
            check_range(whole(*value, -limit, limit).map(|it| it as i64), Int)
        }
        ("uint", Double(value)) => {
            let limit = 18_446_744_073_709_551_616.0;
            check_range(whole(*value, -1.0, limit).map(|it| it as u64), Uint)
        }
        ("int", Uint(value)) => check_range(i64::try_from(*value).ok(), Int),
        ("uint", Int(value)) => check_range(u64::try_from(*value).ok(), Uint),
        ("int", String(text)) => check_range(text.parse().ok(), Int),
        ("uint", String(text)) => check_range(text.parse().ok(), Uint),
        ("int", Timestamp(nanos)) => check_range(nanos.div_euclid(NANOS).try_into().ok(), Int),
        ("int", Duration(nanos)) => check_range((nanos / NANOS).try_into().ok(), Int),
        ("string", Bool(value)) => Some(Ok(CelValue::text(value.to_string()))),
        ("string", Int(value)) => Some(Ok(CelValue::text(value.to_string()))),
        ("string", Uint(value)) => Some(Ok(CelValue::text(value.to_string()))),
        ("string", Bytes(bytes)) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => Ok(CelValue::text(text)),
            Err(_) => Err("bytes are no UTF-8".to_owned()),
        }),
        ("string", Duration(nanos)) => Some(Ok(CelValue::text(format_seconds(*nanos)))),
        ("duration", String(text)) => Some(match parse_duration(text) {
            Some(nanos) => Ok(Duration(nanos)),
            None => Err("a text is no duration".to_owned()),
        }),
        ("timestamp", Int(value)) => check_span(i128::from(*value) * NANOS, Timestamp),
        ("timestamp", String(text)) => Some(match text.parse::<jiff::Timestamp>() {
            Ok(time) => Ok(Timestamp(time.as_nanosecond())),
            Err(_) => Err("a text is no timestamp".to_owned()),
        }),
        ("string", Timestamp(nanos)) => Some(match jiff::Timestamp::from_nanosecond(*nanos) {
            Ok(time) => Ok(CelValue::text(time.to_string())),
            Err(_) => Err("a timestamp is out of range".to_owned()),
        }),
        _ => None,
    }
}

/// Nanoseconds as seconds with as many digits as it takes.
fn format_seconds(nanos: i128) -> String {
    let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let (whole, part) = (size / NANOS as u128, format!("{:09}", size % NANOS as u128));
    match part.trim_end_matches('0') {
        "" => format!("{sign}{whole}s"),
        part => format!("{sign}{whole}.{part}s"),
    }
}

/// The nanoseconds of a text such as `1h30m` or `-1.5s`.
fn parse_duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, unit) = rest.split_at(end);
        let length = unit.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(unit.len());
        let (unit, after) = unit.split_at(length);
        let scale: i128 = match unit {
            "h" => 3_600 * NANOS,
            "m" => 60 * NANOS,
            "s" => NANOS,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() || whole.len() > 18 || part.len() > 18 {
            return None;
        }
        let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
        total += digits(whole)? * scale + digits(part)? * scale / 10_i128.pow(part.len() as u32);
        rest = after;
    }
    Some(sign * total).filter(|it| !text.is_empty() && it.abs() <= MAX_NANOS)
}

fn call_text<'v>(
    function: &str,
    arguments: &[CelValue<'v>],
    steps: &StepBudget,
) -> Option<Outcome<'v>> {
    use CelValue::{Bool, Bytes, Int, List, String};
    // Texts are counted in characters.
    let whole = |text: &str| text.chars().count() as i64;
    let byte_at = |text: &str, at: i64| {
        let at = usize::try_from(at).ok()?;
        text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(at)
    };
    let out_of_range = || Err("an index is out of range".to_owned());
    let found = match (function, arguments) {
        ("contains", [String(a), String(b)]) => Ok(Bool(a.contains(&**b))),
        ("startsWith", [String(a), String(b)]) => Ok(Bool(a.starts_with(&**b))),
        ("endsWith", [String(a), String(b)]) => Ok(Bool(a.ends_with(&**b))),
        ("contains", [Bytes(a), Bytes(b)]) => {
            Ok(Bool(b.is_empty() || a.windows(b.len()).any(|it| it == &**b)))
        }
        ("startsWith", [Bytes(a), Bytes(b)]) => Ok(Bool(a.starts_with(b))),
        ("endsWith", [Bytes(a), Bytes(b)]) => Ok(Bool(a.ends_with(b))),
        ("lowerAscii", [String(text)]) => Ok(CelValue::text(text.to_ascii_lowercase())),
        ("upperAscii", [String(text)]) => Ok(CelValue::text(text.to_ascii_uppercase())),
        ("trim", [String(text)]) => Ok(CelValue::text(text.trim())),
        ("reverse", [String(text)]) => {
            Ok(CelValue::text(text.chars().rev().collect::<std::string::String>()))
        }
        ("charAt", [String(text), Int(at)]) => match byte_at(text, *at) {
            Some(byte) => {
                let letter = text[byte..].chars().next();
                Ok(CelValue::text(letter.map(|it| it.to_string()).unwrap_or_default()))
            }
            None => out_of_range(),
        },
        ("substring", [String(text), Int(from)]) => match byte_at(text, *from) {
            Some(from) => Ok(CelValue::text(&text[from..])),
            None => out_of_range(),
        },
        ("substring", [String(text), Int(from), Int(to)]) => {
            match (byte_at(text, *from), byte_at(text, *to)) {
                (Some(from), Some(to)) if from <= to => Ok(CelValue::text(&text[from..to])),
                _ => out_of_range(),
            }
        }
        ("indexOf", [String(text), String(part), rest @ ..]) => {
            let from = match rest {
                [Int(from)] => byte_at(text, *from),
                _ => Some(0),
            };
            let Some(from) = from else { return Some(out_of_range()) };
            let at = text[from..].find(&**part);
            Ok(Int(at.map_or(-1, |at| whole(&text[..from + at]))))
        }
        ("lastIndexOf", [String(text), String(part), rest @ ..]) => {
            let most = match rest {
                [Int(most)] => byte_at(text, *most),
                _ => Some(text.len()),
            };
            let Some(most) = most else { return Some(out_of_range()) };
            let end = (most + part.len()).min(text.len());
            let at = text.get(..end).and_then(|it| it.rfind(&**part));
            Ok(Int(at.map_or(-1, |at| whole(&text[..at]))))
        }
        ("format", [String(text), List(items)]) => format_text(text, items, steps),
        ("join", [List(items), rest @ ..]) => {
            let between = match rest {
                [String(between)] => &**between,
                _ => "",
            };
            let texts = items.iter().map(|it| match it {
                String(text) => Some(&**text),
                _ => None,
            });
            let texts = texts.collect::<Option<Vec<&str>>>()?;
            let length = texts.iter().map(|it| it.len() + between.len()).sum();
            take_steps(steps, length).map(|()| CelValue::text(texts.join(between)))
        }
        ("split", [String(text), String(between), rest @ ..]) => {
            let most = match rest {
                [Int(most)] if *most >= 0 => *most as usize,
                _ => usize::MAX,
            };
            let letters: Vec<&str>;
            let parts: Vec<&str> = match (most, between.is_empty()) {
                (0, _) => Vec::new(),
                (_, false) => text.splitn(most, &**between).collect(),
                (_, true) => {
                    letters = text.split("").collect();
                    let all = letters.get(1..letters.len().max(2) - 1).unwrap_or_default();
                    if all.len() > most {
                        return None;
                    }
                    all.to_vec()
                }
            };
            steps.take(parts.len()).map(|()| List(parts.into_iter().map(CelValue::text).collect()))
        }
        ("strings.quote", [String(text)]) => take_steps(steps, text.len()).map(|()| {
            CelValue::text(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
        }),
        ("replace", [String(text), String(old), String(new), rest @ ..]) => {
            let most = match rest {
                [Int(most)] if *most >= 0 => *most as usize,
                _ => usize::MAX,
            };
            let count = text.matches(&**old).count().min(most);
            let replaced = || CelValue::text(text.replacen(&**old, new, most));
            take_steps(steps, text.len() + count.saturating_mul(new.len())).map(|()| replaced())
        }
        _ => return None,
    };
    Some(found)
}

/// The parts of timestamps and durations.
fn call_time<'v>(function: &str, arguments: &[CelValue<'v>]) -> Option<Outcome<'v>> {
    let (nanos, zone) = match arguments {
        [CelValue::Duration(nanos)] => {
            let per = match function {
                "getHours" => 3_600 * NANOS,
                "getMinutes" => 60 * NANOS,
                "getSeconds" => NANOS,
                "getMilliseconds" => {
                    return Some(Ok(CelValue::Int((nanos % NANOS / 1_000_000) as i64)));
                }
                _ => return None,
            };
            return Some(Ok(CelValue::Int((nanos / per) as i64)));
        }
        [CelValue::Timestamp(nanos)] => (*nanos, TimeZone::UTC),
        [CelValue::Timestamp(nanos), CelValue::String(zone)] => (*nanos, parse_fixed_zone(zone)?),
        _ => return None,
    };
    let time = Timestamp::from_nanosecond(nanos).ok()?.to_zoned(zone);
    let (date, clock) = (time.date(), time.time());
    let part: i64 = match function {
        "getFullYear" => date.year().into(),
        "getMonth" => i64::from(date.month()) - 1,
        "getDate" => date.day().into(),
        "getDayOfMonth" => i64::from(date.day()) - 1,
        "getDayOfWeek" => date.weekday().to_sunday_zero_offset().into(),
        "getDayOfYear" => i64::from(date.day_of_year()) - 1,
        "getHours" => clock.hour().into(),
        "getMinutes" => clock.minute().into(),
        "getSeconds" => clock.second().into(),
        "getMilliseconds" => clock.millisecond().into(),
        _ => return None,
    };
    Some(Ok(CelValue::Int(part)))
}

/// A zone that is written as its distance from UTC. The rules of named ones are not known here.
fn parse_fixed_zone(text: &str) -> Option<TimeZone> {
    if text == "UTC" {
        return Some(TimeZone::UTC);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let offset = Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()?;
    (hours >= 0 && minutes >= 0).then(|| offset.to_time_zone())
}
